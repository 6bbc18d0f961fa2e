import { type RawBuilder, sql } from "kysely";
import type { BulkRow, BulkTable, Dialect, Tx } from "./dialect.js";

/** Rows to insert or to merge into the existing ones: `sets` names a column of both, as in `n = t.n + excluded.n`. */
export interface Merge extends BulkTable {
  rows: readonly BulkRow[];
  sets: RawBuilder<unknown>;
}

/** Inserts the rows whose key is new and merges the others, with one statement. Keys must be unique within `rows`. */
export async function mergeRows(
  tx: Tx,
  dialect: Dialect,
  { table, columns, key, rows, sets }: Merge,
): Promise<void> {
  if (rows.length === 0) return;
  const names = sql.raw(Object.keys(columns).join(", "));
  // Without a condition SQLite would parse "on conflict" as part of a join.
  await sql`insert into ${sql.table(table)} (${names}) select ${names} from (${dialect.rowsOf(columns, rows)}) as more
    where true on conflict (${sql.raw(key.join(", "))}) do update set ${sets}`.execute(tx);
}
