/**
 * The database: opens and migrates it, and provides connections by the durability that a write needs. It is one SQLite file
 * in the data directory, or PostgreSQL; no other module depends on which. Failures of the engine are thrown as DatabaseFault.
 * What the rows mean is up to other modules.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Clock, type ServerClock, systemClock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { unsafeNode } from "../lib/node-version.js";
import type { StoreLocation } from "./backup/parts.js";
import type { Db, Dialect } from "./dialect.js";
import { StoreRefused } from "./fault.js";
import { migrate } from "./migrate.js";
import { openPostgres, postgresDialect } from "./postgres.js";
import { ServerWatch } from "./postgres-watch.js";
import type { Prepare } from "./prepared.js";
import { makePrivate, openPrivateFile, openPrivateFolder } from "./private-files.js";
import { connectReplicas, type PublicConnections, type ReplicaOptions } from "./replicas/public-reads.js";
import type { ReplicaStatus } from "./replicas/status.js";
import { openScanner } from "./scanner.js";
import { followServerTime } from "./server-time.js";
import { openSqlite, SQLITE_FILE, sqliteDialect } from "./sqlite.js";
import { WriteQueue } from "./sqlite-writer.js";

export { openBackupSource, openRestoreTarget, sqliteFiles } from "./backup/backup.js";
export {
  allOf,
  type BackupPart,
  BackupRefused,
  type BackupSource,
  type RestoreOptions,
  type RestoreTarget,
  type StoreLocation,
} from "./backup/parts.js";
export { syncFolder } from "./backup/sqlite-backup.js";
export { BatchSize } from "./batch-size.js";
export type { PreviousNameTable, RepositoryTable } from "./catalogue-schema.js";
export { DELETED_SHARE, DeletionClock, deleteOld } from "./deletion-clock.js";
export type { BulkColumns, BulkRow, BulkTable, Db, Dialect, MergedTable, TableName, Tx } from "./dialect.js";
export { DISTRIBUTED_TABLES } from "./distribution/citus.js";
export {
  type DistributionOptions,
  DistributionRefused,
  distribute,
  readDistribution,
  type TableMoved,
  undistribute,
} from "./distribution/distribution.js";
export type { DistributionStatus } from "./distribution/status.js";
export { DatabaseFault, databaseFault, type FaultKind, StoreRefused } from "./fault.js";
export {
  checkReferences,
  checkSchema,
  createIndexes,
  type ReferenceSchema,
  readReference,
  type SchemaDamage,
} from "./inspect/schema-check.js";
export { type FileDamage, inspectFile } from "./inspect/sqlite-file.js";
export type {
  UsageAllowanceTable,
  UsageCallerTable,
  UsageEventTable,
  UsageRouteTable,
} from "./member-schema.js";
export { LATEST_VERSION } from "./migrate.js";
export {
  type ColumnValues,
  columnsOf,
  type Given,
  type Prepare,
  type Prepared,
  type Scalar,
} from "./prepared.js";
export { createSecret, makePrivate, secretInFile } from "./private-files.js";
export type { FacetPartTable, RollupTable } from "./rankings-schema.js";
export type { ReplicaOptions } from "./replicas/public-reads.js";
export { REPLICA_WORDS, ReplicaRefused, type ReplicaState, type ReplicaStatus } from "./replicas/status.js";
export { createRollupTable, INDEXED_ROLLUP_COLUMNS, indexRollupTable } from "./rollup-tables.js";
export type { SearchStateTable } from "./search-schema.js";
export type { TrackListTable, TrackRequestTable } from "./tracking-schema.js";

export interface Database {
  readonly dialect: Dialect;
  /** Where other threads find it; undefined for one in memory, which only this one has. */
  readonly location: StoreLocation | undefined;
  /** For requests: read-only (SQLite), or with a statement timeout (PostgreSQL). Sees every commit of this process. */
  readonly read: Db;
  /**
   * Like `read`, for statements that may read much of the catalogue, without blocking the thread. On SQLite a fifth concurrent one
   * fails as `busy`.
   */
  readonly scan: Db;
  /** Prepares a statement for requests, to run like those of `read`. Modules prepare each of theirs once. */
  readonly prepare: Prepare;
  /** For snapshots, rollups, usage: a commit survives a crash of this process; a power cut may lose the last seconds. */
  readonly write: Db;
  /** For accounts, keys, watchlists: a commit survives a power cut. */
  readonly durable: Db;
  /** How many requests may read at the same time; further ones would only wait for a connection. */
  readonly maxReaders: number;
  /** Grows whenever this process has written something; what other processes write does not show. */
  writes(): number;
  /** Where public data may be read from instead; undefined without replicas. */
  readonly publicReads: PublicReads | undefined;
  close(): Promise<void>;
}

/**
 * Reads of public data, from a replica where one is usable and otherwise from the primary. They may be older than what this process
 * has written, so data of people, and data that is read in order to be changed, is read with `Database.read`.
 */
export interface PublicReads {
  /** The same database with other connections, which cannot write. */
  readonly database: Database;
  /** Grows whenever reads go to another server, whose state may be older: cached results of earlier reads must be discarded. */
  generation(): number;
  /** Where other threads read from now. */
  location(): StoreLocation;
  /** The replicas, in the order in which this process prefers them. */
  status(): ReplicaStatus[];
}

export interface DatabaseOptions {
  /** PostgreSQL address, or undefined for SQLite in `dataDir`. */
  url: string | undefined;
  /** Folder of the SQLite file, created if missing; ":memory:" keeps everything in this process. */
  dataDir: string;
  pool: number;
  log: Logger;
  /** Replicas of a PostgreSQL database, to read public data from. */
  replicas?: ReplicaOptions | undefined;
  /** For waiting until other processes have written; default: the clock of the system, since those do not know another one. */
  clock?: Clock;
  /** A clock that follows that of the server while the database is open; stays that of the machine without a server. */
  serverClock?: ServerClock | undefined;
}

/**
 * Opens and migrates the database. Throws, with a message for the operator, if it is unsafe, too new or unreachable, and
 * ReplicaRefused if one of the replicas is a copy of another database. A replica that cannot be reached is used once it can.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const problem = unsafeNode(process.version);
  if (problem !== undefined) throw new StoreRefused(problem);
  const { url, dataDir, log, serverClock, clock = systemClock } = options;
  const closing = new AbortController();
  const { database, replicas } =
    url === undefined
      ? { database: openSqliteDatabase(dataDir, new WriteQueue(clock)) }
      : openPostgresDatabase({ ...options, clock }, url, () => closing.abort());
  const { serverTime } = database.dialect;
  try {
    await migrate(database.durable, database.dialect, { clock });
    if (serverClock !== undefined && serverTime !== undefined)
      await followServerTime(serverClock, () => serverTime(database.durable), {
        log,
        signal: closing.signal,
      });
    await replicas?.start();
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
 * cannot write. Not for a database in memory, which has one connection.
 */
export function openBackgroundReader({
  url,
  dataDir,
  log,
}: Omit<DatabaseOptions, "pool" | "clock">): Database {
  const watch = url === undefined ? undefined : new ServerWatch({ url, clock: systemClock, log });
  const { db: read, prepare } =
    url === undefined || watch === undefined
      ? openSqlite(join(dataDir, SQLITE_FILE), { synchronous: "NORMAL", cacheKib: BACKGROUND_CACHE_KIB })
      : openPostgres(url, { pool: 1, reads: true, watch, log });
  return onlyReading({
    dialect: url === undefined ? sqliteDialect : postgresDialect,
    location: { url, dataDir },
    read,
    scan: read,
    prepare,
    maxReaders: 1,
    async close() {
      watch?.close();
      await read.destroy();
    },
  });
}

/** A database whose connections cannot write. */
function onlyReading(
  reading: Pick<Database, "dialect" | "location" | "read" | "scan" | "prepare" | "maxReaders" | "close">,
): Database {
  return {
    ...reading,
    get write(): Db {
      throw new Error(ONLY_READS);
    },
    get durable(): Db {
      throw new Error(ONLY_READS);
    },
    writes: () => 0,
    publicReads: undefined,
  };
}

const ONLY_READS = "this connection to the database only reads";

const BACKGROUND_CACHE_KIB = 2_048;
/** Of the connection that serves. A page that drops out is mostly still in the system's cache, where all processes share it. */
const READ_CACHE_KIB = 16_384;

/** Reads never wait for each other, but a request that also writes may wait for the lock, and must not keep others from reading. */
const SQLITE_READERS = 8;

/** How long the write of a request waits for others, so that its sender gets an error before giving up. */
const REQUEST_PATIENCE_MS = 2_000;

function openPostgresDatabase(
  options: Pick<DatabaseOptions, "pool" | "dataDir" | "log" | "replicas"> & { clock: Clock },
  url: string,
  onClose: () => void,
): { database: Database; replicas: PublicConnections | undefined } {
  const { pool, dataDir, clock, log } = options;
  const watch = new ServerWatch({ url, clock, log });
  const replicas =
    options.replicas &&
    connectReplicas({ ...options.replicas, primaryUrl: url, primaryWatch: watch, pool, clock, log });
  const half = Math.max(2, Math.ceil(pool / 2));
  // With replicas, only what belongs to people is read here.
  const read = openPostgres(url, { pool: replicas === undefined ? pool : half, reads: true, watch, log });
  const write = openPostgres(url, { pool: half, reads: false, watch, log });
  const close = async () => {
    onClose();
    watch.close();
    await Promise.all([replicas?.close(), read.db.destroy(), write.db.destroy()]);
  };
  const database: Database = {
    dialect: postgresDialect,
    location: { url, dataDir },
    read: read.db,
    scan: read.db,
    prepare: read.prepare,
    write: write.db,
    durable: write.db,
    maxReaders: pool,
    writes: write.turns,
    publicReads: replicas && publicReadsOver(replicas, { location: { url, dataDir }, maxReaders: pool }),
    close,
  };
  return { database, replicas };
}

function publicReadsOver(
  replicas: PublicConnections,
  { location, maxReaders }: { location: StoreLocation; maxReaders: number },
): PublicReads {
  return {
    database: onlyReading({
      dialect: postgresDialect,
      location,
      read: replicas.db,
      scan: replicas.db,
      prepare: replicas.prepare,
      maxReaders,
      close: async () => {},
    }),
    generation: () => replicas.sources.generation,
    location: () => ({ ...location, url: replicas.url() }),
    status: replicas.status,
  };
}

function openSqliteDatabase(dataDir: string, writers: WriteQueue): Database {
  if (dataDir === ":memory:") {
    const { db, prepare } = openSqlite(":memory:", { synchronous: "NORMAL", writers });
    return {
      dialect: sqliteDialect,
      location: undefined,
      read: db,
      scan: db,
      prepare,
      write: db,
      durable: db,
      maxReaders: SQLITE_READERS,
      writes: () => writers.turns,
      publicReads: undefined,
      close: () => db.destroy(),
    };
  }
  openPrivateFolder(dataDir);
  const path = join(dataDir, SQLITE_FILE);
  // SQLite gives the files beside it the same mode.
  openPrivateFile(path);
  for (const suffix of ["-wal", "-shm"]) makePrivate(path + suffix);
  const durable = openSqlite(path, { synchronous: "FULL", writers, patienceMs: REQUEST_PATIENCE_MS });
  const write = openSqlite(path, { synchronous: "NORMAL", writers });
  const read = openSqlite(path, { synchronous: "NORMAL", cacheKib: READ_CACHE_KIB });
  const scan = openScanner(path);
  const close = async () => {
    for (const db of [scan, read.db, write.db, durable.db]) await db.destroy();
  };
  return {
    dialect: sqliteDialect,
    location: { url: undefined, dataDir },
    read: read.db,
    scan,
    prepare: read.prepare,
    write: write.db,
    durable: durable.db,
    maxReaders: SQLITE_READERS,
    writes: () => writers.turns,
    publicReads: undefined,
    close,
  };
}
