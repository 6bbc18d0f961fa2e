/**
 * The connection of `Database.scan` on SQLite. A statement holds its thread until it ends, so this connection has a thread of its own,
 * which starts with the first statement.
 */
import { Worker } from "node:worker_threads";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteDialect,
} from "kysely";
import type { Db } from "./dialect.js";
import { DatabaseFault, type FaultKind } from "./fault.js";
import type { Schema } from "./schema.js";

/** What the thread returns for each statement, in the order in which it received them. */
export type ScanResult = { rows: unknown[] } | { kind: FaultKind | undefined; error: unknown };

/** Statements that may be waiting or running. Fewer than requests may be, so that the others go on. */
const MOST_SCANS = 4;
const MEMORY_MB = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 };

/** Runs statements in a thread, one after the other. */
class Scanner implements DatabaseConnection {
  readonly #path: string;
  #thread: Worker | undefined;
  #pending: PromiseWithResolvers<unknown[]>[] = [];
  #isClosed = false;

  constructor(path: string) {
    this.#path = path;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#isClosed) throw new DatabaseFault("unavailable", new Error("the connection is closed"));
    if (this.#pending.length >= MOST_SCANS)
      throw new DatabaseFault("busy", new Error("too many statements are reading much of the catalogue"));
    this.#thread ??= this.#start();
    this.#thread.postMessage([sql, parameters]);
    this.#thread.ref();
    const pending = Promise.withResolvers<unknown[]>();
    this.#pending.push(pending);
    // The text of the statement decides the type of its rows.
    return { rows: (await pending.promise) as R[] };
  }

  streamQuery(): never {
    throw new Error("the rows of a scan come all together");
  }

  /** Ends the thread. Pending statements fail, and later ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#thread?.terminate();
  }

  #start(): Worker {
    const thread = new Worker(new URL("./scanner-thread.js", import.meta.url), {
      workerData: this.#path,
      resourceLimits: MEMORY_MB,
    });
    thread.on("message", (result: ScanResult) => {
      const pending = this.#pending.shift();
      if ("rows" in result) pending?.resolve(result.rows);
      else
        pending?.reject(
          result.kind === undefined ? result.error : new DatabaseFault(result.kind, result.error),
        );
      // The process may end while it waits for nothing.
      if (this.#pending.length === 0) thread.unref();
    });
    let reason: unknown = new Error("the thread that reads the catalogue has ended");
    thread.on("error", (error) => {
      reason = error;
    });
    thread.on("exit", () => {
      // The next statement starts another thread.
      this.#thread = undefined;
      for (const { reject } of this.#pending.splice(0)) reject(new DatabaseFault("unavailable", reason));
    });
    return thread;
  }
}

class ScannerDialect extends SqliteDialect {
  readonly #scanner: Scanner;

  constructor(scanner: Scanner) {
    super({ database: noTransactions });
    this.#scanner = scanner;
  }

  override createDriver(): Driver {
    return {
      init: async () => {},
      acquireConnection: async () => this.#scanner,
      releaseConnection: async () => {},
      beginTransaction: noTransactions,
      commitTransaction: noTransactions,
      rollbackTransaction: noTransactions,
      destroy: () => this.#scanner.close(),
    };
  }
}

async function noTransactions(): Promise<never> {
  throw new Error("a scan is one statement");
}

/** Opens a connection to a file. */
export function openScanner(path: string): Db {
  return new Kysely<Schema>({ dialect: new ScannerDialect(new Scanner(path)) });
}
