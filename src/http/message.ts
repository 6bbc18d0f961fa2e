import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** What is known of a request before its body is read. */
export interface Message
  extends Pick<
    IncomingMessage,
    "method" | "url" | "httpVersion" | "headers" | "headersDistinct" | "rawHeaders"
  > {
  socket: Pick<Socket, "remoteAddress" | "destroyed">;
}
