/**
 * The database: opens and migrates it, and provides connections by the durability that a write needs. It is one SQLite file
 * in the data directory, or PostgreSQL; no other module depends on which. Failures of the engine are thrown as DatabaseFault.
 * What the rows mean is up to other modules.
 */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Clock, systemClock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import type { Db, Dialect } from "./dialect.js";
import { DatabaseFault, StoreRefused } from "./fault.js";
import { checkVersion, migrate } from "./migrate.js";
import { connectTo, openPool, postgresDialect } from "./postgres.js";
import type { Prepare } from "./prepared.js";
import { makePrivate, openPrivateFile, openPrivateFolder } from "./private-files.js";
import { ReplicaPool } from "./read-replica.js";
import { openSqlite, SQLITE_FILE, sqliteDialect } from "./sqlite.js";
import { WriteQueue } from "./sqlite-writer.js";

export { DELETED_SHARE, DeletionClock, deleteOld } from "./deletion-clock.js";
export {
  BatchSize,
  type BulkRow,
  type Db,
  type Dialect,
  type MergedTable,
  newStoreName,
  type PortableRow,
  readDocument,
  readMark,
  readNumber,
  type Tx,
  writeDocument,
  writeMark,
} from "./dialect.js";
export { DistributionRefused, distribute } from "./distribute.js";
export { DatabaseFault, databaseFault, type FaultKind, StoreRefused } from "./fault.js";
export { checkFile, checkServer, findOrphans, type Orphans, removeOrphans } from "./integrity.js";
export {
  checkVersion,
  currentVersion,
  FIRST_VERSION,
  LATEST_VERSION,
  type MigrationState,
  readMigrations,
} from "./migrate.js";
export { columns, type Given, type Prepare, type Prepared, type ValuesOf } from "./prepared.js";
export { createSecret, secretInFile } from "./private-files.js";
export { RestoredStore, readRows, type StoreLocation, syncFolder } from "./restore.js";
export {
  bulkOf,
  columnNames,
  PRIMARY_SHAPES,
  type PreviousNameTable,
  type RepositoryTable,
  type RollupTable,
  SHAPES,
  type TableName,
  type UsageAllowanceTable,
  type UsageCallerTable,
  type UsageEventTable,
  type UsageRouteTable,
  type WalkTable,
  type WantedTable,
} from "./schema/schema.js";

export interface Database {
  readonly dialect: Dialect;
  /** For requests: read-only (SQLite), or with a statement timeout (PostgreSQL). Sees every commit of this process. */
  readonly read: Db;
  /** Prepares a statement for requests, to run like those of `read`. Modules prepare each of theirs once. */
  readonly prepare: Prepare;
  /** For snapshots, rollups, usage: a commit survives a crash of this process; a power cut may lose the last seconds. */
  readonly write: Db;
  /** For accounts, keys, watchlists: a commit survives a power cut. */
  readonly durable: Db;
  /** How many requests may read at the same time; further ones would only wait for a connection. */
  readonly maxReaders: number;
  /** The connections to PostgreSQL now; none on SQLite. */
  pools(): PoolState[];
  /** Throws DatabaseFault if the file of the database is no longer the one that is open. */
  checkFile(): void;
  /** Grows with each write of this process; those of other processes do not count. */
  writes(): number;
  /** For series and exports, which may be a little old: the replica if there is one, else as `read`. Not for transactions. */
  readonly slowReads: { read: Db; prepare: Prepare };
  close(): Promise<void>;
}

/** The connections of a pool: open, idle, and the number of callers that wait for one. */
export interface PoolState {
  name: "reads" | "writes" | "replica";
  open: number;
  idle: number;
  waiting: number;
}

interface DatabaseOptions {
  /** PostgreSQL address, or undefined for SQLite in `dataDir`. */
  url: string | undefined;
  /** Folder of the SQLite file, created if missing; ":memory:" keeps everything in this process. */
  dataDir: string;
  pool: number;
  log: Logger;
  /** Address of a replica of a PostgreSQL database, for `slowReads`. */
  readUrl?: string | undefined;
  /** For waits on other processes; default: the system clock, which they use too. */
  clock?: Clock;
  /** Whether an older store is brought up to date; default true. */
  upgrades?: boolean;
}

/**
 * Opens and migrates the database. Throws, with a message for the operator, if it is unsafe, too new or unreachable. Writes fail
 * once another program has migrated it.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, dataDir, clock = systemClock, upgrades = true } = options;
  const { database, guard } =
    url === undefined
      ? openSqliteDatabase(dataDir, new WriteQueue(clock))
      : openPostgresDatabase({ ...options, url, clock });
  try {
    await migrate(database.durable, database.dialect, { clock, upgrades });
    guard();
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

/** Whether a folder has the file of a SQLite database. */
export function hasStore(dataDir: string): boolean {
  return existsSync(join(dataDir, SQLITE_FILE));
}

/**
 * Opens one more connection to a migrated database, for reading much of the catalogue in the background with little memory. It
 * cannot write. Not for a database in memory, which has one connection. `isPatient`: the server does not limit the time of a statement.
 */
export function openBackgroundReader({
  url,
  dataDir,
  log,
  isPatient = false,
}: Pick<DatabaseOptions, "url" | "dataDir" | "log"> & { isPatient?: boolean }): Pick<
  Database,
  "dialect" | "read" | "close"
> {
  const { db } =
    url === undefined
      ? openSqlite(join(dataDir, SQLITE_FILE), { synchronous: "NORMAL", cacheKib: BACKGROUND_CACHE_KIB })
      : connectTo(openPool(url, { pool: 1, reads: !isPatient, log }));
  return {
    dialect: url === undefined ? sqliteDialect : postgresDialect,
    read: db,
    close: () => db.destroy(),
  };
}

const BACKGROUND_CACHE_KIB = 2_048;
/** Cache of the connection that serves requests. An evicted page is usually still in the cache of the system, which all processes share. */
const READ_CACHE_KIB = 16_384;

/** Reads never wait for each other, but a request that also writes may wait for the lock, and must not keep others from reading. */
const SQLITE_READERS = 8;

/** How long the write of a request waits for others, so that the client gets an error before it gives up. */
const REQUEST_PATIENCE_MS = 2_000;

interface GuardedDatabase {
  database: Database;
  /** From now on, writes to a store of another version are refused. */
  guard(): void;
}

function openPostgresDatabase({
  url,
  readUrl,
  pool,
  clock,
  log,
}: DatabaseOptions & { url: string; clock: Clock }): GuardedDatabase {
  const primary = openPool(url, { pool, reads: true, log });
  const writers = openPool(url, { pool: Math.max(2, Math.ceil(pool / 2)), reads: false, log });
  const { db: read, prepare } = connectTo(primary);
  const { db: write } = connectTo(writers);
  const replica = readUrl === undefined ? undefined : openPool(readUrl, { pool, reads: true, log });
  const slow = replica && connectTo(new ReplicaPool({ replica, primary, clock, log }));
  const database: Database = {
    dialect: postgresDialect,
    read,
    slowReads: { read: slow?.db ?? read, prepare: slow?.prepare ?? prepare },
    prepare,
    write,
    durable: write,
    maxReaders: pool,
    checkFile: () => {},
    writes: () => writers.turns,
    pools: () => [
      { name: "reads", ...primary.state },
      { name: "writes", ...writers.state },
      ...(replica === undefined ? [] : [{ name: "replica", ...replica.state } as const]),
    ],
    async close() {
      await Promise.all([slow?.db.destroy(), read.destroy(), write.destroy()]);
    },
  };
  return {
    database,
    guard: () => {
      writers.checkVersion = checkVersion;
    },
  };
}

function openSqliteDatabase(dataDir: string, writers: WriteQueue): GuardedDatabase {
  const inMemory = dataDir === ":memory:";
  const path = inMemory ? dataDir : join(dataDir, SQLITE_FILE);
  if (!inMemory) {
    openPrivateFolder(dataDir);
    // SQLite gives the files next to it the same mode.
    openPrivateFile(path);
    for (const suffix of ["-wal", "-shm"]) makePrivate(path + suffix);
  }
  const write = openSqlite(path, { synchronous: "NORMAL", writers });
  const durable = inMemory
    ? write
    : openSqlite(path, { synchronous: "FULL", writers, patienceMs: REQUEST_PATIENCE_MS });
  const read = inMemory ? write : openSqlite(path, { synchronous: "NORMAL", cacheKib: READ_CACHE_KIB });
  const isSame = inMemory ? () => true : sameFile(path);
  const checkFile = () => {
    if (!isSame()) throw new DatabaseFault("unavailable", new StoreRefused(REPLACED));
  };
  const database: Database = {
    dialect: sqliteDialect,
    read: read.db,
    slowReads: { read: read.db, prepare: read.prepare },
    prepare: read.prepare,
    write: write.db,
    durable: durable.db,
    maxReaders: SQLITE_READERS,
    checkFile,
    writes: () => writers.turns,
    pools: () => [],
    async close() {
      for (const connection of new Set([read, write, durable])) await connection.close();
    },
  };
  return {
    database,
    guard: () => {
      writers.check = (version) => {
        checkFile();
        checkVersion(version);
      };
    },
  };
}

const REPLACED = "The file of the database was removed or replaced while it was open: restart this process.";

/** Returns a function that tells whether the path still leads to the same file. */
function sameFile(path: string): () => boolean {
  const { dev, ino } = statSync(path);
  return () => {
    const now = statSync(path, { throwIfNoEntry: false });
    return now?.ino === ino && now.dev === dev;
  };
}
