import {
  CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
} from "kysely";
import type { Clock } from "../lib/clock.js";
import { inQuietTurn } from "../lib/loop-turns.js";
import { DatabaseFault, databaseFault } from "./fault.js";

/** How often a statement is tried again while another process writes. */
const BUSY_POLL_MS = 2;
/** A turn that took longer has made others wait, so its connection gives way before the next one, for long enough to be noticed. */
const LONG_TURN_MS = 10;
const GIVE_WAY_MS = 5;

/** Lets the writing connections of one file take turns. */
export class WriteQueue {
  readonly clock: Clock;
  /** Whether a sync has failed, so that the next success must not be believed. */
  isUnsynced = false;
  /** Throws if the store, which has this version, must not be written to; undefined while it is opened. */
  check: ((version: number) => void) | undefined;
  /** Number of turns that have ended. */
  turns = 0;
  #last: Promise<void> = Promise.resolve();
  /** Turns that have not ended, waiting ones included. */
  #entered = 0;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Waits for its turn. Returns the function that ends it. Throws DatabaseFault if the turn has not come at `until`; monotonic. */
  async enter(until: number): Promise<() => void> {
    const mustWait = this.#entered++ > 0;
    const before = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    const end = () => {
      this.#entered--;
      resolve();
    };
    if (mustWait) {
      const patience = new AbortController();
      const late = this.clock.sleep(until - this.clock.monotonic(), patience.signal).then(() => true);
      const isLate = await Promise.race([before.then(() => false), late]);
      patience.abort();
      if (isLate) {
        void before.then(end);
        throw new DatabaseFault("busy", new Error("other processes have held the write lock for too long"));
      }
      // A transaction on SQLite ends without yielding to the event loop: without this, all waiting ones would share a turn of it.
      await new Promise<void>(inQuietTurn);
    }
    return () => {
      this.turns++;
      end();
    };
  }
}

/** How a connection takes its turns. */
interface Turns {
  queue: WriteQueue;
  /** Whether it lets other processes write between long turns of its own. Without a pause they would hardly ever find the file free. */
  givesWay: boolean;
  /** How long a transaction, or a statement outside one, waits for its turn and for other processes, in ms. */
  patienceMs: number;
  /** Whether a transaction is open: SQLite itself rolls one back when the disk is full or fails. */
  isInTransaction(): boolean;
}

/**
 * A connection that writes. SQLite blocks the thread while it waits for a lock: two connections of one process would deadlock
 * until the timeout, and one request would stop all others while another process writes. So connections queue in this
 * process, and poll for the lock of another process without blocking the event loop.
 */
export class SqliteWriterDialect extends SqliteDialect {
  override createDriver: () => SqliteDriver;

  constructor(config: SqliteDialectConfig, turns: Turns) {
    super(config);
    this.createDriver = () => new WriterDriver(config, turns);
  }
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
    const { givesWay, patienceMs, queue } = this.#turns;
    const { clock } = queue;
    const pause = this.#longTurnEnded + GIVE_WAY_MS - clock.monotonic();
    if (givesWay && pause > 0) await clock.sleep(pause);
    const until = clock.monotonic() + patienceMs;
    this.#leave = await queue.enter(until);
    // Free, as it is this connection's turn.
    const connection = new WriterConnection(await super.acquireConnection(), this.#turns, until);
    this.#turnBegan = clock.monotonic();
    try {
      if (queue.isUnsynced) await connection.resync();
    } catch (error) {
      await this.releaseConnection();
      throw error;
    }
    return connection;
  }

  override async releaseConnection(): Promise<void> {
    await super.releaseConnection();
    const now = this.#turns.queue.clock.monotonic();
    if (now - this.#turnBegan > LONG_TURN_MS) this.#longTurnEnded = now;
    this.#leave();
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    // Takes the write lock now: a transaction that upgraded from reading to writing would fail without waiting.
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
    try {
      // Another program may have held the lock to migrate.
      if (connection instanceof WriterConnection) await connection.checkStore();
    } catch (error) {
      await this.rollbackTransaction(connection);
      throw error;
    }
    this.#turnBegan = this.#turns.queue.clock.monotonic();
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (this.#turns.isInTransaction()) await super.rollbackTransaction(connection);
  }
}

/** Extended result codes of SQLite (sqlite.org/rescode.html): SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC. */
const SYNC_FAILURES: ReadonlySet<unknown> = new Set([1034, 1290]);

function isSyncFailure(error: unknown): boolean {
  const cause = error instanceof DatabaseFault ? error.cause : undefined;
  return cause instanceof Error && "errcode" in cause && SYNC_FAILURES.has(cause.errcode);
}

/** The connection during one turn. Tries statements again while another process writes: they take the lock or do nothing. */
class WriterConnection implements DatabaseConnection {
  readonly #connection: DatabaseConnection;
  readonly #queue: WriteQueue;
  readonly #isInTransaction: () => boolean;
  readonly #until: number;

  constructor(connection: DatabaseConnection, { queue, isInTransaction }: Turns, until: number) {
    this.#connection = connection;
    this.#queue = queue;
    this.#isInTransaction = isInTransaction;
    this.#until = until;
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#retrying(async () => {
      try {
        if (!this.#isInTransaction()) await this.checkStore();
        return await this.#connection.executeQuery<R>(query);
      } catch (error) {
        if (isSyncFailure(error)) this.#queue.isUnsynced = true;
        throw error;
      }
    });
  }

  async checkStore(): Promise<void> {
    const { check } = this.#queue;
    if (check === undefined) return;
    const select = CompiledQuery.raw("select max(version) as version from schema_version");
    const { rows } = await this.#connection.executeQuery<{ version: number }>(select);
    check(rows[0]?.version ?? 0);
  }

  async #retrying<T>(attempt: () => Promise<T>): Promise<T> {
    const { clock } = this.#queue;
    for (;;) {
      const isLast = clock.monotonic() >= this.#until;
      try {
        return await attempt();
      } catch (error) {
        if (isLast || databaseFault(error) !== "busy") throw error;
      }
      await clock.sleep(BUSY_POLL_MS);
    }
  }

  /**
   * Stores pages again that the disk may have lost. After a failed fsync the system forgets which pages it could not write, and the next
   * fsync succeeds without them; a later commit would follow a hole in the log. So everything committed is copied from the log
   * to the database first, which writes other pages, and the log begins again. Throws as long as that fails.
   */
  async resync(): Promise<void> {
    await this.#retrying(async () => {
      const { rows } = await this.#connection.executeQuery<{ busy: number }>(
        CompiledQuery.raw("pragma wal_checkpoint(truncate)"),
      );
      if (rows[0]?.busy !== 0)
        throw new DatabaseFault("busy", new Error("the log is being read, and cannot begin again"));
    });
    this.#queue.isUnsynced = false;
  }

  streamQuery<R>(query: CompiledQuery, chunkSize?: number): AsyncIterableIterator<QueryResult<R>> {
    return this.#connection.streamQuery<R>(query, chunkSize);
  }
}
