import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Schema } from "./schema/schema.js";

/** A value as passed to the engine and returned by it. */
export type Scalar = number | string | null;

/** The values of columns of a table, in the order of their names. */
type ColumnValues<Table, Names extends readonly (keyof Table)[]> = {
  -readonly [I in keyof Names]: Table[Names[I]];
};

/** A parameter of a prepared statement, chosen from the values of each run. In SQL text it is written like a value. */
export class Slot<V, T> {
  readonly of: (values: V) => T;

  constructor(of: (values: V) => T) {
    this.of = of;
  }
}

/** Makes the slot of a value, given how to find it among the values of a run. */
export type Given<V> = <T extends Scalar | readonly number[] | readonly (readonly Scalar[])[]>(
  of: (values: V) => T,
) => Slot<V, T>;

/** Runs a prepared statement. Each row is an array of its columns, in the order of the statement. */
export type Prepared<V, R> = (values: V) => Promise<R[]>;

/**
 * Prepares a read-only statement. Its text is built once, on first use, and parsed once per connection. Its plan must suit all
 * values, since PostgreSQL may use one plan for all of them.
 */
export type Prepare = <V, R extends (Scalar | Uint8Array)[]>(
  build: (given: Given<V>) => RawBuilder<R>,
) => Prepared<V, R>;

/** The text of a statement, and a function that returns its parameters for the values of a run. */
export interface Bound<V> {
  text: string;
  parametersOf: (values: V) => unknown[];
}

/** The text of a statement and where its parameters come from. `db` decides the syntax. */
export function bound<V, R>(db: Kysely<Schema>, build: (given: Given<V>) => RawBuilder<R>): Bound<V> {
  const { sql: text, parameters } = build((of) => new Slot(of)).compile(db);
  return {
    text,
    parametersOf: (values) =>
      parameters.map((parameter) => (parameter instanceof Slot ? parameter.of(values) : parameter)),
  };
}

/** The position of each name in a list of names. */
type Positions<Names extends readonly string[]> = {
  readonly [I in keyof Names as I extends `${number}`
    ? Names[I] & string
    : never]: I extends `${infer At extends number}` ? At : never;
};

/** Columns of a table as prepared statements select them. */
export interface Columns<Table, Names extends readonly (keyof Table & string)[]> {
  readonly names: Names;
  /** As a select list: `r.id, r.name`. */
  readonly sql: RawBuilder<unknown>;
  /** The index of each value in a row that begins with them: `row[at.name]`. */
  readonly at: Positions<Names>;
  /** Their number, which is the index of the first value after them. */
  readonly count: Names["length"];
}

/** A row of these columns. */
export type ValuesOf<C> = C extends Columns<infer Table, infer Names> ? ColumnValues<Table, Names> : never;

/** Columns of a table under an alias. */
export function columns<
  Name extends keyof Schema,
  const Names extends readonly (keyof Schema[Name] & string)[],
>(_table: Name, alias: string, names: Names): Columns<Schema[Name], Names> {
  const at = Object.fromEntries(names.map((name, index) => [name, index])) as Positions<Names>;
  const refs = names.map((name) => sql.ref(`${alias}.${name}`));
  return { names, sql: sql.join(refs), at, count: names.length };
}
