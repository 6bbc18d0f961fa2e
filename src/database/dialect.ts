import type { Kysely, RawBuilder, Transaction } from "kysely";
import type { Schema } from "./schema.js";

export type Db = Kysely<Schema>;
export type Tx = Transaction<Schema>;

export type TableName = keyof Schema & string;
/** Column name → the PostgreSQL type its values are sent as. SQLite needs no types. */
export type BulkColumns = Readonly<Record<string, "bigint" | "smallint" | "text" | "double precision">>;
export type BulkRow = readonly (number | string | null)[];

/** A search as words that must all match; the last one matches as a prefix. `names` looks at owner and name only. */
export interface WordQuery {
  words: readonly string[];
  scope: "names" | "all";
}

/** The words of one repository: `names` from owner and name, `terms` from everything. Produced by `search/words.ts`. */
export interface WordDocument {
  repositoryId: number;
  names: readonly string[];
  terms: readonly string[];
}

/** Every difference between the two engines, each by name. No other file asks which engine it runs on. */
export interface Dialect {
  readonly engine: "sqlite" | "postgres";

  /** The sign-in library's name for this engine. */
  readonly libraryName: "sqlite" | "postgres";
  /**
   * Column types: a 64-bit integer, an auto-incremented id, text compared bytewise, a double; and a time and a boolean as
   * the sign-in library stores them. Released migrations rely on these: never change one.
   */
  readonly types: Readonly<
    Record<"integer" | "ownId" | "text" | "real" | "libraryTime" | "libraryFlag", RawBuilder<unknown>>
  >;
  /** Follows the column list of a table that is stored in the order of its primary key. Never change it either. */
  readonly clustered: RawBuilder<unknown>;
  /** Runs `work` in a transaction that only one process at a time can hold for this purpose. */
  exclusively<T>(db: Db, purpose: "migrate" | "catalogue", work: (tx: Tx) => Promise<T>): Promise<T>;

  /** Takes `count` fresh ids for `repositories`, in order and greater than `above`. Call inside `exclusively`. */
  allocateIds(tx: Tx, count: number, above: number): Promise<number[]>;
  /** Makes sure that ids up to `id`, which were inserted by hand, are never handed out again. */
  reserveId(tx: Tx, id: number): Promise<void>;

  /** Inserts rows whose key is not there yet and tells for each whether it was new. */
  insertNew(
    tx: Tx,
    table: TableName,
    columns: BulkColumns,
    key: readonly string[],
    rows: readonly BulkRow[],
  ): Promise<boolean[]>;
  /** Inserts rows, replacing all other columns where the key is there. Keys must differ within `rows`. */
  upsert(
    tx: Tx,
    table: TableName,
    columns: BulkColumns,
    key: readonly string[],
    rows: readonly BulkRow[],
  ): Promise<void>;

  /** Updates rows: the first `keyLength` columns say which, the others what they hold then. */
  updateRows(
    tx: Tx,
    table: TableName,
    columns: BulkColumns,
    keyLength: number,
    rows: readonly BulkRow[],
  ): Promise<void>;

  /** The condition `expression in values` with one parameter however many values there are. */
  among(expression: RawBuilder<unknown>, values: readonly number[] | readonly string[]): RawBuilder<boolean>;
  /** A select of the given rows, for joining them with tables, with one parameter (or one a column). */
  rowsOf(columns: BulkColumns, rows: readonly BulkRow[]): RawBuilder<unknown>;
  /** An expression that the planner will not look up in an index, where it would choose badly by itself. */
  unindexed(expression: RawBuilder<unknown>): RawBuilder<unknown>;
  /** Reads a row so that no other transaction can change it before this one ends. */
  readonly lockRow: RawBuilder<unknown>;
  /** Takes rows of the table called `alias` for this transaction, and passes over those that another one has taken. */
  lockFree(alias: string): RawBuilder<unknown>;

  /** Puts the documents into the search index, replacing those of the same repositories. */
  indexWords(tx: Tx, documents: readonly WordDocument[]): Promise<void>;
  /** Takes repositories out of the search index. */
  unindexWords(tx: Tx, repositoryIds: readonly number[]): Promise<void>;
  /** Orders the search index by the stars of today. Returns whether it had to. */
  reorderWords(tx: Tx): Promise<boolean>;
  /** A select of at most `limit` rows (`id`, `position`), the most popular first; `position` ascends. */
  matchWords(query: WordQuery, limit: number): RawBuilder<unknown>;

  /** Refreshes the planner's statistics after much has changed; of all tables, or of one. */
  analyze(db: Db, table?: TableName): Promise<void>;
  /**
   * Puts the table `next`, with its rows, indexes and statistics, in the place of `table`. Does not wait for readers of it
   * for long, as later readers would wait too: throws what `isInUse` is true of, and is to be tried again.
   */
  replaceTable(tx: Tx, table: TableName, next: TableName): Promise<void>;
  isInUse(error: unknown): boolean;
  /** Bytes the database takes on disk; 0 in memory. */
  size(db: Db): Promise<number>;
}
