/**
 * The connection of `Database.scan` on SQLite, where a statement holds its thread until it ends: it is in a thread of its own, which
 * exists while it is used.
 */
import { Worker } from "node:worker_threads";
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { Db } from "./dialect.js";
import { DatabaseFault, type FaultKind } from "./fault.js";
import type { Schema } from "./schema.js";

/** Input of the thread. */
export interface ScannerData {
  path: string;
}

/** A statement for the thread. */
export interface ScanRequest {
  sql: string;
  parameters: readonly unknown[];
}

/** What the thread sends back for each statement, in the order in which it received them. */
export type ScanResult = { rows: unknown[] } | { kind: FaultKind | undefined; error: unknown };

/** Statements that may be waiting or running. Fewer than requests may be, so that the others go on. */
const MOST_SCANS = 4;
/** The thread ends when it has had nothing to do for this long. */
const IDLE_MS = 10_000;
const MEMORY_MB = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 };

const CLOSED = "the connection is closed";

interface Scan {
  resolve(rows: unknown[]): void;
  reject(error: unknown): void;
}

/** Runs statements in a thread, one after the other. */
class Scanner implements DatabaseConnection {
  readonly #data: ScannerData;
  #thread: Worker | undefined;
  #scans: Scan[] = [];
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(data: ScannerData) {
    this.#data = data;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    // Kysely does not wait for those that have their connection already.
    if (this.#isClosed) throw new DatabaseFault("unavailable", new Error(CLOSED));
    if (this.#scans.length >= MOST_SCANS)
      throw new DatabaseFault("busy", new Error("too many statements are reading much of the catalogue"));
    clearTimeout(this.#idle);
    this.#thread ??= this.#start();
    const request: ScanRequest = { sql, parameters };
    this.#thread.postMessage(request);
    this.#thread.ref();
    const { promise, resolve, reject } = Promise.withResolvers<unknown[]>();
    this.#scans.push({ resolve, reject });
    const rows = await promise;
    // The text of the statement decides the type of its rows.
    return { rows: rows as R[] };
  }

  // biome-ignore lint/correctness/useYield: it always throws.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error("the rows of a scan come all together");
  }

  /** Ends the thread as soon as its statement has ended. Pending statements fail, and later ones. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    await this.#stop();
  }

  async #stop(): Promise<void> {
    const thread = this.#thread;
    this.#forget(new Error(CLOSED));
    await thread?.terminate();
  }

  #start(): Worker {
    const thread = new Worker(new URL("./scanner-thread.js", import.meta.url), {
      workerData: this.#data,
      resourceLimits: MEMORY_MB,
    });
    thread.on("message", (result: ScanResult) => {
      if (thread === this.#thread) this.#end(result);
    });
    const fail = (error: unknown) => {
      if (thread === this.#thread) this.#forget(error);
    };
    thread.on("error", fail);
    thread.on("exit", () => fail(new Error("the thread that reads the catalogue has ended")));
    return thread;
  }

  #end(result: ScanResult): void {
    const scan = this.#scans.shift();
    if ("rows" in result) scan?.resolve(result.rows);
    else
      scan?.reject(result.kind === undefined ? result.error : new DatabaseFault(result.kind, result.error));
    if (this.#scans.length > 0) return;
    // The process may end while it waits for nothing.
    this.#thread?.unref();
    this.#idle = setTimeout(() => void this.#stop(), IDLE_MS);
    this.#idle.unref();
  }

  /** The next statement begins another thread. */
  #forget(reason: unknown): void {
    this.#thread = undefined;
    const scans = this.#scans;
    this.#scans = [];
    for (const { reject } of scans) reject(new DatabaseFault("unavailable", reason));
  }
}

class ScannerDriver implements Driver {
  readonly #scanner: Scanner;

  constructor(scanner: Scanner) {
    this.#scanner = scanner;
  }

  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#scanner;
  }
  async releaseConnection(): Promise<void> {}
  beginTransaction = refuseTransaction;
  commitTransaction = refuseTransaction;
  rollbackTransaction = refuseTransaction;
  destroy(): Promise<void> {
    return this.#scanner.close();
  }
}

async function refuseTransaction(): Promise<void> {
  throw new Error("a scan is one statement");
}

/** Opens a connection to a file, in a thread that begins with the first statement. */
export function openScanner(path: string): Db {
  const scanner = new Scanner({ path });
  const dialect: Dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new ScannerDriver(scanner),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
  return new Kysely<Schema>({ dialect });
}
