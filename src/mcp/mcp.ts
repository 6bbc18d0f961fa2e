/**
 * The Model Context Protocol: tools for language models over the HTTP API, at `/mcp` and over stdio. A tool call is a request to the
 * API by the same caller, with the limits, the cache and the errors of the API. This module owns the tools, their texts and the
 * protocol; the API owns the data.
 */
import { type Ask, DEFAULT_LIMIT, type Route } from "../http/http.js";
import type { Logger } from "../lib/log.js";
import type { ServerOptions, Streams } from "./server.js";

export { remoteAsk, remoteProblem } from "./remote.js";

/**
 * The route of Streamable HTTP. A message costs one unit, and a tool call what its requests to the API cost instead. The protocol is
 * loaded by the first request, as few services need it.
 */
export function mcpRoute({ baseUrl, log }: { baseUrl: string; log: Logger }): Route {
  return {
    method: "POST",
    path: "/mcp",
    access: "public",
    limit: DEFAULT_LIMIT,
    cache: { kind: "none" },
    query: [],
    body: "json",
    form: "json",
    handle: async (request) => {
      const { respond } = await import("./server.js");
      let isPaid = false;
      const ask: Ask = async (inner) => {
        const reply = await request.ask(inner);
        // A refused request cost nothing, so the message keeps its price.
        isPaid ||= reply.status !== 429;
        return reply;
      };
      const onFault = (err: unknown) => log.error({ err, requestId: request.id }, "a tool failed");
      const reply = await respond(request, { ask, baseUrl, canWrite: true, onFault });
      return isPaid ? { ...reply, units: 0 } : reply;
    },
  };
}

/** Serves one client on two streams until the input ends or `signal` is aborted. Nothing else may write to the output. */
export async function serveStdio(
  streams: Streams,
  options: ServerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { serveStreams } = await import("./server.js");
  await serveStreams(streams, options, signal);
}
