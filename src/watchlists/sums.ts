import { sql } from "kysely";
import { BUCKETS, bucketOf, MAX_POINTS } from "../catalog/catalog.js";
import { DAY_MS } from "../clock.js";
import type { Database } from "../database/database.js";

/** The counts of several repositories, summed, at one time. */
export interface SumPoint {
  /** The latest capture time in this point. */
  capturedAt: number;
  stars: number;
  /** Sum of the known counts; null when none is known. */
  forks: number | null;
  openIssues: number | null;
  watchers: number | null;
  /** Repositories with a snapshot by then; only these are summed. */
  repositories: number;
}

export interface SumSeries {
  points: SumPoint[];
  /** One point per day or week (UTC) with a snapshot of any repository. */
  resolution: "day" | "week";
}

/** Maximum rows read for a series by day, over all repositories; longer series are by week. */
const MAX_SUMMED_ROWS = 60_000;

interface SumRow {
  repository_id: number;
  captured_at: number;
  stars: number;
  forks: number | null;
  open_issues: number | null;
  watchers: number | null;
}

/**
 * The summed counts of repositories from `from` on. Between snapshots a repository counts with its previous one; before its
 * first one it does not count.
 */
export async function sumSeries(
  database: Database,
  ids: readonly number[],
  from: number,
): Promise<SumSeries> {
  const { read, dialect } = database;
  if (ids.length === 0) return { points: [], resolution: "day" };
  const listed = dialect.rowsOf(
    { id: "bigint" },
    ids.map((id) => [id]),
  );
  const edge = (choice: "min" | "max") =>
    sql`(select ${sql.raw(choice)}(captured_at) from snapshots where repository_id = i.id)`;
  const range = await sql<{ first: number | null; last: number | null }>`
    select min(${edge("min")}) as first, max(${edge("max")}) as last from (${listed}) as i`.execute(read);
  const { first, last } = range.rows[0] ?? { first: null, last: null };
  if (first === null || last === null) return { points: [], resolution: "day" };
  const start = Math.max(from, first);
  const days = Math.ceil((last - start) / DAY_MS) + 1;
  const resolution = days > MAX_POINTS || days * ids.length > MAX_SUMMED_ROWS ? "week" : "day";
  const { lengthMs, offsetMs } = BUCKETS[resolution];
  // Per repository: its last snapshot before the start, and its last one in each bucket from there on.
  const rows = await sql<SumRow>`
    select s.repository_id, s.captured_at, s.stars, s.forks, s.open_issues, s.watchers
    from snapshots s join (
      select repository_id, max(captured_at) as captured_at from snapshots
      where ${dialect.among(sql`repository_id`, ids)} and captured_at >= ${start}
      group by repository_id, (captured_at + ${sql.lit(offsetMs)}) / ${sql.lit(lengthMs)}
      union
      select i.id, (select max(captured_at) from snapshots where repository_id = i.id and captured_at < ${start})
      from (${listed}) as i
    ) as b on b.repository_id = s.repository_id and b.captured_at = s.captured_at
    order by s.captured_at, s.repository_id`.execute(read);
  return { points: pointsOf(rows.rows, start, resolution), resolution };
}

/** Sums the latest row of each repository at the end of every bucket. Rows are in order of time. */
function pointsOf(rows: readonly SumRow[], start: number, resolution: "day" | "week"): SumPoint[] {
  const latest = new Map<number, SumRow>();
  const points: SumPoint[] = [];
  for (const [i, row] of rows.entries()) {
    latest.set(row.repository_id, row);
    if (row.captured_at < start) continue;
    const next = rows[i + 1];
    const bucket = bucketOf(row.captured_at, resolution);
    if (next !== undefined && bucketOf(next.captured_at, resolution) === bucket) continue;
    points.push(sumOf(latest.values(), row.captured_at));
  }
  return points;
}

function sumOf(rows: Iterable<SumRow>, capturedAt: number): SumPoint {
  const point: SumPoint = {
    capturedAt,
    stars: 0,
    forks: null,
    openIssues: null,
    watchers: null,
    repositories: 0,
  };
  for (const row of rows) {
    point.stars += row.stars;
    point.forks = add(point.forks, row.forks);
    point.openIssues = add(point.openIssues, row.open_issues);
    point.watchers = add(point.watchers, row.watchers);
    point.repositories++;
  }
  return point;
}

/** Unknown values add nothing; a sum of nothing but unknown values is unknown. */
function add(sum: number | null, value: number | null): number | null {
  return value === null ? sum : (sum ?? 0) + value;
}

/** The total stars of several repositories at one time. */
export interface StarTotal {
  at: number;
  stars: number;
  /** Repositories with a snapshot by then; only these are summed. */
  repositories: number;
}

const HISTORY_DAYS = 90;
/** Days between points. The smallest step with at most MAX_LOOKUPS lookups is taken, else the largest. */
const HISTORY_STEPS = [1, 3, 7, 14] as const;
const MAX_LOOKUPS = 1_500;

/**
 * Total stars over the 90 days up to `end`: at each point, every repository counts with its latest snapshot until then. For
 * pages: costs one index lookup per point and repository, however many snapshots there are.
 */
export async function starHistory(
  { read, dialect }: Database,
  ids: readonly number[],
  end: number,
): Promise<StarTotal[]> {
  if (ids.length === 0) return [];
  const step = HISTORY_STEPS.find((days) => (HISTORY_DAYS / days) * ids.length <= MAX_LOOKUPS) ?? 14;
  const times = Array.from({ length: Math.floor(HISTORY_DAYS / step) + 1 }, (_, i) => [
    end - i * step * DAY_MS,
  ]);
  const { rows } = await sql<{ at: number; stars: number | null; repositories: number }>`
    select at, sum(stars) as stars, count(stars) as repositories from (
      select t.at, (select s.stars from snapshots s where s.repository_id = i.id and s.captured_at <= t.at
        order by s.captured_at desc limit 1) as stars
      from (${dialect.rowsOf({ at: "bigint" }, times)}) as t
      cross join (${dialect.rowsOf(
        { id: "bigint" },
        ids.map((id) => [id]),
      )}) as i
    ) as counts group by at order by at`.execute(read);
  return rows.flatMap(({ at, stars, repositories }) =>
    stars === null ? [] : [{ at: Number(at), stars: Number(stars), repositories: Number(repositories) }],
  );
}
