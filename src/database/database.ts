/**
 * The store: opens it, brings its tables up to date, and hands out connections by what a write must survive.
 * One SQLite file under the data directory, or PostgreSQL; the rest of the program cannot tell which.
 * It knows tables and engines, and nothing of what the rows mean.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "../log.js";
import { unsafeNode } from "../node-version.js";
import type { Db, Dialect } from "./dialect.js";
import { migrate } from "./migrate.js";
import { openPostgres, postgresDialect } from "./postgres.js";
import { openSqlite, sqliteDialect } from "./sqlite.js";
import { WriteQueue } from "./sqlite-writer.js";

export type { BulkColumns, BulkRow, Db, Dialect, TableName, Tx, WordDocument, WordQuery } from "./dialect.js";
export { DatabaseFault, databaseFault, type FaultKind } from "./fault.js";
export { createRollupTable, indexRollupTable } from "./rollup-tables.js";
export type {
  FacetTable,
  RankCutoffTable,
  RankTable,
  RepositoryTable,
  RollupTable,
  Schema,
  SnapshotTable,
} from "./schema.js";
export type { UsageCallerTable } from "./usage-schema.js";

export interface Database {
  readonly dialect: Dialect;
  /** For requests: cannot write (SQLite), or is ended when a statement takes too long (PostgreSQL). */
  readonly read: Db;
  /** For snapshots, rollups, usage: a commit survives a crash of this process; a power cut may take the last seconds. */
  readonly write: Db;
  /** For accounts, keys, watchlists: a commit survives a power cut. */
  readonly durable: Db;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** PostgreSQL address, or undefined for SQLite in `dataDir`. */
  url: string | undefined;
  /** Folder of the SQLite file, made when absent; ":memory:" keeps everything in this process. */
  dataDir: string;
  pool: number;
  log: Logger;
}

/** Opens the store and migrates it. Throws with a message for the operator when it is unsafe, newer than us or unreachable. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const problem = unsafeNode(process.version);
  if (problem !== undefined) throw new Error(problem);
  const database =
    options.url === undefined
      ? openSqliteDatabase(options.dataDir)
      : openPostgresDatabase(options, options.url);
  try {
    await migrate(database.durable, database.dialect);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

function openPostgresDatabase(options: DatabaseOptions, url: string): Database {
  const read = openPostgres(url, { pool: options.pool, reads: true, log: options.log });
  const write = openPostgres(url, {
    pool: Math.max(2, Math.ceil(options.pool / 2)),
    reads: false,
    log: options.log,
  });
  const close = async () => {
    await Promise.all([read.destroy(), write.destroy()]);
  };
  return { dialect: postgresDialect, read, write, durable: write, close };
}

function openSqliteDatabase(dataDir: string): Database {
  if (dataDir === ":memory:") {
    const only = openSqlite(":memory:", { readOnly: false, synchronous: "NORMAL" });
    return { dialect: sqliteDialect, read: only, write: only, durable: only, close: () => only.destroy() };
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, "sidereal.db");
  const writers = new WriteQueue();
  const durable = openSqlite(path, { readOnly: false, synchronous: "FULL", writers });
  const write = openSqlite(path, { readOnly: false, synchronous: "NORMAL", writers });
  const read = openSqlite(path, { readOnly: true, synchronous: "NORMAL" });
  const close = async () => {
    for (const connection of [read, write, durable]) await connection.destroy();
  };
  return { dialect: sqliteDialect, read, write, durable, close };
}
