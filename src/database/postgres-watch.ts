import { Socket } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";
import pg from "pg";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { connectionOf } from "./postgres-url.js";

/** How often statements are checked, and how long one runs before the server is probed. */
const SLOW_MS = 500;
/** How long the server may take to accept a connection and to run an empty statement on it. */
const PROBE_MS = 1_500;
/** A process that did nothing for so long while it waited, as on a busy machine, may have missed a response. */
const HELD_UP_MS = 750;
/** Time between two probes, while the server does not respond or a statement is still running. */
const RETRY_MS = 1_000;

export interface ServerWatchOptions {
  url: string;
  clock: Clock;
  log: Logger;
  /** What the log calls it; default: the database server. */
  server?: string;
}

/**
 * Notices a server that no longer responds and does not close its connections either, such as behind a network that drops
 * packets. A statement may run for minutes, so while one does, the server is probed with a trivial statement on a new connection.
 * If it does not respond, all connections are destroyed, so every statement fails within 2.5 seconds of
 * its start, and further ones fail immediately until the server responds again, which is noticed within 2.5 seconds too.
 */
export class ServerWatch {
  readonly #options: ServerWatchOptions;
  readonly #sockets = new Set<Socket>();
  /** When each running statement began, the oldest first; monotonic. */
  readonly #running = new Set<{ readonly beganAt: number }>();
  readonly #closing = new AbortController();
  #isAway = false;
  /** One that never responded is reported by whoever opens the database. */
  #hasResponded = false;
  #isWatching = false;

  constructor(options: ServerWatchOptions) {
    this.#options = options;
  }

  /** Whether the server did not respond to the last probe. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Opens the sockets of a pool; to be passed as its `stream`. */
  readonly openSocket = (): Socket => {
    const socket = new Socket();
    this.#sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => this.#sockets.delete(socket));
    // Callers that waited for a connection when the server went away: their new one would hang too.
    if (this.#isAway) process.nextTick(() => socket.destroy(unresponsive()));
    return socket;
  };

  /** Runs a statement, or waits for a connection, under watch. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isAway) throw unresponsive();
    const statement = { beganAt: this.#options.clock.monotonic() };
    this.#running.add(statement);
    if (!this.#isWatching) void this.#watch();
    try {
      const result = await work();
      this.#hasResponded = true;
      return result;
    } finally {
      this.#running.delete(statement);
    }
  }

  close(): void {
    this.#closing.abort();
  }

  async #watch(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#closing;
    this.#isWatching = true;
    let waitMs = SLOW_MS;
    while (!signal.aborted && (this.#isAway || this.#running.size > 0)) {
      await clock.sleep(waitMs, signal);
      waitMs = SLOW_MS;
      if (signal.aborted || !(this.#isAway || this.#hasSlow())) continue;
      const responds = await this.#probe();
      if (responds === this.#isAway && !signal.aborted) this.#turn(!responds);
      waitMs = RETRY_MS;
    }
    this.#isWatching = false;
  }

  #hasSlow(): boolean {
    const [oldest] = this.#running;
    return oldest !== undefined && this.#options.clock.monotonic() - oldest.beganAt >= SLOW_MS;
  }

  #turn(isAway: boolean): void {
    this.#isAway = isAway;
    const { log, server = "the database server" } = this.#options;
    if (!isAway) {
      if (this.#hasResponded) log.info(`${server} responds again`);
      return;
    }
    if (this.#hasResponded) log.error(`${server} does not respond: its connections are closed`);
    for (const socket of this.#sockets) socket.destroy(unresponsive());
  }

  /**
   * Whether the server responds to a new connection; an error that it reports is a response too. True if this process was held
   * up meanwhile: a busy machine is no reason to give up statements that may well be running.
   */
  async #probe(): Promise<boolean> {
    const { url, clock } = this.#options;
    const socket = new Socket();
    const client = new pg.Client({
      ...connectionOf(url),
      stream: () => socket,
    });
    client.on("error", () => {});
    const patience = new AbortController();
    const asked = client
      .connect()
      .then(() => client.query("select 1"))
      .then(
        () => true,
        (error: unknown) => error instanceof pg.DatabaseError,
      );
    const delay = monitorEventLoopDelay();
    delay.enable();
    const late = clock
      .sleep(PROBE_MS, AbortSignal.any([patience.signal, this.#closing.signal]))
      .then(() => false);
    const responds = await Promise.race([asked, late]);
    patience.abort();
    delay.disable();
    if (responds) client.end().catch(() => {});
    else socket.destroy();
    return responds || delay.max > HELD_UP_MS * 1_000_000;
  }
}

function unresponsive(): Error {
  return new Error("the database server does not respond");
}
