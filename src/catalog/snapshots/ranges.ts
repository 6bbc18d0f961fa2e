import { type RawBuilder, sql } from "kysely";
import type { Db, Dialect } from "../../database/database.js";

/** Number of a repository's snapshots, and when the first and the last were taken. */
export interface SnapshotRange {
  snapshots: number;
  firstSnapshotAt: number | null;
  lastSnapshotAt: number | null;
}

/** The ranges of repositories, by id, without decoding anything; repositories without snapshots are absent. */
export async function readSnapshotRanges(
  db: Db,
  dialect: Dialect,
  ids: readonly number[],
): Promise<Map<number, SnapshotRange>> {
  if (ids.length === 0) return new Map();
  const { rows } = await selectRanges<RangeRow>(dialect.among(sql.ref("repository_id"), ids)).execute(db);
  return joinRanges(
    rows.map(({ repository_id, total, first_at, last_at }) => [repository_id, total, first_at, last_at]),
  );
}

/**
 * The range of a repository, as JSON text that `rangeOf` reads. Its id is a value, and never a column of the outer statement: a
 * distributed table cannot be read for each row of a local one.
 */
export function rangeColumn(dialect: Dialect, id: RawBuilder<unknown>): RawBuilder<unknown> {
  const row = dialect.jsonRow(RANGE_COLUMNS.map((name) => sql.ref(name)));
  return sql`(select ${dialect.jsonArray(row)} from (${selectRanges(sql<boolean>`repository_id = ${id}`)}) as ranges)`;
}

/** Reads what `rangeColumn` selects. */
export function rangeOf(text: string): SnapshotRange {
  const rows: RangeValues[] = JSON.parse(text);
  const [range] = joinRanges(rows).values();
  return range ?? { snapshots: 0, firstSnapshotAt: null, lastSnapshotAt: null };
}

const RANGE_COLUMNS = ["repository_id", "total", "first_at", "last_at"] as const;
type RangeValues = [id: number, total: number, firstAt: number, lastAt: number];
type RangeRow = Record<"repository_id" | "total" | "first_at" | "last_at", number>;

/** A row for the blocks of each repository, and one for its tail. */
function selectRanges<R>(here: RawBuilder<boolean>): RawBuilder<R> {
  return sql`
    select repository_id, sum(snapshots) as total, min(from_at) as first_at, max(to_at) as last_at
    from snapshot_blocks where ${here} group by repository_id
    union all
    select repository_id, count(*), min(captured_at), max(captured_at)
    from snapshots where ${here} group by repository_id`;
}

function joinRanges(rows: readonly RangeValues[]): Map<number, SnapshotRange> {
  const ranges = new Map<number, SnapshotRange>();
  for (const [id, total, first, last] of rows) {
    const known = ranges.get(id);
    ranges.set(id, {
      snapshots: Number(total) + (known?.snapshots ?? 0),
      firstSnapshotAt: Math.min(first, known?.firstSnapshotAt ?? first),
      lastSnapshotAt: Math.max(last, known?.lastSnapshotAt ?? last),
    });
  }
  return ranges;
}
