import type { IncomingMessage, ServerResponse } from "node:http";
import { constants, gzipSync } from "node:zlib";
import type { ForgeRequest, ForgeResponse } from "./responses.js";

/** Writes a response in an unusual way. `signal` is aborted when the forge closes. */
export type Deliver = (outgoing: ServerResponse, body: Buffer, signal: AbortSignal) => void;

/** Reads a complete request. */
export async function readRequest(
  incoming: IncomingMessage,
  kindOf: (path: string) => string,
): Promise<ForgeRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
  const url = new URL(`http://forge${incoming.url ?? "/"}`);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  return {
    method: incoming.method ?? "GET",
    path: url.pathname,
    query: url.searchParams,
    headers,
    token: tokenOf(headers),
    body: Buffer.concat(chunks).toString(),
    kind: kindOf(url.pathname),
  };
}

/** Whether the request's `Host` is another name than the forge's. */
export function hasOtherHost({ headers }: ForgeRequest, url: string): boolean {
  return headers.host !== new URL(url).host;
}

function tokenOf(headers: Readonly<Record<string, string>>): string | null {
  const [, token] = /^(?:bearer|token)\s+(\S+)$/i.exec(headers.authorization ?? "") ?? [];
  return token ?? headers["private-token"] ?? null;
}

/** Sends a response, compressed if the client accepts that and it is worthwhile. */
export function send(
  outgoing: ServerResponse,
  request: ForgeRequest,
  response: ForgeResponse,
  options: { deliver?: Deliver | undefined; signal: AbortSignal },
): void {
  const accepted = /\bgzip\b/.test(request.headers["accept-encoding"] ?? "");
  let body = response.bytes ?? Buffer.from(response.body);
  const headers = { ...response.headers };
  if (accepted && options.deliver === undefined && body.length > 1_000) {
    body = gzipSync(body, { level: constants.Z_BEST_SPEED });
    headers["content-encoding"] = "gzip";
  }
  outgoing.sendDate = false;
  outgoing.on("error", () => outgoing.destroy());
  outgoing.writeHead(response.status, headers);
  if (options.deliver !== undefined) {
    outgoing.flushHeaders();
    options.deliver(outgoing, body, options.signal);
  } else if (response.status === 304 || request.method === "HEAD") outgoing.end();
  else outgoing.end(body);
}
