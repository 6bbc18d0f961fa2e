import { setTimeout } from "node:timers/promises";
import {
  CompiledQuery,
  type DatabaseConnection,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from "kysely";
import { databaseFault } from "./fault.js";

/** How long a single statement blocks the thread while another process writes. */
export const BUSY_TIMEOUT_MS = 5_000;
/** How long a transaction waits for another process, without blocking the thread, and how often it retries. */
const BUSY_MS = 20_000;
const BUSY_POLL_MS = 2;

/** Lets the writing connections of one file take turns. */
export class WriteQueue {
  #last: Promise<void> = Promise.resolve();
  #turns = 0;

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
  readonly #queue: WriteQueue;

  constructor(config: SqliteDialectConfig, queue: WriteQueue) {
    super(config);
    this.#config = config;
    this.#queue = queue;
  }

  override createDriver(): SqliteDriver {
    return new WriterDriver(this.#config, this.#queue);
  }
}

class WriterDriver extends SqliteDriver {
  readonly #queue: WriteQueue;
  #leave = () => {};

  constructor(config: SqliteDialectConfig, queue: WriteQueue) {
    super(config);
    this.#queue = queue;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    const connection = await super.acquireConnection();
    this.#leave = await this.#queue.enter();
    return connection;
  }

  override async releaseConnection(): Promise<void> {
    this.#leave();
    await super.releaseConnection();
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    const until = performance.now() + BUSY_MS;
    while (!(await tryBegin(connection, performance.now() >= until))) await setTimeout(BUSY_POLL_MS);
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
