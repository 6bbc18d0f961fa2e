import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ConfigError } from "../config/config.js";
import { AppError, errorCode } from "../lib/errors.js";
import { type ConnectionOptions, Connections } from "./connections.js";
import { jsonError } from "./error-response.js";
import { completeHeaders, type PublicAddress, publicAddressOf, requestId } from "./headers.js";
import { bytesOf } from "./reply.js";

/** Time limits of requests; slow ones are looked for every two seconds. `timeout`: without a byte in either direction. */
const TIMEOUTS = {
  timeout: 60_000,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 5_000,
  // On top of what the Keep-Alive header says, so that clients close first.
  keepAliveTimeoutBuffer: 1_000,
};

const MAX_HEADER = 16 * 1024;
/** Lines of a head: several times what browsers send, and proxies add. */
const MAX_HEADER_LINES = 100;

const SERVER_OPTIONS = {
  maxHeaderSize: MAX_HEADER,
  noDelay: true,
  // A request without a body is no stream then, which saves about a tenth of its time.
  optimizeEmptyRequests: true,
  // The front checks it, to respond in the usual form.
  requireHostHeader: false,
};

/** A server for the front, without a port yet. */
export interface HttpServer {
  server: Server;
  /** Closes the port, then each connection after its last response; destroys what is left after `patienceMs`. */
  close(patienceMs: number): Promise<void>;
  connections(): number;
  /** Connections that were reset since the start, as there were too many. */
  refusedConnections(): number;
}

interface HttpServerOptions extends ConnectionOptions {
  /** Public address of the service. */
  baseUrl: string;
  /** Others than usual, for tests. */
  timeouts?: Partial<typeof TIMEOUTS>;
}

export function createHttpServer(listener: RequestListener, options: HttpServerOptions): HttpServer {
  const { timeouts, baseUrl } = options;
  const address = publicAddressOf(baseUrl);
  const connections = new Connections(listener, options);
  const times = { ...TIMEOUTS, ...timeouts };
  const server = createServer({ ...SERVER_OPTIONS, ...times }, (message, response) =>
    connections.receive(message, response),
  );
  server.timeout = times.timeout;
  server.maxHeadersCount = MAX_HEADER_LINES;
  connections.follow(server);
  server.on("checkExpectation", (_, response) => refuseExpectation(response, address));
  server.on("clientError", (error, socket) => {
    // A client would take it for the response to its earlier request.
    if (socket instanceof Socket && connections.isResponding(socket)) socket.destroy();
    else refuseUnparsed(error, socket, address);
  });
  return {
    server,
    close: (patienceMs) => connections.close(server, patienceMs),
    connections: () => connections.open,
    refusedConnections: () => connections.refused,
  };
}

const LATE = "ERR_HTTP_REQUEST_TIMEOUT";

/** Requests that Node's parser refuses, by its error code: the status line, and the error. Everything else is malformed. */
const UNPARSED: Readonly<Record<string, readonly [string, AppError]>> = {
  HPE_HEADER_OVERFLOW: [
    "431 Request Header Fields Too Large",
    new AppError(
      "HEADER_TOO_LARGE",
      `The request line and headers must be at most ${MAX_HEADER} bytes, and at most ${MAX_HEADER_LINES} lines.`,
    ),
  ],
  HPE_INVALID_URL: [
    "400 Bad Request",
    new AppError(
      "INVALID_REQUEST",
      "The address has a character that must be percent-encoded, such as %E6%97%A5 for 日.",
    ),
  ],
  HPE_INVALID_METHOD: [
    "400 Bad Request",
    new AppError("INVALID_REQUEST", "The request is malformed, or its method is not known."),
  ],
  [LATE]: ["408 Request Timeout", new AppError("INVALID_REQUEST", "The request took too long to arrive.")],
};
const MALFORMED = ["400 Bad Request", new AppError("INVALID_REQUEST", "The request is malformed.")] as const;

const NO_ROUTE = { access: "public", cache: { kind: "none" }, form: "file" } as const;

/** Responds to a request that expects what we do not know (RFC 9110, 10.1.1), and closes the connection. */
function refuseExpectation(response: ServerResponse, address: PublicAddress): void {
  const headers = completeHeaders({ status: 417, headers: {}, body: null }, NO_ROUTE, address);
  response
    .writeHead(417, { ...headers, "X-Request-Id": requestId(), "Content-Length": "0", Connection: "close" })
    .end();
}

/** Responds to what is not even a request, in the same form as all errors, and closes the connection. */
function refuseUnparsed(error: Error & { code?: string }, socket: Duplex, address: PublicAddress): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const [status, fault] = UNPARSED[error.code ?? ""] ?? MALFORMED;
  const id = requestId();
  const reply = jsonError(fault, id);
  const body = bytesOf(reply.body);
  const headers = {
    ...completeHeaders(reply, NO_ROUTE, address),
    "X-Request-Id": id,
    "Content-Length": String(body.byteLength),
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
  socket.end(Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${lines.join("")}\r\n`), body]), () => {
    // Node looks for a late request once, so that one that is still arriving would keep the connection.
    if (error.code === LATE) socket.destroy();
  });
}

/** Opens the port, and returns it. With `reusePort` other processes may open the same one, and the system gives each connection to one of them. */
export async function listen(
  server: Server,
  { port, host, reusePort }: { port: number; host: string; reusePort: boolean },
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, reusePort }, resolve);
  }).catch((error: unknown) => {
    if (!reusePort || errorCode(error) !== "ENOTSUP") throw error;
    throw new ConfigError([
      "SIDEREAL_REUSE_PORT: must be false, as processes cannot share a port on this system",
    ]);
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : port;
}
