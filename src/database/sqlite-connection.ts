/** The database interface that Kysely expects, on `node:sqlite`, for one connection. */
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { BulkRow } from "./dialect.js";
import { DatabaseFault, type FaultKind } from "./fault.js";

/** Maximum number of prepared statements kept per connection. */
const STATEMENT_CACHE = 500;
/** Statements that may change the columns of others or undo such a change, and settings, many of which change when they are prepared. */
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
