import { type Kysely, type RawBuilder, sql } from "kysely";
import type { Schema } from "./schema/schema.js";

/** A value as the engine takes and returns it. */
export type Scalar = number | string | null;

/** The values of columns of a table, in the order of their names. */
export type ColumnValues<Table, Names extends readonly (keyof Table)[]> = {
  -readonly [I in keyof Names]: Table[Names[I]];
};

/** Where a prepared statement takes a value of each run. In SQL text it is written like a value. */
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
 * Prepares a statement that only reads: its text is made once, on first use, and the engine parses it once per connection.
 * Its plan must not depend on the values, since PostgreSQL may make one for all of them.
 */
export type Prepare = <V, R extends (Scalar | Uint8Array)[]>(
  build: (given: Given<V>) => RawBuilder<R>,
) => Prepared<V, R>;

/** A statement's text, and its parameters for the values of a run. */
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

/** The names as columns of a table alias: `r.id, r.name`. */
export function columnsOf(alias: string, names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map((name) => sql.ref(`${alias}.${name}`)));
}
