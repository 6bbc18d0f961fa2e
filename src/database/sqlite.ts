import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { CompiledQuery, Kysely, SqliteDialect as KyselySqliteDialect, sql } from "kysely";
import { isOlder } from "../lib/node-version.js";
import { type BulkRow, type Dialect, replacing, type Tx } from "./dialect.js";
import { DatabaseFault, type FaultKind, StoreRefused } from "./fault.js";
import { bound, type Prepare, Slot } from "./prepared.js";
import type { Schema } from "./schema/schema.js";
import { SqliteWriterDialect, type WriteQueue } from "./sqlite-writer.js";

export const SQLITE_FILE = "sidereal.db";
/** Older versions can corrupt the write-ahead log with two connections; one later release was withdrawn. */
const OLDEST_SAFE = "3.51.3";
const WITHDRAWN = "3.52.0";

/** How long a statement blocks the thread while another process holds the whole file, as it may when it opens or closes it. */
const OPEN_TIMEOUT_MS = 5_000;
/** How long writes wait for other ones by default. */
const PATIENCE_MS = 20_000;

/** Why this version of SQLite must not open a database file; undefined if it may. */
export function unsafeSqlite(version: string): string | undefined {
  if (!isOlder(version, OLDEST_SAFE) && version !== WITHDRAWN) return undefined;
  return `SQLite ${version} can corrupt its database; ${OLDEST_SAFE} or newer (not ${WITHDRAWN}) is needed. Use the Node.js of "npm ci".`;
}

interface SqliteOptions {
  /** FULL: a committed transaction survives a power cut. NORMAL: it survives a crash of this process. */
  synchronous: "FULL" | "NORMAL";
  /** Shared by all connections of this process that write to the file; a connection without it only reads. */
  writers?: WriteQueue;
  /** How long a write waits for those of others, without blocking the thread. Default: 20,000. */
  patienceMs?: number;
  /** Bound of the page cache. Default: 64 MiB. */
  cacheKib?: number;
}

/** A connection, and its prepared statements. */
interface SqliteConnection {
  db: Kysely<Schema>;
  prepare: Prepare;
  close(): Promise<void>;
}

/** Opens one connection. `path` may be ":memory:". */
export function openSqlite(path: string, options: SqliteOptions): SqliteConnection {
  const { synchronous, writers, patienceMs = PATIENCE_MS } = options;
  const readOnly = writers === undefined;
  const raw = translating(() => openRaw(path, options));
  const config = { database: new Connection(raw) };
  const db = new Kysely<Schema>({
    dialect: readOnly
      ? new KyselySqliteDialect(config)
      : new SqliteWriterDialect(config, {
          queue: writers,
          givesWay: synchronous === "NORMAL" && path !== ":memory:",
          patienceMs,
          isInTransaction: () => raw.isTransaction,
        }),
  });
  const close = async () => {
    await db.destroy();
    // Kysely leaves open what was never used.
    if (raw.isOpen) raw.close();
  };
  return { db, prepare: preparing(db, raw, readOnly), close };
}

function openRaw(path: string, { synchronous, writers, cacheKib = 65_536 }: SqliteOptions): DatabaseSync {
  const readOnly = writers === undefined;
  const raw = new DatabaseSync(path, {
    readOnly,
    timeout: OPEN_TIMEOUT_MS,
    enableForeignKeyConstraints: true,
    allowExtension: false,
  });
  const version = raw.prepare("select sqlite_version() as version").get()?.version;
  const problem = unsafeSqlite(String(version));
  if (problem !== undefined) {
    raw.close();
    throw new StoreRefused(problem);
  }
  if (!readOnly) raw.exec("pragma journal_mode = wal");
  raw.exec(`pragma synchronous = ${synchronous}`);
  raw.exec(`pragma cache_size = -${cacheKib}`);
  // Only "on" also overwrites pages that become free, which costs a write of each; no personal data is in those of "write".
  if (!readOnly) raw.exec(`pragma secure_delete = ${synchronous === "FULL" ? "on" : "fast"}`);
  raw.exec("pragma temp_store = memory; pragma mmap_size = 0");
  if (!readOnly) {
    // From here on, writes wait without blocking the thread.
    raw.exec("pragma busy_timeout = 0");
    refuseReadOnly(raw);
    if (synchronous === "NORMAL" && path !== ":memory:") sortInFiles(raw, dirname(path));
  }
  return raw;
}

/** A file that cannot be opened for writing is opened for reading by SQLite, which says so only when something is written. */
function refuseReadOnly(raw: DatabaseSync): void {
  try {
    raw.exec("begin; create table writable (a)");
  } catch (error) {
    // Another process may be writing, which is no reason to give up.
    if (primaryCode(error) !== READONLY) return;
    raw.close();
    throw new DatabaseFault("unavailable", error);
  } finally {
    if (raw.isOpen && raw.isTransaction) raw.exec("rollback");
  }
}

/**
 * Lets a connection sort more rows than its page cache holds in files, in parts. In memory SQLite sorts them as one list, which takes three
 * times as long for millions. The files have no name, so nothing is left of them; only the owner can enter the folder, and it has
 * room, as `/tmp` may be small.
 */
function sortInFiles(raw: DatabaseSync, folder: string): void {
  try {
    raw.exec(`pragma temp_store_directory = '${folder.replaceAll("'", "''")}'`);
    raw.exec("pragma temp_store = file");
  } catch {
    // The folder cannot be written. In memory it works too.
  }
}

/** Prepares statements for a connection. One that also writes is read in turn, as it may be inside a transaction. */
function preparing(db: Kysely<Schema>, raw: DatabaseSync, readOnly: boolean): Prepare {
  return <V, R>(build: Parameters<typeof bound<V, R>>[1]) => {
    let read: ((values: V) => R[]) | undefined;
    const prepared = () => {
      const { text, parametersOf } = bound(db, build);
      const statement = raw.prepare(text);
      statement.setReturnArrays(true);
      // The text of the statement decides the type of its rows.
      return (values: V) => statement.all(...(parametersOf(values) as SQLInputValue[])) as unknown[] as R[];
    };
    const run = (values: V) =>
      translating(() => {
        read ??= prepared();
        return read(values);
      });
    return readOnly
      ? async (values: V) => run(values)
      : (values: V) => db.connection().execute(async () => run(values));
  };
}

async function runEach(tx: Tx, text: string, rows: readonly BulkRow[]): Promise<boolean[]> {
  const batch = new RowBatch(rows);
  await tx.executeQuery(CompiledQuery.raw(text, [batch]));
  return batch.inserted;
}

function insertText(table: string, columns: readonly string[], conflict: string): string {
  const marks = columns.map(() => "?").join(", ");
  return `insert into ${table} (${columns.join(", ")}) values (${marks}) ${conflict}`;
}

/** A list as one parameter. */
function asJson(list: readonly unknown[] | Slot<never, readonly unknown[]>): string | Slot<never, string> {
  return list instanceof Slot
    ? new Slot((given: never) => JSON.stringify(list.of(given)))
    : JSON.stringify(list);
}

/** Name of the mark with the highest id that may not be allocated again. */
const RESERVED_ID = "reserved_id";

export const sqliteDialect: Dialect = {
  engine: "sqlite",
  libraryName: "sqlite",
  types: {
    integer: sql`integer`,
    ownId: sql`integer`,
    small: sql`smallint`,
    text: sql`text`,
    real: sql`real`,
    bytes: sql`blob`,
    libraryTime: sql`date`,
    libraryFlag: sql`integer`,
  },
  clustered: sql`without rowid`,

  exclusively: (db, _purpose, work) => db.transaction().execute(work),

  async allocateIds(tx, count, above) {
    const first = Math.max(await sqliteDialect.lastId(tx), above) + 1;
    return Array.from({ length: count }, (_, i) => first + i);
  },
  // Rows of `repositories` reserve their own ids; only those of removed rows need a note.
  async reserveId(tx, id) {
    await sql`insert into marks (name, value) values (${RESERVED_ID}, ${String(id)}) on conflict (name)
      do update set value = excluded.value where cast(excluded.value as integer) > cast(value as integer)`.execute(
      tx,
    );
  },

  async insertNew(tx, target, rows) {
    await sqliteDialect.insertReporting(tx, target, rows);
  },
  insertReporting: (tx, { table, columns }, rows) =>
    runEach(tx, insertText(table, Object.keys(columns), "on conflict do nothing"), rows),

  upsert: (tx, target, rows) => sqliteDialect.merge(tx, { ...target, sets: replacing(target) }, rows),
  async merge(tx, { table, columns, key, sets }, rows) {
    const conflict = `on conflict (${key.join(", ")}) do update set ${sets}`;
    await runEach(tx, insertText(table, Object.keys(columns), conflict), rows);
  },

  async updateRows(tx, { table, columns, key }, rows) {
    const names = Object.keys(columns);
    // Numbered parameters, since a statement has its key last.
    const equal = (name: string) => `${name} = ?${names.indexOf(name) + 1}`;
    const sets = names.filter((name) => !key.includes(name)).map(equal);
    await runEach(tx, `update ${table} set ${sets.join(", ")} where ${key.map(equal).join(" and ")}`, rows);
  },

  among(expression, values) {
    return sql<boolean>`${expression} in (select value from json_each(${asJson(values)}))`;
  },
  rowsOf(columns, rows) {
    const values = Object.keys(columns).map((name, i) => sql`value ->> ${sql.lit(i)} as ${sql.ref(name)}`);
    return sql`select ${sql.join(values)} from json_each(${asJson(rows)})`;
  },
  jsonArray: (expression) => sql`json_group_array(${expression})`,
  jsonRow: (values) => sql`json_array(${sql.join(values)})`,
  turnMs: 40,
  lockRow: sql``,

  async analyze(db, table) {
    await sql`pragma analysis_limit = 1000`.execute(db);
    await (table === undefined ? sql`analyze` : sql`analyze ${sql.table(table)}`).execute(db);
  },

  // No statement locks a table.
  isInUse: () => false,

  async eraseDeleted(db) {
    const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(db);
    return rows[0]?.busy === 0;
  },
  snapshot: (db, work) => db.transaction().execute(work),

  async insertPortable(tx, table, { columns, rows }) {
    const values = rows.map((row) =>
      row.map((value) => (typeof value === "object" && value ? Buffer.from(value.base64, "base64") : value)),
    );
    await runEach(tx, insertText(table, columns, ""), values);
  },
  async tables(db) {
    const { rows } = await sql<{ name: string }>`select name from sqlite_schema
      where type = 'table' and name not like 'sqlite_%'`.execute(db);
    return rows.map(({ name }) => name);
  },
  async lastId(db) {
    const { rows } = await sql<{ id: number }>`select max(
      coalesce((select max(id) from repositories), 0),
      coalesce((select cast(value as integer) from marks where name = ${RESERVED_ID}), 0)) as id`.execute(db);
    return rows[0]?.id ?? 0;
  },
  async reindex(db) {
    await sql`reindex`.execute(db);
  },
  // An id follows from the highest one.
  sequencesBehind: async () => [],
  advanceSequences: async () => {},

  serverTime: async () => undefined,

  async size(db) {
    const pages = await sql<{ bytes: number }>`
      select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`.execute(db);
    return pages.rows[0]?.bytes ?? 0;
  },
};

/** Maximum number of prepared statements kept per connection. */
const STATEMENT_CACHE = 500;
/** Statements that may change the columns of others or undo such a change, and settings, as many change when they are prepared. */
const UNREPEATABLE = /^\s*(create|alter|drop|rollback|pragma)\b/i;

/** Rows to run one statement with, one after the other; passed as its only parameter by `runEach`. */
export class RowBatch {
  readonly inserted: boolean[] = [];
  constructor(readonly rows: readonly BulkRow[]) {}
}

/** SQLITE_READONLY */
export const READONLY = 8;

/** Primary result codes of SQLite that mean a fault (sqlite.org/rescode.html). */
const KINDS: ReadonlyMap<number, FaultKind> = new Map([
  [5, "busy"], // SQLITE_BUSY
  [6, "busy"], // SQLITE_LOCKED
  [15, "busy"], // SQLITE_PROTOCOL
  [13, "full"], // SQLITE_FULL
  [10, "unavailable"], // SQLITE_IOERR
  [14, "unavailable"], // SQLITE_CANTOPEN
  [READONLY, "unavailable"],
]);

/** The primary result code of SQLite in an error: the low byte of the extended one; 0 if the error is none of SQLite's. */
export function primaryCode(error: unknown): number {
  return error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
}

/** SQLITE_IOERR, as of a file that is cut off, SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGED: readonly number[] = [10, 11, 26];

/** Whether an error says that the file is damaged. */
export function isDamaged(error: unknown): error is Error {
  return DAMAGED.includes(primaryCode(error));
}

const DAMAGE_HINT = 'The database is damaged: run "sidereal check", or restore a backup.';

/** Runs an operation of the engine and translates its errors to faults. */
export function translating<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const kind = KINDS.get(primaryCode(error));
    if (kind !== undefined) throw new DatabaseFault(kind, error);
    // The log has it next to the message.
    throw isDamaged(error) ? Object.assign(error, { hint: DAMAGE_HINT }) : error;
  }
}

/** Keeps the statements that it has prepared. */
export class Connection {
  readonly #raw: DatabaseSync;
  readonly #statements = new Map<string, Statement>();

  constructor(raw: DatabaseSync) {
    this.#raw = raw;
  }

  prepare(text: string): Statement {
    const known = this.#statements.get(text);
    if (known !== undefined) return known;
    const statement = new Statement(translating(() => this.#raw.prepare(text)));
    const isUnrepeatable = UNREPEATABLE.test(text);
    if (isUnrepeatable || this.#statements.size >= STATEMENT_CACHE) this.#statements.clear();
    if (!isUnrepeatable) this.#statements.set(text, statement);
    return statement;
  }

  close(): void {
    this.#statements.clear();
    this.#raw.close();
  }
}

type Row = Record<string, unknown>;

class Statement {
  readonly reader: boolean;
  readonly #raw: StatementSync;
  readonly #names: readonly string[];
  /** A row without values. Copying it and filling in the values takes half the time in which `node:sqlite` makes objects. */
  readonly #empty: Row;

  constructor(raw: StatementSync) {
    raw.setReturnArrays(true);
    this.#raw = raw;
    this.#names = raw.columns().map(({ name }) => name);
    this.#empty = Object.fromEntries(this.#names.map((name) => [name, null]));
    this.reader = this.#names.length > 0;
  }

  all(parameters: readonly unknown[]): Row[] {
    const rows: unknown[] = translating(() => this.#raw.all(...(parameters as SQLInputValue[])));
    // In place, as there may be very many.
    for (let i = 0; i < rows.length; i++) rows[i] = this.#rowOf(rows[i] as unknown[]);
    return rows as Row[];
  }

  run(parameters: readonly unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint } {
    const batch = parameters[0];
    return translating(() => {
      if (!(batch instanceof RowBatch)) return this.#raw.run(...(parameters as SQLInputValue[]));
      for (const row of batch.rows) batch.inserted.push(this.#raw.run(...row).changes !== 0);
      return { changes: 0, lastInsertRowid: 0 };
    });
  }

  iterate(): never {
    throw new Error("rows are not streamed here");
  }

  /** Columns that another connection has added since are left out. */
  #rowOf(values: readonly unknown[]): Row {
    const row = { ...this.#empty };
    for (let i = 0; i < this.#names.length; i++) row[this.#names[i] ?? ""] = values[i];
    return row;
  }
}
