/** `sidereal mcp --url`: the tools of a service, for programs that speak on standard input and output. */
import { createInterface } from "node:readline";
import { errorCode } from "../lib/errors.js";
import { isPrivateHost } from "../lib/host-names.js";
import { z } from "../lib/schema.js";
import type { Streams } from "./server.js";

const TIMEOUT_MS = 30_000;

interface RemoteOptions {
  /** Address of the service, without a slash at its end; it may have a path. */
  url: string;
  apiKey: string | undefined;
}

/** Why a service cannot be used over the network; undefined: it can. */
export function remoteProblem({ url, apiKey }: RemoteOptions): string | undefined {
  const address = URL.parse(url);
  if (address === null || !/^https?:$/.test(address.protocol)) return "must be an http or https address";
  if (address.username + address.password + address.search + address.hash !== "")
    return "must be an address without credentials, query and fragment";
  if (apiKey !== undefined && address.protocol === "http:" && !isPrivateHost(address.hostname))
    return "must begin with https, as an API key is sent there";
  return undefined;
}

const messageSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z
    .looseObject({
      name: z.string().optional(),
      _meta: z.looseObject({ "io.modelcontextprotocol/protocolVersion": z.string().optional() }).optional(),
    })
    .optional(),
});
type Message = z.output<typeof messageSchema>;

const replySchema = z.looseObject({
  jsonrpc: z.string(),
  result: z.looseObject({ protocolVersion: z.string().optional() }).optional(),
});
const errorSchema = z.object({ error: z.object({ code: z.string(), message: z.string() }) });

/** Passes messages, one a line, on to the `/mcp` of a service, and its responses back, until the input ends or `signal` is aborted. */
export async function proxyStreams(
  { input, output }: Streams,
  remote: RemoteOptions,
  signal: AbortSignal,
): Promise<void> {
  let version: string | undefined;
  const pass = async (line: string): Promise<void> => {
    const message = messageSchema.safeParse(parsed(line)).data;
    if (message === undefined) return;
    version = message.params?._meta?.["io.modelcontextprotocol/protocolVersion"] ?? version;
    const reply = await send(message, { ...remote, version, signal });
    if (message.method === "initialize") version = reply?.result?.protocolVersion;
    if (reply !== undefined && message.id !== undefined) output.write(`${JSON.stringify(reply)}\n`);
  };
  const passing = new Set<Promise<void>>();
  const lines = createInterface({ input, signal });
  lines.on("line", (line) => {
    const one = pass(line).finally(() => passing.delete(one));
    passing.add(one);
  });
  await new Promise<void>((resolve) => lines.once("close", resolve));
  await Promise.all(passing);
}

/** The response to a message, a failure if the service does not respond; undefined for a message that needs none. */
async function send(
  message: Message,
  { url, apiKey, version, signal }: RemoteOptions & { version: string | undefined; signal: AbortSignal },
): Promise<z.output<typeof replySchema> | undefined> {
  const { method, params } = message;
  try {
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "User-Agent": "sidereal-mcp",
        "Mcp-Method": method,
        ...(params?.name === undefined ? {} : { "Mcp-Name": params.name }),
        ...(version === undefined ? {} : { "MCP-Protocol-Version": version }),
        ...(apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(message),
    });
    const { status, headers, ok } = response;
    const text = await response.text();
    if (ok && text === "") return undefined;
    const body = parsed(text);
    const reply = replySchema.safeParse(body).data;
    if (reply !== undefined) return reply;
    const error = errorSchema.safeParse(body).data?.error;
    const { code, message: reason } = error ?? {
      code: `HTTP_${status}`,
      message: `The service at ${url} has no tools here.`,
    };
    const wait = headers.get("retry-after");
    return failure(
      message,
      `${code}: ${reason}${wait === null ? "" : ` Try again in ${wait} seconds, not earlier.`}`,
    );
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = errorCode(cause) ?? "it took too long";
    return failure(message, `UNAVAILABLE: The service at ${url} did not respond: ${reason}.`);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A failure in the form that the sender of a message reads; of a tool, as a result for the model. */
function failure({ id, method }: Message, text: string): z.output<typeof replySchema> {
  return method === "tools/call"
    ? { jsonrpc: "2.0", id, result: { isError: true, content: [{ type: "text", text }] } }
    : { jsonrpc: "2.0", id, error: { code: -32_000, message: text } };
}
