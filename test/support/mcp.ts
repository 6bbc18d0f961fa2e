import assert from "node:assert/strict";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { World } from "./world.js";

/** The protocol as most clients speak it, and its newest revision, in which every request stands alone. */
export const ERAS = ["legacy", "auto"] as const;
export type Era = (typeof ERAS)[number];

export interface Connecting {
  peer?: string;
  headers?: Record<string, string>;
  era?: Era;
}

/** A client of the official SDK, connected to the `/mcp` of a world from an address. */
export async function connectMcp(
  world: World,
  { peer = "192.0.2.1", headers = {}, era = "legacy" }: Connecting = {},
): Promise<Client> {
  const client = newClient(era);
  const transport = new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), {
    requestInit: { headers },
    fetch: async (url, init) => world.request(new URL(url).pathname, { ...init, peer }),
  });
  await client.connect(transport);
  return client;
}

export function newClient(era: Era): Client {
  const options: ClientOptions = { versionNegotiation: { mode: era } };
  return new Client({ name: "test", version: "1.0.0" }, options);
}

/** What a tool returned. The client has checked `data` against the schema of the tool. */
export interface Called {
  isError: boolean;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data whose shape the schema already proves.
  data: any;
  error: { code: string; retryAfterSeconds?: number } | undefined;
}

/** Calls a tool. */
export async function call(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Called> {
  const {
    content,
    structuredContent,
    isError = false,
    _meta,
  } = await client.callTool({
    name,
    arguments: args,
  });
  const [only, ...others] = content;
  assert.ok(only?.type === "text" && others.length === 0);
  const error = _meta?.["sidereal/error"];
  return { isError, text: only.text, data: structuredContent, error: error as Called["error"] };
}

/** A message of JSON-RPC as a request to `/mcp`. */
export function message(body: unknown, headers: Record<string, string> = {}): RequestInit {
  return {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  };
}

export const PING = { jsonrpc: "2.0", id: 1, method: "ping" };
