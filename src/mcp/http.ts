import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { HttpRequest, Reply } from "../http/http.js";
import { createServer, type ServerOptions } from "./server.js";

/** Responds to one message of Streamable HTTP. Nothing is kept between two requests, and nothing is streamed. */
export async function respond(
  { method, path, headers, json }: Pick<HttpRequest, "method" | "path" | "headers" | "json">,
  options: ServerOptions,
): Promise<Reply> {
  // A batch would be many calls for the cost of one message. The newest revisions of the protocol have none.
  if (Array.isArray(json)) return refused("Batches are not supported: send one message per request.");
  // The response repeats the id, and half a character would make it a document that strict clients refuse.
  if (!hasWellFormedId(json)) return refused("The id contains half a character.");
  const request = new Request(new URL(path, "http://localhost"), {
    method,
    headers: [
      // Every response is one JSON object, whatever else a client would accept.
      ["accept", "application/json, text/event-stream"],
      ...Object.entries(headers).flatMap(([name, value]): [string, string][] =>
        PASSED.has(name) && typeof value === "string" ? [[name, value]] : [],
      ),
    ],
  });
  const parsed = { parsedBody: json };
  if (!(await isLegacyRequest(request, json))) {
    const handler = createMcpHandler(() => createServer(options), { legacy: "reject", maxSubscriptions: 0 });
    return replyOf(await handler.fetch(request, parsed));
  }
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = createServer(options);
  await server.connect(transport);
  try {
    return await replyOf(await transport.handleRequest(request, parsed));
  } finally {
    await server.close();
  }
}

function hasWellFormedId(json: unknown): boolean {
  if (typeof json !== "object" || json === null || !("id" in json)) return true;
  return typeof json.id !== "string" || json.id.isWellFormed();
}

/** The headers that the protocol reads. */
const PASSED: ReadonlySet<string> = new Set([
  "content-type",
  "mcp-protocol-version",
  "mcp-method",
  "mcp-name",
]);

async function replyOf(response: Response): Promise<Reply> {
  const type = response.headers.get("content-type");
  const body = await response.text();
  return {
    status: response.status,
    headers: type === null ? {} : { "Content-Type": type },
    body: body === "" ? null : body,
  };
}

function refused(message: string): Reply {
  const body = { jsonrpc: "2.0", id: null, error: { code: -32_600, message } };
  return { status: 400, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
}
