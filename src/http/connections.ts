import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import { type Callers, networkOf } from "../accounts/accounts.js";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { inQuietTurn, noteAccepted } from "../lib/loop-turns.js";
import { InFlight } from "./concurrency.js";
import { NETWORK_FACTOR } from "./limiter.js";
import { Restraint } from "./restraint.js";
import { isRefusal } from "./stored-response.js";

/** Lowest rate at which clients must read whole responses, and on average streams. */
export const LEAST_BYTES_PER_MS = 32;

/** Bounds of the connections of a process, or of each of its threads. */
export const BOUNDS = {
  /** Connections of all addresses together. */
  total: 10_000,
  /** Requests of one connection whose responses are not sent yet. */
  pending: 32,
  /** Bytes of such responses; once as many are waiting, the connection may not send further requests. */
  pendingBytes: 1024 * 1024,
  /**
   * Bytes that all connections of an address may leave unread for longer than a sweep. Those of its wider IPv6 network may
   * leave NETWORK_FACTOR times as many.
   */
  unreadBytes: 16 * 1024 * 1024,
  /** Time in which a client must read what is sent to it, plus the time that takes at the slowest rate. */
  unreadMs: 20_000,
  bytesPerMs: LEAST_BYTES_PER_MS,
};

/** Time between two looks at all connections. A connection that has ended on our side is destroyed at the second. */
const SWEEP_MS = 1_000;
/** Connections that an address may open between two sweeps, as a multiple of its limit. */
const OPENED_FACTOR = 4;
/** When the service stops: time in which clients may still send requests on connections that are open. */
const LINGER_MS = 500;
const CLOSING_SWEEP_MS = 50;
/** Time between two reports of refused connections. */
const REPORT_MS = 60_000;

export interface ConnectionOptions {
  /** Most connections of an address; undefined: any number. */
  perAddress: number | undefined;
  callers: Callers;
  /** Whether a request checks the health of the process: a 503 says what was found, and refuses nothing. */
  isProbe: (message: IncomingMessage) => boolean;
  clock: Clock;
  log: Logger;
  bounds?: Partial<typeof BOUNDS>;
}

/** An open connection. */
class Connection {
  readonly socket: Socket;
  /** The caller by address; undefined for a trusted proxy. */
  readonly name: string | undefined;
  /** Responses that are being computed, or wait for an earlier one to be sent. */
  readonly pending = new Set<ServerResponse>();
  /** When everything must have been read; undefined if it has been. */
  readBy: number | undefined;
  /** Whether our side had ended at the last sweep. */
  hasEnded = false;
  #written = 0;

  constructor(socket: Socket, name: string | undefined) {
    this.socket = socket;
    this.name = name;
  }

  /** Bytes of responses that the system has not accepted for sending: its own buffer is full, or earlier responses are not sent. */
  unread(): number {
    return this.socket.writableLength + this.#waiting();
  }

  /** Moves the time by which everything must have been read. Bytes sent since the last sweep extend it. */
  extend(now: number, { unreadMs, bytesPerMs }: typeof BOUNDS): void {
    const written = this.socket.bytesWritten + this.#waiting();
    const latest = now + unreadMs + this.unread() / bytesPerMs;
    const extended = (this.readBy ?? latest) + (written - this.#written) / bytesPerMs;
    this.readBy = Math.min(extended, latest);
    this.#written = written;
  }

  /** Bytes behind the response that is being sent. */
  #waiting(): number {
    let bytes = 0;
    for (const response of this.pending) if (response.socket === null) bytes += response.writableLength;
    return bytes;
  }
}

/** Unread bytes by address, on IPv6 also by its wider network. A trusted proxy, which has no name, is not counted. */
class UnreadBytes {
  readonly #bytes = new Map<string, number>();

  add(name: string | undefined, bytes: number): void {
    if (name === undefined) return;
    for (const key of [name, networkOf(name)])
      if (key !== undefined) this.#bytes.set(key, (this.#bytes.get(key) ?? 0) + bytes);
  }

  /** Whether an address has more than `most` unread bytes, or its network NETWORK_FACTOR times as many. */
  exceeds(name: string | undefined, most: number): boolean {
    if (name === undefined) return false;
    const ofNetwork = this.#bytes.get(networkOf(name) ?? "") ?? 0;
    return (this.#bytes.get(name) ?? 0) > most || ofNetwork > most * NETWORK_FACTOR;
  }
}

/**
 * Ignores the requests in what was read of a connection behind the one that is parsed: a chunk may have a thousand. The parser of
 * Node.js cannot be stopped there, and would make a response of each, and two errors when it is closed.
 */
function ignoreRest(socket: Socket): void {
  const parser = "parser" in socket ? socket.parser : undefined;
  if (typeof parser === "object" && parser !== null && "onIncoming" in parser) parser.onIncoming = () => 0;
}

/**
 * Bounds what clients can occupy without sending a proper request: connections per address, requests sent without reading the
 * responses, unread bytes, and the time for reading them. Closes what Node.js only asks the client to close. Requests whose
 * response is ready cost nothing here; all other work is one sweep per second.
 */
export class Connections {
  readonly #options: ConnectionOptions;
  readonly #bounds: typeof BOUNDS;
  readonly #listener: RequestListener;
  readonly #open = new Map<Socket, Connection>();
  readonly #counts = new InFlight();
  /** Connections that were opened since the last sweep. */
  #opened = new InFlight();
  readonly #ended = new AbortController();
  readonly #restraint: Restraint;
  #isClosing = false;
  #refused = 0;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(listener: RequestListener, options: ConnectionOptions) {
    this.#listener = listener;
    this.#options = options;
    this.#bounds = { ...BOUNDS, ...options.bounds };
    this.#restraint = new Restraint(options.clock, this.#ended.signal);
  }

  /** Follows the connections of a server that has no port yet. `receive` must get its requests. */
  follow(server: Server): void {
    server.maxConnections = this.#bounds.total;
    server.on("connection", (socket) => this.#accept(socket));
    server.on("drop", () => void this.#refused++);
    server.once("listening", () => void this.#sweepRepeatedly());
    server.once("close", () => this.#ended.abort());
  }

  /** Handles a request, unless its connection has too many already. */
  receive(message: IncomingMessage, response: ServerResponse): void {
    // The last response is sent: this came behind a body that nobody read.
    if (message.socket.writableEnded) {
      message.socket.destroy();
      return;
    }
    // Without a socket the response waits for an earlier one.
    const isWaiting = response.socket === null;
    if (isWaiting && !this.#mayWait(message.socket)) return;
    if (this.#isClosing) response.shouldKeepAlive = false;
    this.#listener(message, response);
    this.#noteRefusal(message.socket, response);
    if (isWaiting || !response.writableEnded || isRefusal(response.statusCode))
      this.#await(message.socket, response);
  }

  /** Whether a request that is fully received, other than the one being refused, still gets its response on this connection. */
  isResponding(socket: Socket): boolean {
    const pending = this.#open.get(socket)?.pending ?? [];
    return [...pending].some(({ req }) => req.complete);
  }

  /**
   * Closes the port, then all connections: each after the response to its last request, and those without a request after a
   * moment, since one may be on its way. Whatever is left is destroyed after `patienceMs`.
   */
  async close(server: Server, patienceMs: number): Promise<void> {
    this.#isClosing = true;
    // Requests that are waiting to be read still get a response.
    this.#restraint.end();
    // Closing the port resets connections that the system has established and that are not accepted yet: one in each turn.
    await new Promise<void>((resolve) => inQuietTurn(resolve));
    // Not Server.close of http: it destroys connections whose last response is not sent yet.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
    for (const { pending } of this.#open.values()) {
      const last = [...pending].at(-1);
      if (last !== undefined && !last.headersSent) last.shouldKeepAlive = false;
    }
    const lingering = CLOSING_SWEEP_MS * Math.ceil(LINGER_MS / CLOSING_SWEEP_MS);
    let waitedMs = 0;
    const sweeping = setInterval(() => {
      waitedMs += CLOSING_SWEEP_MS;
      if (waitedMs < lingering) return;
      const isLate = waitedMs >= patienceMs;
      for (const { socket, pending } of this.#open.values())
        if (isLate || (pending.size === 0 && socket.writableLength === 0)) socket.destroy();
    }, CLOSING_SWEEP_MS);
    await closed;
    clearInterval(sweeping);
    // Only ends the checks of timeouts.
    server.close();
  }

  #accept(socket: Socket): void {
    noteAccepted();
    const { callers, perAddress } = this.#options;
    const isProxy = callers.isProxy(socket.remoteAddress);
    const name = isProxy ? undefined : callers.nameOf(socket.remoteAddress, null);
    const taken = name === undefined || perAddress === undefined ? () => {} : this.#take(name, perAddress);
    if (taken === undefined) {
      this.#refused++;
      socket.resetAndDestroy();
      return;
    }
    this.#open.set(socket, new Connection(socket, name));
    socket.once("close", () => {
      this.#open.delete(socket);
      this.#restraint.forget(socket);
      taken();
    });
  }

  /** Takes a connection of an address; undefined if it has too many, or has opened too many since the last sweep. */
  #take(name: string, most: number): (() => void) | undefined {
    const holder = { name, network: networkOf(name) };
    if (typeof this.#opened.takeWithNetwork(holder, most * OPENED_FACTOR) === "number") return undefined;
    const taken = this.#counts.takeWithNetwork(holder, most);
    return typeof taken === "number" ? undefined : taken;
  }

  /** Whether a connection may send a request before the responses to earlier ones are sent. Resets it otherwise. */
  #mayWait(socket: Socket): boolean {
    const connection = this.#open.get(socket);
    if (connection === undefined || socket.destroyed) return false;
    const { pending, pendingBytes } = this.#bounds;
    const { name } = connection;
    const mayPipeline = name === undefined || !this.#restraint.wasRefused(name);
    // Otherwise all that go on would be forgotten, and come back, at the same time.
    if (!mayPipeline) this.#restraint.note(name);
    if (mayPipeline && connection.pending.size < pending && connection.unread() < pendingBytes) return true;
    socket.resetAndDestroy();
    ignoreRest(socket);
    return false;
  }

  #await(socket: Socket, response: ServerResponse): void {
    const { pending, name } = this.#open.get(socket) ?? {};
    pending?.add(response);
    response.once("close", () => {
      pending?.delete(response);
      const hasLimits = name !== undefined && this.#options.perAddress !== undefined;
      if (hasLimits && this.#isRefused(response)) this.#restraint.hold(socket, name);
    });
  }

  /** Notes a refusal before it is sent: the requests behind it may be in the bytes that are being parsed. */
  #noteRefusal(socket: Socket, response: ServerResponse): void {
    if (this.#options.perAddress === undefined || !this.#isRefused(response)) return;
    const name = this.#open.get(socket)?.name;
    if (name !== undefined) this.#restraint.note(name);
  }

  #isRefused({ statusCode, req }: ServerResponse): boolean {
    return isRefusal(statusCode) && (statusCode === 429 || !this.#options.isProbe(req));
  }

  async #sweepRepeatedly(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#ended;
    while (!signal.aborted) {
      await clock.sleep(SWEEP_MS, signal);
      this.#opened = new InFlight();
      this.#sweep(clock.monotonic());
    }
  }

  /** Destroys connections that have ended on our side, and resets those whose clients do not read. */
  #sweep(now: number): void {
    const unread = new UnreadBytes();
    const behind: Connection[] = [];
    for (const connection of this.#open.values()) {
      const { socket, name } = connection;
      const bytes = connection.unread();
      if (bytes === 0) {
        connection.readBy = undefined;
        if (connection.hasEnded) socket.destroy();
        connection.hasEnded = socket.writableEnded;
        continue;
      }
      if (connection.readBy !== undefined) behind.push(connection);
      connection.extend(now, this.#bounds);
      unread.add(name, bytes);
    }
    for (const { socket, name, readBy = now } of behind) {
      // Reset, so that the system gives up what it has buffered too.
      if (readBy <= now || unread.exceeds(name, this.#bounds.unreadBytes)) socket.resetAndDestroy();
    }
    this.#report(now);
  }

  #report(now: number): void {
    if (this.#refused === 0 || now - this.#reportedAt < REPORT_MS) return;
    this.#options.log.warn({ refused: this.#refused, open: this.#open.size }, "connections were refused");
    this.#refused = 0;
    this.#reportedAt = now;
  }
}
