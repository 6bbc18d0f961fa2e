import { type Clock, within } from "../../lib/clock.js";
import type { Logger } from "../../lib/log.js";
import type { Commands, ConnectionOptions } from "./connections.js";

/** Longest wait for a reply. */
const REPLY_MS = 100;
/** Longest wait for a connection and the commands that prepare it. */
export const CONNECT_MS = 2_000;
/** Wait after a failure before connecting again. */
export const RETRY_MS = 1_000;

export interface ClientOptions extends ConnectionOptions {
  clock: Clock;
  log: Logger;
}

/**
 * Sends commands to Redis or Valkey while it is known to work. The first late or wrong reply ends that; a second later a new
 * connection is tried in the background. While it is away nothing waits for it.
 */
export class RedisClient {
  readonly #options: ClientOptions;
  readonly #prepare: ((connection: Commands) => Promise<void>)[] = [];
  readonly #onBack: (() => void)[] = [];
  readonly #closing = new AbortController();
  /** Undefined while Redis is away. */
  #connection: Commands | undefined;
  #opening: Promise<void> | undefined;
  #attempts = 0;
  /** Whether the log already says that it is away. */
  #isReported = false;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** Whether it is used now. */
  get isAvailable(): boolean {
    return this.#connection !== undefined;
  }

  /** What each new connection must do before it is used; a failure means that Redis is away. Before `open`. */
  prepareWith(prepare: (connection: Commands) => Promise<void>): void {
    this.#prepare.push(prepare);
  }

  /** Calls the listener whenever a connection begins to be used. */
  onBack(listener: () => void): void {
    this.#onBack.push(listener);
  }

  /** Connects, once; resolves when the first attempt has ended. A failure is logged once, and tried again. */
  open(): Promise<void> {
    this.#opening ??= this.#connect();
    return this.#opening;
  }

  /** Runs commands. Undefined while Redis is away; a promise of undefined when this fails. */
  run<T>(commands: (connection: Commands) => Promise<T>): Promise<T | undefined> | undefined {
    const connection = this.#connection;
    if (connection === undefined) return undefined;
    return within(this.#options.clock, REPLY_MS, commands(connection)).catch((error: unknown) => {
      this.#lose(connection, messageOf(error));
      return undefined;
    });
  }

  close(): void {
    this.#closing.abort();
    this.#connection?.disconnect();
    this.#connection = undefined;
  }

  async #connect(): Promise<void> {
    const { clock, log } = this.#options;
    let connection: Commands | undefined;
    let isOver = false;
    let reason: Error | undefined;
    const onError = (error: Error) => {
      reason ??= error;
    };
    const connecting = async () => {
      // Loaded only here: loading the library makes every request a third slower, even without using it.
      const { newCommands } = await import("./connections.js");
      connection = await newCommands(this.#options, { number: this.#attempts++, onError });
      if (isOver) throw new Error("too late");
      await connection.connect();
      for (const prepare of this.#prepare) await prepare(connection);
      return connection;
    };
    try {
      const opened = await within(clock, CONNECT_MS, connecting());
      if (this.#closing.signal.aborted) return opened.disconnect();
      this.#connection = opened;
      opened.on("close", () => this.#lose(opened, "the connection was closed"));
    } catch (error) {
      isOver = true;
      connection?.disconnect();
      return this.#fail(messageOf(reason ?? error));
    }
    if (this.#isReported) log.info("Redis is back: limits are shared again");
    this.#isReported = false;
    for (const listener of this.#onBack) listener();
  }

  #lose(connection: Commands, message: string): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    connection.disconnect();
    this.#fail(message);
  }

  #fail(error: string): void {
    const { clock, log } = this.#options;
    const { signal } = this.#closing;
    if (signal.aborted) return;
    void clock.sleep(RETRY_MS, signal).then(() => (signal.aborted ? undefined : this.#connect()));
    if (this.#isReported) return;
    this.#isReported = true;
    // Only the message: the error object may contain the password.
    log.warn({ error }, "Redis is away: each process limits for itself until it is back");
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
