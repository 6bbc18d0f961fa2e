import {
  CompiledQuery,
  type DatabaseConnection,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from "kysely";
import type { Clock } from "../clock.js";
import { databaseFault } from "./fault.js";

/** How long a single statement blocks the thread while another process writes. */
export const BUSY_TIMEOUT_MS = 5_000;
/** How long a transaction waits for another process, without blocking the thread, and how often it retries. */
const BUSY_MS = 20_000;
const BUSY_POLL_MS = 2;
/** A turn that took longer has made others wait, so its connection gives way before the next one, for long enough to be noticed. */
const LONG_TURN_MS = 10;
const GIVE_WAY_MS = 5;

/** Lets the writing connections of one file take turns. */
export class WriteQueue {
  readonly clock: Clock;
  #last: Promise<void> = Promise.resolve();
  #turns = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Number of turns that have ended. */
  get turns(): number {
    return this.#turns;
  }

  /** Waits for its turn. Returns the function that ends it. */
  async enter(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    return () => {
      this.#turns++;
      resolve();
    };
  }
}

/**
 * A connection that writes. SQLite blocks the thread while it waits for a lock: two connections of one process would deadlock
 * until the timeout, and one request would stop all others while another process writes. So connections queue in this
 * process, and poll for the lock of another process without blocking the event loop.
 */
export class SqliteWriterDialect extends SqliteDialect {
  readonly #config: SqliteDialectConfig;
  readonly #turns: Turns;

  constructor(config: SqliteDialectConfig, turns: Turns) {
    super(config);
    this.#config = config;
    this.#turns = turns;
  }

  override createDriver(): SqliteDriver {
    return new WriterDriver(this.#config, this.#turns);
  }
}

/** How a connection takes its turns. */
export interface Turns {
  queue: WriteQueue;
  /** Whether it lets other processes write between long turns of its own. Without a pause they would hardly ever find the file free. */
  givesWay: boolean;
}

class WriterDriver extends SqliteDriver {
  readonly #turns: Turns;
  #leave = () => {};
  #turnBegan = 0;
  /** When the last turn ended, if it was a long one. */
  #longTurnEnded = Number.NEGATIVE_INFINITY;

  constructor(config: SqliteDialectConfig, turns: Turns) {
    super(config);
    this.#turns = turns;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection();
    const { givesWay, queue } = this.#turns;
    const pause = this.#longTurnEnded + GIVE_WAY_MS - queue.clock.monotonic();
    if (givesWay && pause > 0) await queue.clock.sleep(pause);
    this.#leave = await queue.enter();
    this.#turnBegan = queue.clock.monotonic();
    return connection;
  }

  override async releaseConnection(): Promise<void> {
    this.#leave();
    const now = this.#turns.queue.clock.monotonic();
    if (now - this.#turnBegan > LONG_TURN_MS) this.#longTurnEnded = now;
    await super.releaseConnection();
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const { clock } = this.#turns.queue;
    const until = clock.monotonic() + BUSY_MS;
    while (!(await tryBegin(connection, clock.monotonic() >= until))) await clock.sleep(BUSY_POLL_MS);
    this.#turnBegan = clock.monotonic();
  }
}

/** Begins a transaction. While another process writes, returns false, or throws with `isLast`. */
async function tryBegin(connection: DatabaseConnection, isLast: boolean): Promise<boolean> {
  await connection.executeQuery(CompiledQuery.raw("pragma busy_timeout = 0"));
  try {
    // Takes the write lock now: a transaction that upgraded from reading to writing would fail without waiting.
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
    return true;
  } catch (error) {
    if (isLast || databaseFault(error) !== "busy") throw error;
    return false;
  } finally {
    await connection.executeQuery(CompiledQuery.raw(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`));
  }
}
