import { sql } from "kysely";
import { bucketExpression, bucketOf, MAX_POINTS } from "../catalog/catalog.js";
import { DAY_MS } from "../clock.js";
import type { Database } from "../database/database.js";

/** The counts of several repositories added up at one time. */
export interface SumPoint {
  /** The latest capture time among those added up in this point. */
  capturedAt: number;
  stars: number;
  /** Of those whose count is known; null where no one's is. */
  forks: number | null;
  openIssues: number | null;
  watchers: number | null;
  /** How many repositories had a snapshot by then; the others are not in the sums. */
  repositories: number;
}

export interface SumSeries {
  points: SumPoint[];
  /** One point for each day or week (UTC) in which any of them had a snapshot. */
  resolution: "day" | "week";
}

/** Rows read for one summed series, over all its repositories; above, days become weeks. */
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
 * The counts of the repositories added up from `from` on. Between its snapshots a repository counts with the last one
 * before; before its first one it does not count.
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
  // The last snapshot of each repository before the start, and its last one in each bucket since.
  const rows = await sql<SumRow>`
    select s.repository_id, s.captured_at, s.stars, s.forks, s.open_issues, s.watchers
    from snapshots s join (
      select repository_id, max(captured_at) as captured_at from snapshots
      where ${dialect.among(sql`repository_id`, ids)} and captured_at >= ${start}
      group by repository_id, ${bucketExpression(resolution)}
      union
      select i.id, (select max(captured_at) from snapshots where repository_id = i.id and captured_at < ${start})
      from (${listed}) as i
    ) as b on b.repository_id = s.repository_id and b.captured_at = s.captured_at
    order by s.captured_at, s.repository_id`.execute(read);
  return { points: addUp(rows.rows, start, resolution), resolution };
}

/** Walks the rows in time, keeping the latest of each repository; one point a bucket from `start` on. */
function addUp(rows: readonly SumRow[], start: number, resolution: "day" | "week"): SumPoint[] {
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

/** A sum to which nothing is added by what is not known. */
function add(sum: number | null, value: number | null): number | null {
  return value === null ? sum : (sum ?? 0) + value;
}

/** The stars of several repositories added up at one moment. */
export interface StarSum {
  at: number;
  stars: number;
  /** How many repositories had a snapshot by then; the others are not in the sum. */
  repositories: number;
}

/** How far back a course reaches. */
const COURSE_DAYS = 90;
/** Steps of a course in days; the finest whose moments, over all repositories, are no more than MAX_MOMENTS, else the last. */
const COURSE_STEPS = [1, 3, 7, 14] as const;
const MAX_MOMENTS = 1_500;

/**
 * The course of their stars together over the 90 days up to `end`, each repository with its last snapshot before the
 * moment. For pages: it costs one step along the index a moment and repository, however many snapshots there are.
 */
export async function starCourse(
  { read, dialect }: Database,
  ids: readonly number[],
  end: number,
): Promise<StarSum[]> {
  if (ids.length === 0) return [];
  const step = COURSE_STEPS.find((days) => (COURSE_DAYS / days) * ids.length <= MAX_MOMENTS) ?? 14;
  const moments = Array.from({ length: Math.floor(COURSE_DAYS / step) + 1 }, (_, i) => [
    end - i * step * DAY_MS,
  ]);
  const { rows } = await sql<{ at: number; stars: number | null; repositories: number }>`
    select at, sum(stars) as stars, count(stars) as repositories from (
      select t.at, (select s.stars from snapshots s where s.repository_id = i.id and s.captured_at <= t.at
        order by s.captured_at desc limit 1) as stars
      from (${dialect.rowsOf({ at: "bigint" }, moments)}) as t
      cross join (${dialect.rowsOf(
        { id: "bigint" },
        ids.map((id) => [id]),
      )}) as i
    ) as counts group by at order by at`.execute(read);
  return rows.flatMap(({ at, stars, repositories }) =>
    stars === null ? [] : [{ at: Number(at), stars: Number(stars), repositories: Number(repositories) }],
  );
}
