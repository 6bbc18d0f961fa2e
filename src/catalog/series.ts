import { sql } from "kysely";
import { DAY_MS, HOUR_MS, WEEK_MS } from "../clock.js";
import type { Database, SnapshotTable } from "../database/database.js";
import { SNAPSHOT_SOURCES, type Snapshot } from "./observation.js";

/** A series never holds more points than this. */
export const MAX_POINTS = 2_000;

/** Which snapshots are points: all, or the last one of each hour, day or week (UTC, from Monday). */
export const RESOLUTIONS = ["all", "hour", "day", "week"] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/**
 * Buckets of time: the number of a bucket is (time + offsetMs) / lengthMs, rounded down. 1970-01-01 was a Thursday; weeks start
 * on the Monday before.
 */
export const BUCKETS: Readonly<Record<Exclude<Resolution, "all">, { lengthMs: number; offsetMs: number }>> = {
  hour: { lengthMs: HOUR_MS, offsetMs: 0 },
  day: { lengthMs: DAY_MS, offsetMs: 0 },
  week: { lengthMs: WEEK_MS, offsetMs: 3 * DAY_MS },
};

export interface Gap {
  from: number;
  to: number;
  /** Estimated number of missing snapshots, from the distances between nearby points. */
  missing: number;
}

export interface Series {
  points: Snapshot[];
  resolution: Resolution;
  gaps: Gap[];
}

/** Start of the bucket that contains a time. */
export function bucketOf(at: number, resolution: Exclude<Resolution, "all">): number {
  const { lengthMs, offsetMs } = BUCKETS[resolution];
  return Math.floor((at + offsetMs) / lengthMs) * lengthMs - offsetMs;
}

/**
 * The snapshots of one repository from `from` on, oldest first, thinned to `most`. A snapshot taken exactly at `from` is always
 * among them.
 */
export async function readSeries(
  database: Database,
  repositoryId: number,
  from: number,
  most = MAX_POINTS,
): Promise<Series> {
  const { read } = database;
  const range = sql`repository_id = ${repositoryId} and captured_at >= ${from}`;
  const counted = await sql<{
    points: number;
  }>`select count(*) as points from snapshots where ${range}`.execute(read);
  let resolution: Resolution = "all";
  let points = Number(counted.rows[0]?.points ?? 0);
  for (const next of ["hour", "day", "week"] as const) {
    if (points <= most) break;
    resolution = next;
    const buckets = await sql<{ points: number }>`select count(*) as points from (
      select 1 from snapshots where ${range} group by ${bucketExpression(next)}) as buckets`.execute(read);
    points = Number(buckets.rows[0]?.points ?? 0);
  }
  const rows =
    resolution === "all"
      ? await sql<SnapshotTable>`select * from snapshots where ${range} order by captured_at`.execute(read)
      : await sql<SnapshotTable>`select * from snapshots where repository_id = ${repositoryId} and captured_at in (
          select max(captured_at) from snapshots where ${range} group by ${bucketExpression(resolution)}
          union select ${from})
        order by captured_at`.execute(read);
  const all = rows.rows.map(fromSnapshotRow);
  const start = all[0]?.capturedAt === from ? all.slice(0, 1) : [];
  const series = all.length <= most ? all : [...start, ...all.slice(start.length - most)];
  return { points: series, resolution, gaps: findGaps(series.map((point) => point.capturedAt)) };
}

/** Points of a sparkline over 30 days. */
const SPARK_POINTS = 16;
const SPARK_STEP_MS = (30 * DAY_MS) / (SPARK_POINTS - 1);
/** A snapshot older than this does not count for a point. */
const SPARK_STALE_MS = WEEK_MS;

/**
 * The stars of repositories at 16 times of the 30 days up to `end`, by the last snapshot before each time; null if the week
 * before has no snapshot. Costs one index lookup per repository and time, whatever the number of snapshots.
 */
export async function readSparks(
  { read }: Database,
  ids: readonly number[],
  end: number,
): Promise<Map<number, (number | null)[]>> {
  if (ids.length === 0) return new Map();
  const times = Array.from({ length: SPARK_POINTS }, (_, i) => Math.round(end - i * SPARK_STEP_MS)).reverse();
  const list = (values: readonly number[]) =>
    sql.join(values.map((value) => sql`(cast(${value} as bigint))`));
  const { rows } = await sql<{ id: number; stars: number | null }>`
    with ids(id) as (values ${list(ids)}), times(at) as (values ${list(times)})
    select ids.id, (select s.stars from snapshots s where s.repository_id = ids.id
        and s.captured_at <= times.at and s.captured_at > times.at - ${sql.lit(SPARK_STALE_MS)}
      order by s.captured_at desc limit 1) as stars
    from ids cross join times order by ids.id, times.at`.execute(read);
  const sparks = new Map<number, (number | null)[]>();
  for (const { id, stars } of rows) {
    const values = sparks.get(Number(id)) ?? [];
    values.push(stars === null ? null : Number(stars));
    sparks.set(Number(id), values);
  }
  return sparks;
}

/** The bucket of `captured_at` as SQL. Integer division truncates, and times are positive, so both engines agree. */
function bucketExpression(resolution: Exclude<Resolution, "all">): ReturnType<typeof sql> {
  const { lengthMs, offsetMs } = BUCKETS[resolution];
  return sql`(captured_at + ${sql.lit(offsetMs)}) / ${sql.lit(lengthMs)}`;
}

export function fromSnapshotRow(row: SnapshotTable): Snapshot {
  return {
    capturedAt: row.captured_at,
    stars: row.stars,
    forks: row.forks,
    openIssues: row.open_issues,
    watchers: row.watchers,
    source: SNAPSHOT_SOURCES[row.source] ?? "IMPORTED",
  };
}

/** Distances on each side that a distance is compared with. */
const NEIGHBOURS = 5;
/** A distance this many times the median is a gap: between a late snapshot (1) and a missing one (2). */
const GAP_FACTOR = 1.75;

/**
 * Finds gaps: distances between snapshots well above the median of their neighbours. Only nearby distances count, because
 * the refresh interval of a repository changes over time, and old snapshots are thinned.
 */
export function findGaps(times: readonly number[]): Gap[] {
  const gaps: Gap[] = [];
  const distances = times.slice(1).map((time, i) => time - (times[i] ?? time));
  if (distances.length < 3) return gaps;
  for (const [i, distance] of distances.entries()) {
    const around = [
      ...distances.slice(Math.max(0, i - NEIGHBOURS), i),
      ...distances.slice(i + 1, i + 1 + NEIGHBOURS),
    ];
    const typical = median(around);
    if (distance <= typical * GAP_FACTOR) continue;
    gaps.push({
      from: times[i] ?? 0,
      to: times[i + 1] ?? 0,
      missing: Math.max(1, Math.round(distance / typical) - 1),
    });
  }
  return gaps;
}

/** The median; NaN for no values. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  if (sorted.length % 2 === 1) return sorted[Math.floor(middle)] ?? Number.NaN;
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}
