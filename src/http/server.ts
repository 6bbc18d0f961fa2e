import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { Server as NetServer, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { z } from "zod";
import { ConfigError } from "../config/config.js";
import { type Database, type Db, readDocument, writeDocument } from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import { CountedLog } from "../lib/counted-log.js";
import { AppError, errorCode } from "../lib/errors.js";
import { isLoopbackHost, isPrivateHost } from "../lib/host-names.js";
import type { Logger } from "../lib/log.js";
import { inQuietTurn, noteAccepted } from "../lib/loop-turns.js";
import { type Callers, networkOf } from "./caller.js";
import { jsonError } from "./errors.js";
import { NETWORK_FACTOR } from "./limiter.js";
import { hasProxyHeader, type Message, peerOf } from "./message.js";
import { completeHeaders, publicAddressOf, requestId } from "./response.js";
import { bytesOf, type PublicAddress } from "./route.js";

/** Time limits of requests; slow ones are looked for every two seconds. `timeout`: without a byte in either direction. */
const TIMEOUTS = {
  timeout: 60_000,
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  connectionsCheckingInterval: 2_000,
  keepAliveTimeout: 5_000,
  // On top of the time in the Keep-Alive header, so that clients close first.
  keepAliveTimeoutBuffer: 1_000,
};

const MAX_HEADER = 16 * 1024;
/** Lines of a head: several times as many as browsers send and proxies add. */
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
  /** Closes the port, then each connection after its last response; destroys the remaining ones after `patienceMs`. */
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

/** Responds to a request with an unknown expectation (RFC 9110, 10.1.1), and closes the connection. */
function refuseExpectation(response: ServerResponse, address: PublicAddress): void {
  const headers = completeHeaders({ status: 417, headers: {}, body: null }, NO_ROUTE, address);
  response
    .writeHead(417, { ...headers, "X-Request-Id": requestId(), "Content-Length": "0", Connection: "close" })
    .end();
}

/** Responds to bytes that are no request, in the same form as all errors, and closes the connection. */
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

/** Connections of all addresses together. */
const MAX_CONNECTIONS = 10_000;
/** Connections of one address that is not a trusted proxy. */
const MAX_PER_ADDRESS = 256;
/** When the service stops: time in which clients may still send requests on connections that are open. */
const LINGER_MS = 500;
const LOOK_MS = 50;

export interface ConnectionOptions {
  /** Whether an address may have a bounded number of connections. */
  isLimited: boolean;
  /** Another bound, for tests. */
  perAddress?: number;
  callers: Callers;
  clock: Clock;
  log: Logger;
}

/** The open connections of a server: a bounded number of each address, closed without cutting a response short. */
export class Connections {
  readonly #options: ConnectionOptions;
  readonly #listener: RequestListener;
  /** With the responses that are not complete yet. */
  readonly #open = new Map<Socket, Set<ServerResponse>>();
  /** Connections by address, and on IPv6 by its wider network. */
  readonly #counts = new Map<string, number>();
  readonly #refused: CountedLog;
  #isClosing = false;
  /** Connections that were reset since the start, as there were too many. */
  refused = 0;

  constructor(listener: RequestListener, options: ConnectionOptions) {
    this.#listener = listener;
    this.#options = options;
    this.#refused = new CountedLog(options.clock, (refused) =>
      options.log.warn({ refused, open: this.#open.size }, "connections were refused"),
    );
  }

  /** Follows the connections of a server that has no port yet. `receive` must get its requests. */
  follow(server: Server): void {
    server.maxConnections = MAX_CONNECTIONS;
    server.on("connection", (socket) => this.#accept(socket));
    server.on("drop", () => this.#noteRefused());
  }

  receive(message: IncomingMessage, response: ServerResponse): void {
    const { socket } = message;
    // The last response is sent: this came behind a body that nobody read.
    if (socket.writableEnded) {
      socket.destroy();
      return;
    }
    if (this.#isClosing) response.shouldKeepAlive = false;
    this.#listener(message, response);
    if (response.writableEnded && response.socket !== null) return;
    const pending = this.#open.get(socket);
    pending?.add(response);
    response.once("close", () => pending?.delete(response));
  }

  /** Whether a request that is fully received, other than the one being refused, still gets its response on this connection. */
  isResponding(socket: Socket): boolean {
    return [...(this.#open.get(socket) ?? [])].some(({ req }) => req.complete);
  }

  /**
   * Closes the port, then all connections: each after the response to its last request, and those without a request after a
   * moment, since one may be on its way. Whatever is left is destroyed after `patienceMs`.
   */
  async close(server: Server, patienceMs: number): Promise<void> {
    this.#isClosing = true;
    // Closing the port resets connections that the system has established and that are not accepted yet: one in each turn.
    await new Promise<void>((resolve) => inQuietTurn(resolve));
    // Not Server.close of http: it destroys connections whose last response is not sent yet.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    for (const pending of this.#open.values()) {
      const last = [...pending].at(-1);
      if (last !== undefined && !last.headersSent) last.shouldKeepAlive = false;
    }
    let waitedMs = 0;
    const looking = setInterval(() => {
      waitedMs += LOOK_MS;
      if (waitedMs < LINGER_MS) return;
      for (const [socket, pending] of this.#open)
        if (waitedMs >= patienceMs || (pending.size === 0 && socket.writableLength === 0)) socket.destroy();
    }, LOOK_MS);
    await closed;
    clearInterval(looking);
    // Only ends the checks of timeouts.
    server.close();
  }

  get open(): number {
    return this.#open.size;
  }

  #noteRefused(): void {
    this.refused++;
    this.#refused.note();
  }

  #accept(socket: Socket): void {
    noteAccepted();
    const release = this.#take(socket);
    if (release === undefined) {
      this.#noteRefused();
      socket.resetAndDestroy();
      return;
    }
    this.#open.set(socket, new Set());
    socket.once("close", () => {
      this.#open.delete(socket);
      release();
    });
  }

  /** Counts a connection, unless its address or network has too many. Returns the function that uncounts it. */
  #take({ remoteAddress }: Socket): (() => void) | undefined {
    const { callers, isLimited, perAddress = MAX_PER_ADDRESS } = this.#options;
    if (!isLimited || callers.isProxy(remoteAddress)) return () => {};
    const name = callers.nameOf(remoteAddress, null);
    const network = networkOf(name);
    const counted = network === undefined ? [name] : [name, network];
    const isOver = counted.some(
      (one, i) => (this.#counts.get(one) ?? 0) >= perAddress * (i === 0 ? 1 : NETWORK_FACTOR),
    );
    if (isOver) return undefined;
    for (const one of counted) this.#counts.set(one, (this.#counts.get(one) ?? 0) + 1);
    return () => {
      for (const one of counted) {
        const left = (this.#counts.get(one) ?? 1) - 1;
        if (left > 0) this.#counts.set(one, left);
        else this.#counts.delete(one);
      }
    };
  }
}

/** The evidence that a proxy is in front of the service. `peer`: the address that its connections come from. */
export interface ProxySign {
  sign: string;
  peer: string;
}

/**
 * Notices a proxy that `SIDEREAL_TRUSTED_PROXIES` does not name: all its clients share one limit. Looks at the first request of each
 * connection from this machine or a private network, until it finds one.
 */
export class UnnamedProxy {
  readonly #seen = new WeakSet<object>();
  readonly #onSign: (sign: ProxySign) => void;
  #isNoticed: boolean;

  /** `isOn`: false if the settings name proxies. */
  constructor(isOn: boolean, onSign: (sign: ProxySign) => void) {
    this.#isNoticed = !isOn;
    this.#onSign = onSign;
  }

  /** Looks at a request. Takes a microsecond or two once per connection. */
  look(message: Message): void {
    if (this.#isNoticed || this.#seen.has(message.socket)) return;
    this.#seen.add(message.socket);
    const peer = peerOf(message);
    const sign = peer === "" || !isPrivateHost(peer) ? undefined : signOf(message, isLoopbackHost(peer));
    if (sign === undefined) return;
    this.#isNoticed = true;
    this.#onSign({ sign, peer });
  }
}

function signOf({ rawHeaders, httpVersion, headers }: Message, isHere: boolean): string | undefined {
  if (hasProxyHeader(rawHeaders)) return "a request has a header that only proxies add";
  if (!isHere) return undefined;
  if (headers["user-agent"]?.startsWith("Mozilla/") && httpVersion === "1.0")
    return "a browser's request came over HTTP/1.0";
  const page = URL.parse(headers.origin ?? headers.referer ?? "")?.host;
  return headers["sec-fetch-site"] === "same-origin" &&
    page !== undefined &&
    page !== headers.host?.toLowerCase()
    ? "a page under another host requested its own address"
    : undefined;
}

const DOCUMENT = "unnamed proxy";

const Sign = z.object({ sign: z.string(), peer: z.string() });

export async function noteProxy(
  { write }: Pick<Database, "write">,
  sign: ProxySign,
  at: number,
): Promise<void> {
  await writeDocument(write, DOCUMENT, { at, body: sign });
}

/** The proxy that was noticed last; null: none. `at` in ms since 1970. */
export async function readNotedProxy(read: Db): Promise<(ProxySign & { at: number }) | null> {
  const noted = await readDocument(read, DOCUMENT);
  const sign = Sign.safeParse(noted?.body).data;
  return noted === undefined || sign === undefined ? null : { ...sign, at: noted.at };
}
