/**
 * The Model Context Protocol: tools for language models, at `/mcp` and over stdio. A tool does the work of an operation of the API, with
 * its parameters, its limits and its views. This module owns the tools, their texts and the protocol; the API owns the data.
 */
import type { ApiServices } from "../api/api.js";
import { type ChargedAs, DEFAULT_LIMIT, quotaOf, type Route } from "../http/http.js";
import type { Logger } from "../lib/log.js";
import type { ServerOptions, Streams } from "./server.js";

export { proxyStreams, remoteProblem } from "./proxy.js";

type Services = Pick<ApiServices, "modules" | "config" | "clock">;

/**
 * The route of Streamable HTTP. A message costs one unit, and a tool call the cost of its operation instead. The protocol is loaded by
 * the first request, as few services need it.
 */
export function mcpRoute(services: Services, log: Logger): Route {
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
      const chargedAs: ChargedAs = (use, work) =>
        request.chargedAs(use, () => {
          // A call that was refused cost nothing, so the message keeps its price.
          isPaid = true;
          return work();
        });
      const adding = quotaOf(request.caller, services.config.watchlistQuota);
      const onFault = (err: unknown) => log.error({ err, requestId: request.id }, "a tool failed");
      const reply = await respond(request, { services, chargedAs, adding, canWrite: true, onFault });
      return isPaid ? { ...reply, units: 0 } : reply;
    },
  };
}

/** Serves the tools that only read to one client on two streams, without limits, until the input ends or `signal` is aborted. */
export async function serveStdio(
  streams: Streams,
  { services, onFault }: { services: Services; onFault: ServerOptions["onFault"] },
  signal: AbortSignal,
): Promise<void> {
  const { serveStreams } = await import("./server.js");
  const chargedAs: ChargedAs = (_, work) => work();
  await serveStreams(streams, { services, chargedAs, adding: undefined, canWrite: false, onFault }, signal);
}
