/** Restoring a store: its rows are written into a new one, which nobody sees before it is complete. */

import { existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type ControlledTransaction, type Kysely, sql } from "kysely";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import {
  type Db,
  type Dialect,
  newStoreName,
  type PortableRow,
  type PortableValue,
  type Tx,
} from "./dialect.js";
import { StoreRefused } from "./fault.js";
import { currentVersion, FIRST_VERSION, LATEST_VERSION, migrateIn } from "./migrate.js";
import { connectTo, openPool, postgresDialect } from "./postgres.js";
import { APPLICATION_NAME } from "./postgres-pool.js";
import { openPrivateFile, openPrivateFolder } from "./private-files.js";
import { type Schema, SHAPES, type TableShape } from "./schema/schema.js";
import { isDamaged, openSqlite, primaryCode, SQLITE_FILE, sqliteDialect } from "./sqlite.js";
import { WriteQueue } from "./sqlite-writer.js";

export interface StoreLocation {
  /** PostgreSQL address, or undefined for SQLite in `dataDir`. */
  url: string | undefined;
  dataDir: string;
}

interface RestoreOptions {
  clock: Clock;
  log: Logger;
  /** Version of the store that the backup was taken from. */
  version: number;
  /** Whether to replace a store that is there. */
  replaces: boolean;
  /** In ms since 1970: the name under which a replaced SQLite file is kept ends with it. */
  at: number;
}

/** The differences between the engines. */
interface Place {
  db: Kysely<Schema>;
  dialect: Dialect;
  /** Makes room for the new store. */
  begin(tx: Tx): Promise<void>;
  /** Puts the committed store in its place, and closes the connection. */
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

/** A store that is being restored. An earlier store stays as it is until `finish`. */
export class RestoredStore {
  readonly tx: ControlledTransaction<Schema>;
  readonly dialect: Dialect;
  readonly #place: Place;
  readonly #clock: Clock;
  readonly #begun = new Set<string>();

  private constructor(tx: ControlledTransaction<Schema>, place: Place, clock: Clock) {
    this.tx = tx;
    this.dialect = place.dialect;
    this.#place = place;
    this.#clock = clock;
  }

  /** Prepares a place for a store. Throws StoreRefused if one is there that is not to be replaced, or in use. */
  static async open({ url, dataDir }: StoreLocation, options: RestoreOptions): Promise<RestoredStore> {
    const { clock, version } = options;
    if (version > LATEST_VERSION)
      throw new StoreRefused(
        `The backup is of version ${version}, made by a newer Sidereal; this one knows ${LATEST_VERSION}. Update the program.`,
      );
    if (version < FIRST_VERSION)
      throw new StoreRefused(
        `The backup is of version ${version}, and this Sidereal restores version ${FIRST_VERSION} or later. Restore it with the Sidereal that took it, export that database, and import the file into a new one.`,
      );
    const place = url === undefined ? sqlitePlace(dataDir, options) : postgresPlace(url, options);
    const store = new RestoredStore(await place.db.startTransaction().execute(), place, clock);
    try {
      await place.begin(store.tx);
      await migrateIn(store.tx, place.dialect, { clock, to: version });
      return store;
    } catch (error) {
      await store.abandon();
      throw error;
    }
  }

  async insert(table: string, columns: readonly string[], rows: readonly PortableRow[]): Promise<void> {
    // Migrations insert a few rows.
    if (!this.#begun.has(table)) await sql`delete from ${sql.table(table)}`.execute(this.tx);
    this.#begun.add(table);
    await this.dialect.insertPortable(this.tx, table, { columns, rows });
  }

  /** Migrates the rows to the version of this program. `lastId`: the highest id that a repository has had; 0: none. */
  async complete(lastId: number): Promise<void> {
    const { tx, dialect } = this;
    await migrateIn(tx, dialect, { clock: this.#clock });
    if (lastId > (await dialect.lastId(tx))) await dialect.reserveId(tx, lastId);
    await dialect.advanceSequences(tx);
    // Positions in the log of changes of the store that the backup was taken from are refused.
    await sql`update revision set store = ${newStoreName()} where id = 1`.execute(tx);
  }

  /** Puts the store in its place. */
  async finish(): Promise<void> {
    await this.tx.commit().execute();
    await this.#place.finish();
  }

  /** Leaves everything as it was before. */
  async abandon(): Promise<void> {
    // A connection that is lost has rolled back, and is not given back.
    const closing = this.tx.rollback().execute();
    await closing.then(this.#place.abandon, () => void this.#place.abandon());
  }
}

/** Suffixes of the files that belong to a database. */
const LOGS = ["-wal", "-shm", "-journal"] as const;

/** A file next to its final name, which it takes in one step. */
function sqlitePlace(dataDir: string, { clock, replaces, at }: RestoreOptions): Place {
  if (dataDir === ":memory:") throw new StoreRefused("A database in memory cannot be restored.");
  openPrivateFolder(dataDir);
  const path = join(dataDir, SQLITE_FILE);
  const isThere = existsSync(path);
  if (isThere && !replaces)
    throw new StoreRefused(`There is a database at ${path} already. Use --replace to replace it.`);
  const partial = `${path}.restoring`;
  const removePartial = () => {
    for (const suffix of ["", ...LOGS]) rmSync(partial + suffix, { force: true });
  };
  removePartial();
  openPrivateFile(partial);
  const { db } = openSqlite(partial, { synchronous: "FULL", writers: new WriteQueue(clock) });
  return {
    db,
    dialect: sqliteDialect,
    async begin() {
      if (isThere) closeUnused(path);
    },
    async finish() {
      await db.destroy();
      if (isThere) {
        closeUnused(path);
        const kept = `${path}.replaced-${at}`;
        // A log of the old database would be applied to the new one.
        for (const suffix of LOGS) if (existsSync(path + suffix)) renameSync(path + suffix, kept + suffix);
        linkSync(path, kept);
      }
      renameSync(partial, path);
      await syncFolder(dataDir);
    },
    async abandon() {
      await db.destroy();
      removePartial();
    },
  };
}

/** The primary result code (sqlite.org/rescode.html) of a file that is in use. */
const BUSY = 5;

/** Makes sure that no process uses the database, and moves its log into the file. A damaged one is replaced as it is. */
function closeUnused(path: string): void {
  try {
    const raw = new DatabaseSync(path, { timeout: 0, allowExtension: false });
    try {
      // Only possible while nobody else has the file open.
      raw.exec("pragma journal_mode = delete");
    } finally {
      raw.close();
    }
  } catch (error) {
    if (primaryCode(error) === BUSY) throw new StoreRefused(IN_USE);
    if (!isDamaged(error)) throw error;
  }
}

const IN_USE = "A process uses the database. Stop the service first.";

/** Makes the names of the files in a folder survive a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The same schema, in one transaction. Tables of other programs stay. */
function postgresPlace(url: string, { log, replaces }: RestoreOptions): Place {
  const named = url.replace(/\?|$/, `?application_name=${RESTORE}&`);
  const { db } = connectTo(openPool(named, { pool: 1, reads: false, log }));
  const close = () => db.destroy();
  return {
    db,
    dialect: postgresDialect,
    async begin(tx) {
      const own = (await postgresDialect.tables(tx)).filter((name) =>
        SHAPES.some((shape) => shape.name === name),
      );
      if (own.length > 0) {
        if (!own.includes("schema_version"))
          throw new StoreRefused(
            `The database has tables with names of ours that may belong to another program: ${own.join(", ")}. Drop them if not, or restore into another schema.`,
          );
        if (!replaces)
          throw new StoreRefused("The database already has a store. Use --replace to replace it.");
        if ((await currentVersion(tx)) > LATEST_VERSION)
          throw new StoreRefused("The database was made by a newer Sidereal. Update the program.");
        await refuseIfUsed(tx);
        await sql`drop table ${sql.join(own.map((name) => sql.table(name)))}`
          .execute(tx)
          .catch((error: Error) => {
            throw new StoreRefused(`The tables of the store cannot be dropped: ${error.message}.`, {
              cause: error,
            });
          });
      }
      await sql`drop sequence if exists repositories_id_seq`.execute(tx);
    },
    finish: close,
    abandon: close,
  };
}

/** How a restore names itself in brackets: it is no service, and one that was killed may still be there for a moment. */
const RESTORE = "restore";
/** Checks for other users for one second. */
const LOOKS = 10;

async function refuseIfUsed(tx: Tx): Promise<void> {
  for (let looks = 0; looks < LOOKS; looks++) {
    const { rows } = await sql`select 1 from pg_stat_activity where datname = current_database()
      and application_name like ${`${APPLICATION_NAME}%`}
      and application_name not like ${`${APPLICATION_NAME} (${RESTORE})%`} limit 1`.execute(tx);
    if (rows.length === 0) return;
    // A service that has just stopped leaves its connections for a moment. The view stays the same within a transaction.
    await sql`select pg_stat_clear_snapshot(), pg_sleep(0.1)`.execute(tx);
  }
  throw new StoreRefused(IN_USE);
}

/** Rows read at a time. */
const BATCH = 1_000;

/** Reads a table in the order of its primary key, some rows at a time. `db`: a transaction that sees one state. */
export async function* readRows(
  db: Db,
  { name, columns, key }: Pick<TableShape, "name" | "columns" | "key">,
): AsyncGenerator<PortableRow[]> {
  const refs = (names: readonly string[]) => sql.join(names.map((one) => sql.ref(one)));
  for (let after: unknown[] | undefined; ; ) {
    const rest = after === undefined ? sql`` : sql`where (${refs(key)}) > (${sql.join(after)})`;
    const { rows } = await sql<
      Record<string, unknown>
    >`select ${refs(columns)} from ${sql.table(name)} ${rest}
      order by ${refs(key)} limit ${sql.lit(BATCH)}`.execute(db);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = key.map((column) => last[column]);
    yield rows.map((row) => columns.map((column) => portable(row[column])));
    if (rows.length < BATCH) return;
  }
}

function portable(value: unknown): PortableValue {
  if (value === null || typeof value === "number" || typeof value === "string") return value;
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString("base64") };
  if (value instanceof Date) return value.toISOString();
  if (typeof value === "boolean") return Number(value);
  throw new Error(`a value of the type ${typeof value} is in no table`);
}
