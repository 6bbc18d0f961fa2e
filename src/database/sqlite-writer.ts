import { setTimeout } from "node:timers/promises";
import {
  CompiledQuery,
  type DatabaseConnection,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from "kysely";
import { databaseFault } from "./fault.js";

/** How long a single statement waits, with the thread, for a transaction of another process. */
export const BUSY_TIMEOUT_MS = 5_000;
/** How long a transaction waits, without the thread, and how often it looks. */
const BUSY_MS = 20_000;
const BUSY_POLL_MS = 2;

/** Where the writing connections of one file wait for each other. */
export class WriteQueue {
  #last: Promise<void> = Promise.resolve();

  /** Waits for its turn. Returns what ends it. */
  async enter(): Promise<() => void> {
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    await before;
    return resolve;
  }
}

/**
 * A connection that writes. SQLite waits for a lock by stopping the thread, so that two connections of one process would
 * wait for each other in vain, and a request would stop all others while another process writes. So they queue here, and
 * wait for other processes between turns of the event loop.
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
    while (!(await beginAtOnce(connection, performance.now() >= until))) await setTimeout(BUSY_POLL_MS);
  }
}

/** Begins unless another process writes; then false, or with `isLast` the error. */
async function beginAtOnce(connection: DatabaseConnection, isLast: boolean): Promise<boolean> {
  await connection.executeQuery(CompiledQuery.raw("pragma busy_timeout = 0"));
  try {
    // Taken at once: a transaction that reads first and writes later would fail without waiting.
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
    return true;
  } catch (error) {
    if (isLast || databaseFault(error) !== "busy") throw error;
    return false;
  } finally {
    await connection.executeQuery(CompiledQuery.raw(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}`));
  }
}
