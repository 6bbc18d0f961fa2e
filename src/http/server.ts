import { createServer, type RequestListener, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { AppError } from "../errors.js";
import { jsonError } from "./error-response.js";
import { completeHeaders, type PublicAddress, publicAddressOf } from "./headers.js";
import { bytesOf } from "./reply.js";
import { requestIds } from "./request.js";

/** Time limits and bounds of connections; slow ones are looked for every two seconds. */
const SERVER_OPTIONS = {
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 5_000,
  maxHeaderSize: 16 * 1024,
  noDelay: true,
  // A request without a body is no stream then, which saves about a tenth of its time.
  optimizeEmptyRequests: true,
  // The front checks it, to respond in the usual form.
  requireHostHeader: false,
};

/** A Node server for the front, without a port yet. */
export function createHttpServer(listener: RequestListener, baseUrl: string): Server {
  const server = createServer(SERVER_OPTIONS, listener);
  const address = publicAddressOf(baseUrl);
  server.on("clientError", (error, socket) => refuseUnparsed(error, socket, address));
  return server;
}

/** Requests that Node's parser refuses, by its error code: the status line, and the message. Everything else is malformed. */
const UNPARSED: Readonly<Record<string, readonly [string, string]>> = {
  HPE_HEADER_OVERFLOW: ["431 Request Header Fields Too Large", "The request header is too large."],
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request took too long to arrive."],
};

const nextId = requestIds();

/** Responds to what is not even a request, in the same form as all errors, and closes the connection. */
function refuseUnparsed(error: Error & { code?: string }, socket: Duplex, address: PublicAddress): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const [status, message] = UNPARSED[error.code ?? ""] ?? ["400 Bad Request", "The request is malformed."];
  const requestId = nextId();
  const reply = jsonError(new AppError("INVALID_REQUEST", message), requestId, undefined);
  const body = bytesOf(reply.body);
  const headers = {
    ...completeHeaders(reply, { access: "public", cache: { kind: "none" }, form: "file" }, address),
    "X-Request-Id": requestId,
    "Content-Length": String(body.byteLength),
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${lines.join("")}\r\n`), body]));
}
