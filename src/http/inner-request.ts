/** Requests that a handler sends to another route for its own sender: as messages in, and as replies out. */
import type { IncomingMessage } from "node:http";
import type { Exchange } from "./exchange.js";
import type { InnerReply, InnerRequest, Sender } from "./request.js";
import type { Message } from "./request-head.js";
import type { StoredResponse } from "./stored-response.js";

/** The sender of an exchange. */
export function senderOf({ caller, address, keyId, message }: Exchange): Sender {
  const { headers, socket } = message;
  return { caller, address, keyId, userAgent: headers["user-agent"], isGone: () => socket.destroyed };
}

/** An inner request as a message. It names no host, carries no cookie and comes from no page. */
export function innerMessage(
  { userAgent, isGone }: Sender,
  { method, url }: InnerRequest,
  basePath: string,
): Message {
  const headers: IncomingMessage["headers"] = userAgent === undefined ? {} : { "user-agent": userAgent };
  const socket = {
    remoteAddress: undefined,
    get destroyed() {
      return isGone();
    },
  };
  const target = basePath + url;
  return { method, url: target, httpVersion: "1.0", headers, headersDistinct: {}, rawHeaders: [], socket };
}

/** A response as the handler reads it. Throws for a stream, which has no end to wait for. */
export function innerReply({ status, headers, body, stream }: StoredResponse, basePath: string): InnerReply {
  if (stream !== undefined) {
    stream.destroy();
    throw new Error("a stream cannot be read by another route");
  }
  const header = (name: string): string | undefined => {
    const at = headers.findIndex((one, i) => i % 2 === 0 && one === name);
    return at === -1 ? undefined : headers[at + 1];
  };
  const location = header("Location");
  const wait = Number(header("Retry-After") ?? Number.NaN);
  return {
    status,
    location: location?.startsWith(`${basePath}/`) ? location.slice(basePath.length) : undefined,
    retryAfterSeconds: Number.isNaN(wait) ? undefined : wait,
    body: body.toString("utf8"),
  };
}
