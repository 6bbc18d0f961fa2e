import { type RawBuilder, sql } from "kysely";
import { DAY_MS } from "../clock.js";
import type { BulkColumns, BulkRow, Dialect, Tx } from "../database/database.js";
import { type Anomaly, findAnomalies, MIN_MOVEMENT, type Reading } from "./anomalies.js";

/** Days before the newest snapshot that are looked at: twice the longest window, as that may be compared. */
const HISTORY_DAYS = 60;

/** The recent past of one repository, as far as its rollups need it. */
export interface History {
  anomalies: Anomaly[];
  /** Snapshots from the `from` of each window on, by its hours. */
  snapshots: ReadonlyMap<number, number>;
}

/** Two snapshots to be compared. */
export interface Compared {
  repository_id: number;
  window_hours: number;
  from_at: number;
  to_at: number;
}

interface ReadingRow {
  repository_id: number;
  captured_at: number;
  stars: number;
  forks: number | null;
  open_issues: number | null;
}

const COMPARED_COLUMNS: BulkColumns = {
  repository_id: "bigint",
  window_hours: "bigint",
  from_at: "bigint",
  to_at: "bigint",
};

/**
 * How many snapshots lie in each comparison, and what is strange around them. The series itself is read only where the
 * stars have moved enough for anything to be called strange, which few do.
 */
export async function readHistories(
  tx: Tx,
  dialect: Dialect,
  compared: readonly Compared[],
): Promise<Map<number, History>> {
  if (compared.length === 0) return new Map();
  const rows = compared.map((one): BulkRow => [one.repository_id, one.window_hours, one.from_at, one.to_at]);
  const counted = await sql<{ repository_id: number; window_hours: number; snapshots: number }>`
    select c.repository_id, c.window_hours, count(*) as snapshots
    from (${dialect.rowsOf(COMPARED_COLUMNS, rows)}) as c cross join snapshots s
    where s.repository_id = c.repository_id and s.captured_at between c.from_at and c.to_at
    group by c.repository_id, c.window_hours`.execute(tx);
  const newest = new Map(compared.map((one) => [one.repository_id, one.to_at]));
  const moving = await findMoving(tx, recent(dialect, newest));
  const readings = await readReadings(
    tx,
    recent(dialect, new Map([...newest].filter(([id]) => moving.has(id)))),
  );
  const pushes = await tx
    .selectFrom("repositories")
    .select(["id", "pushed_at"])
    .where(dialect.among(sql.ref("id"), [...moving]))
    .execute();
  const pushedAt = new Map(pushes.map((row) => [row.id, row.pushed_at]));
  const windows = Map.groupBy(counted.rows, (row) => row.repository_id);
  return new Map(
    [...windows].map(([id, own]) => {
      const anomalies = findAnomalies(readings.get(id) ?? [], pushedAt.get(id) ?? null);
      return [
        id,
        { anomalies, snapshots: new Map(own.map((row) => [row.window_hours, Number(row.snapshots)])) },
      ];
    }),
  );
}

const RECENT_COLUMNS: BulkColumns = { repository_id: "bigint", to_at: "bigint" };

/** The recent snapshots of repositories, as a source to select from, called `s`. */
function recent(dialect: Dialect, newest: ReadonlyMap<number, number>): RawBuilder<unknown> {
  return sql`(${dialect.rowsOf(RECENT_COLUMNS, [...newest])}) as n cross join snapshots s
    where s.repository_id = n.repository_id and s.captured_at >= n.to_at - ${sql.lit(HISTORY_DAYS * DAY_MS)}`;
}

/** The repositories whose stars have moved by enough. */
async function findMoving(tx: Tx, source: RawBuilder<unknown>): Promise<Set<number>> {
  const rows = await sql<{ repository_id: number; least: number; most: number }>`
    select s.repository_id, min(s.stars) as least, max(s.stars) as most from ${source} group by s.repository_id`.execute(
    tx,
  );
  const moved = rows.rows.filter(
    ({ least, most }) => most - least > 0 && most - least >= Math.min(MIN_MOVEMENT, most / 2),
  );
  return new Set(moved.map((row) => row.repository_id));
}

async function readReadings(tx: Tx, source: RawBuilder<unknown>): Promise<Map<number, Reading[]>> {
  const rows =
    await sql<ReadingRow>`select s.repository_id, s.captured_at, s.stars, s.forks, s.open_issues from ${source}
    order by s.repository_id, s.captured_at`.execute(tx);
  const readings = new Map<number, Reading[]>();
  for (const { repository_id, captured_at, stars, forks, open_issues } of rows.rows) {
    const own = readings.get(repository_id);
    const reading = { at: captured_at, stars, forks, openIssues: open_issues };
    if (own === undefined) readings.set(repository_id, [reading]);
    else own.push(reading);
  }
  return readings;
}
