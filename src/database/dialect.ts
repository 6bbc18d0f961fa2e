import { randomBytes } from "node:crypto";
import { type Kysely, type RawBuilder, sql, type Transaction } from "kysely";
import type { Scalar, Slot } from "./prepared.js";
import type { ColumnType } from "./schema/describe.js";
import type { BulkColumns, BulkTable, Schema, TableName } from "./schema/schema.js";

export type Db = Kysely<Schema>;
export type Tx = Transaction<Schema>;

export type BulkRow = readonly (number | string | Uint8Array | null)[];

/** A value that means the same on both engines. A time of the sign-in library is an ISO text, and a boolean is 0 or 1. */
export type PortableValue = number | string | null | { base64: string };
export type PortableRow = PortableValue[];

/** A table whose rows are merged: `sets` names a column of both rows, as in `n = t.n + excluded.n`. */
export interface MergedTable extends BulkTable {
  sets: string;
}

/** The `sets` of a table whose rows are replaced. */
export function replacing({ columns, key }: BulkTable): string {
  const names = Object.keys(columns).filter((name) => !key.includes(name));
  return names.map((name) => `${name} = excluded.${name}`).join(", ");
}

/** Every difference between the two engines. No file outside this folder depends on the engine. */
export interface Dialect {
  readonly engine: "sqlite" | "postgres";

  /** The sign-in library's name for this engine. */
  readonly libraryName: "sqlite" | "postgres";
  /**
   * Column types: a 64-bit integer, an auto-incremented id, a small integer, text compared bytewise, a double, bytes; and a time and a
   * boolean as the sign-in library stores them. Released migrations rely on these: never change one.
   */
  readonly types: Readonly<Record<ColumnType, RawBuilder<unknown>>>;
  /** Follows the column list of a table that is stored in the order of its primary key. Never change it either. */
  readonly clustered: RawBuilder<unknown>;
  /** Runs `work` in a transaction under a lock that only one process at a time can hold for this purpose. */
  exclusively<T>(db: Db, purpose: "migrate" | "catalogue", work: (tx: Tx) => Promise<T>): Promise<T>;

  /** Allocates `count` new ids for `repositories`, ascending and greater than `above`. Call inside `exclusively`. */
  allocateIds(tx: Tx, count: number, above: number): Promise<number[]>;
  /** Ensures that ids up to `id`, which were inserted explicitly, are never allocated. */
  reserveId(tx: Tx, id: number): Promise<void>;

  /** Inserts rows whose key is new. */
  insertNew(tx: Tx, target: BulkTable, rows: readonly BulkRow[]): Promise<void>;
  /** Inserts rows whose key is new. Returns for each row whether it was inserted. */
  insertReporting(tx: Tx, target: BulkTable, rows: readonly BulkRow[]): Promise<boolean[]>;
  /** Inserts rows, or updates all other columns if the key exists. Keys must be unique within `rows`. */
  upsert(tx: Tx, target: BulkTable, rows: readonly BulkRow[]): Promise<void>;
  /** Inserts rows, or merges them into existing ones with their key. Keys must be unique within `rows`. */
  merge(tx: Tx, target: MergedTable, rows: readonly BulkRow[]): Promise<void>;
  /** Sets the columns of `target` outside its key, if the key exists. */
  updateRows(tx: Tx, target: BulkTable, rows: readonly BulkRow[]): Promise<void>;

  /** The condition `expression in values`, with one parameter for all. A slot holds a list of integers. */
  among(
    expression: RawBuilder<unknown>,
    values: readonly number[] | readonly string[] | Slot<never, readonly number[]>,
  ): RawBuilder<boolean>;
  /** A select of the given rows, with one parameter in all or per column. Takes no bytes. A slot holds a list of rows. */
  rowsOf(
    columns: BulkColumns,
    rows: readonly BulkRow[] | Slot<never, readonly (readonly Scalar[])[]>,
  ): RawBuilder<unknown>;
  /** Aggregates an expression over all rows, in their order, as the text of a JSON array: the cheapest way to read many numbers. */
  jsonArray(expression: RawBuilder<unknown>): RawBuilder<unknown>;
  /** The values of one row as a JSON array, to be aggregated by `jsonArray`. */
  jsonRow(values: readonly RawBuilder<unknown>[]): RawBuilder<unknown>;
  /** How long a long transaction should take, in ms, as all other writers wait for it; undefined: writers do not wait. */
  readonly turnMs: number | undefined;
  /** Ends a select whose rows no other transaction may change until this one ends. */
  readonly lockRow: RawBuilder<unknown>;
  /** Refreshes the planner's statistics, of one table or of all. Call after large changes. */
  analyze(db: Db, table?: TableName): Promise<void>;
  /** Whether a statement waited too long for the lock of a table. */
  isInUse(error: unknown): boolean;
  /**
   * Removes deleted and replaced data from the files of the database, as far as this program can do that. False if
   * others are reading or writing: then try again later. Blocks for the time of writing the log of the database.
   */
  eraseDeleted(db: Db): Promise<boolean>;
  /** Runs `work` in a transaction that only reads, and sees the state at its beginning however long it takes. */
  snapshot<T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Inserts rows of a backup, ids included. */
  insertPortable(
    tx: Tx,
    table: string,
    { columns, rows }: { columns: readonly string[]; rows: readonly PortableRow[] },
  ): Promise<void>;
  tables(db: Db): Promise<string[]>;
  /** The highest id that a repository has had; 0: none. */
  lastId(db: Db): Promise<number>;
  /** Rebuilds all indexes. Writers wait for it. */
  reindex(db: Db): Promise<void>;
  /** Tables whose next id is one that is taken, and how to continue after the highest one. */
  sequencesBehind(db: Db): Promise<string[]>;
  advanceSequences(db: Db): Promise<void>;
  /** Size of the database in bytes. */
  size(db: Db): Promise<number>;
  /** Reads the clock of the server, in ms since 1970, and whether it is another machine; undefined: there is no server. */
  serverTime(db: Db): Promise<{ ms: number; isRemote: boolean } | undefined>;
}

export async function readMark(db: Db, name: string): Promise<string | undefined> {
  const row = await db.selectFrom("marks").select("value").where("name", "=", name).executeTakeFirst();
  return row?.value;
}

export async function writeMark(db: Db, name: string, value: string): Promise<void> {
  await sql`insert into marks (name, value) values (${name}, ${value})
    on conflict (name) do update set value = excluded.value`.execute(db);
}

/** A document as it was written last, parsed, with its time in ms since 1970. */
export async function readDocument(db: Db, name: string): Promise<{ at: number; body: unknown } | undefined> {
  const row = await db
    .selectFrom("status_documents")
    .select(["at", "body"])
    .where("name", "=", name)
    .executeTakeFirst();
  return row && { at: Number(row.at), body: JSON.parse(row.body) };
}

export async function writeDocument(
  db: Db,
  name: string,
  document: { at: number; body: unknown },
): Promise<void> {
  const row = { at: document.at, body: JSON.stringify(document.body) };
  await db
    .insertInto("status_documents")
    .values({ name, ...row })
    .onConflict((conflict) => conflict.column("name").doUpdateSet(row))
    .execute();
}

/** The one number that a statement selects; `none` for null. */
export async function readNumber(db: Db, select: RawBuilder<unknown>, none = 0): Promise<number> {
  const { rows } = await select.execute(db);
  return Number(Object.values(rows[0] ?? {})[0] ?? none);
}

/** A random identity for a store. */
export function newStoreName(): string {
  return randomBytes(12).toString("base64url");
}

/** Rows of the first transaction, if others wait for it. */
const FIRST = 250;

/**
 * The number of rows to write in one transaction, so that other writers do not wait long: adapts to the time that previous ones
 * took. Always `most` if writers do not wait for each other.
 */
export class BatchSize {
  readonly #turnMs: number | undefined;
  readonly #most: number;
  readonly #least: number;
  #rows: number;

  /** `least`: fewer rows do not make a transaction much shorter, as part of its work does not depend on them. */
  constructor({ turnMs }: Pick<Dialect, "turnMs">, { least, most }: { least: number; most: number }) {
    this.#turnMs = turnMs;
    this.#least = least;
    this.#most = most;
    this.#rows = turnMs === undefined ? most : this.#bounded(FIRST);
  }

  get rows(): number {
    return this.#rows;
  }

  /** Notes how long a transaction with this number of rows took, without the time it waited for the lock. */
  note(rows: number, ms: number): void {
    // A smaller one, at the end, says little.
    if (this.#turnMs === undefined || rows < this.#rows) return;
    const factor = Math.min(2, Math.max(0.5, this.#turnMs / Math.max(ms, 1)));
    this.#rows = this.#bounded(Math.round(this.#rows * factor));
  }

  #bounded(rows: number): number {
    return Math.min(this.#most, Math.max(this.#least, rows));
  }
}
