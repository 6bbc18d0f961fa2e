import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import type { Clock } from "../lib/clock.js";
import { CountedLog } from "../lib/counted-log.js";
import type { Logger } from "../lib/log.js";
import { inQuietTurn, noteAccepted } from "../lib/loop-turns.js";
import { type Callers, networkOf } from "./callers.js";
import { NETWORK_FACTOR } from "./limiter.js";

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

  /** Counts a connection, unless its address or network has too many. Returns what uncounts it. */
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
