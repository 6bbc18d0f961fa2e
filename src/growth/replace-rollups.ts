import { sql } from "kysely";
import {
  type BulkRow,
  type BulkTable,
  type Dialect,
  INDEXED_ROLLUP_COLUMNS,
  type Tx,
} from "../database/database.js";
import { ROLLUPS } from "./rollups.js";

const NAMES = Object.keys(ROLLUPS.columns);
const KEY = { repository_id: "bigint", window_hours: "bigint" } as const;
/** Where the columns of INDEXED_ROLLUP_COLUMNS are in a row. */
const INDEXED = INDEXED_ROLLUP_COLUMNS.map((name) => NAMES.indexOf(name));
const ALL = (1 << INDEXED.length) - 1;
/** Sets of columns that are written apart in one transaction, each by a statement of its own. */
const MOST_SETS = 24;

/**
 * Replaces the rollups of repositories by new ones. Of a row that stays, columns with an index are only written if they have
 * changed, as writing them costs more than all the others: a refresh usually finds that little has moved.
 */
export async function replaceRollups(
  tx: Tx,
  dialect: Dialect,
  { ids, rows }: { ids: readonly number[]; rows: readonly BulkRow[] },
): Promise<void> {
  const stored = await tx
    .selectFrom("rollups")
    .select(["repository_id", "window_hours", ...INDEXED_ROLLUP_COLUMNS])
    .where(dialect.among(sql.ref("repository_id"), ids))
    .execute();
  const gone = new Map(stored.map((row) => [keyOf(row.repository_id, row.window_hours), row]));
  const fresh: BulkRow[] = [];
  const changed = new Map<number, BulkRow[]>();
  for (const row of rows) {
    const key = keyOf(Number(row[0]), Number(row[1]));
    const before = gone.get(key);
    gone.delete(key);
    if (before === undefined) {
      fresh.push(row);
      continue;
    }
    let columns = 0;
    for (const [i, name] of INDEXED_ROLLUP_COLUMNS.entries())
      if (before[name] !== row[INDEXED[i] ?? 0]) columns |= 1 << i;
    const isKnown = changed.has(columns) || changed.size < MOST_SETS;
    const set = isKnown ? columns : ALL;
    const alike = changed.get(set);
    if (alike === undefined) changed.set(set, [row]);
    else alike.push(row);
  }
  if (gone.size > 0) {
    const keys = Array.from(gone.values(), (row): BulkRow => [row.repository_id, row.window_hours]);
    await sql`delete from rollups where ${dialect.among(sql.ref("repository_id"), ids)}
      and (repository_id, window_hours) in (${dialect.rowsOf(KEY, keys)})`.execute(tx);
  }
  await dialect.insertNew(tx, ROLLUPS, fresh);
  for (const [columns, alike] of changed) await update(tx, dialect, { columns, rows: alike });
}

function keyOf(id: number, windowHours: number): number {
  // A window has less than 1,024 hours.
  return id * 1_024 + windowHours;
}

/** Updates rows: `columns` has a bit for each of INDEXED_ROLLUP_COLUMNS that is written, and all others are. */
async function update(
  tx: Tx,
  dialect: Dialect,
  { columns, rows }: { columns: number; rows: readonly BulkRow[] },
): Promise<void> {
  const left = new Set(INDEXED.filter((_, i) => (columns & (1 << i)) === 0));
  const written = NAMES.flatMap((_, i) => (left.has(i) ? [] : [i]));
  const target: BulkTable = {
    ...ROLLUPS,
    columns: Object.fromEntries(Object.entries(ROLLUPS.columns).filter((_, i) => !left.has(i))),
  };
  await dialect.updateRows(
    tx,
    target,
    rows.map((row) => written.map((i) => row[i] ?? null)),
  );
}
