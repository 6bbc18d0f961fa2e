import type { Kysely, RawBuilder } from "kysely";
import type { RowsPool } from "./postgres-pool.js";
import { type Bound, bound, type Given, type Prepare, type Scalar } from "./prepared.js";
import type { Schema } from "./schema.js";

/**
 * From this number of columns on, all rows are sent as one JSON text, which takes this process half the time that many single
 * values take. PostgreSQL builds no array of more than 100.
 */
const MANY_COLUMNS = { from: 10, to: 100 };

/**
 * Prepares statements under names, by which each connection of the pool knows them after the first run. Equal statements share
 * one, so a connection keeps no more of them however often the modules over it are built.
 */
export function preparing(db: Kysely<Schema>, pool: RowsPool): Prepare {
  const names = new Map<string, string>();
  const nameOf = (text: string): string => {
    const name = names.get(text) ?? `sidereal_${names.size}`;
    names.set(text, name);
    return name;
  };
  return <V, R extends (Scalar | Uint8Array)[]>(build: (given: Given<V>) => RawBuilder<R>) => {
    let statement: Bound<V> | undefined;
    let asJson: string | undefined;
    return async (values: V) => {
      statement ??= bound(db, build);
      const parameters = statement.parametersOf(values);
      if (asJson !== undefined) {
        const { rows } = await pool.rows<[R[] | null]>({
          name: nameOf(asJson),
          text: asJson,
          values: parameters,
        });
        return rows[0]?.[0] ?? [];
      }
      const { text } = statement;
      const { rows, columns } = await pool.rows<R>({ name: nameOf(text), text, values: parameters });
      if (columns >= MANY_COLUMNS.from && columns <= MANY_COLUMNS.to) asJson = jsonText(text, columns);
      return rows;
    };
  };
}

/** A statement that returns the rows of another as a JSON array of arrays; null without rows. */
function jsonText(text: string, columns: number): string {
  const names = Array.from({ length: columns }, (_, i) => `c${i}`).join(", ");
  return `select json_agg(json_build_array(${names})) from (${text}) as t (${names})`;
}
