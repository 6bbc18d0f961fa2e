import {
  bucketOf,
  MAX_POINTS,
  type Readings,
  readReadings,
  readSnapshotRanges,
  starsAt,
} from "../catalog/catalog.js";
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

/** Repositories decoded at a time, so that no other request waits long. */
const CHUNK = 200;

/** A repository whose history is damaged counts like one without snapshots. */
const onDamaged = () => {};

/** The counts of one repository from a time on. */
interface SumRow {
  repositoryId: number;
  capturedAt: number;
  stars: number;
  forks: number | null;
  openIssues: number | null;
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
  const ranges = [...(await readSnapshotRanges(read, dialect, ids)).values()];
  const first = Math.min(...ranges.map(({ firstSnapshotAt }) => firstSnapshotAt ?? Number.POSITIVE_INFINITY));
  const last = Math.max(...ranges.map(({ lastSnapshotAt }) => lastSnapshotAt ?? 0));
  if (ranges.length === 0) return { points: [], resolution: "day" };
  const start = Math.max(from, first);
  const days = Math.ceil((last - start) / DAY_MS) + 1;
  const resolution = days > MAX_POINTS || days * ids.length > MAX_SUMMED_ROWS ? "week" : "day";
  const rows: SumRow[] = [];
  for (const chunk of chunks(ids)) {
    const span = { from: start, withBaseline: true };
    for (const [id, readings] of await readReadings(read, dialect, { ids: chunk, span, onDamaged }))
      rows.push(...lastRows(id, readings, { start, resolution }));
  }
  rows.sort((a, b) => a.capturedAt - b.capturedAt || a.repositoryId - b.repositoryId);
  return { points: pointsOf(rows, start, resolution), resolution };
}

function* chunks(ids: readonly number[]): Generator<readonly number[]> {
  for (let i = 0; i < ids.length; i += CHUNK) yield ids.slice(i, i + CHUNK);
}

/** The last reading of a repository before the start, and its last one in each bucket from there on. */
function lastRows(
  repositoryId: number,
  readings: Readings,
  { start, resolution }: { start: number; resolution: "day" | "week" },
): SumRow[] {
  const rows: SumRow[] = [];
  for (let i = 0; i < readings.length; i++) {
    const [at, next] = [readings.at(i), readings.at(i + 1)];
    const isLast = at < start ? !(next < start) : bucketOf(next, resolution) !== bucketOf(at, resolution);
    if (!isLast) continue;
    const { source: _, ...counts } = readings.snapshot(i);
    rows.push({ repositoryId, ...counts });
  }
  return rows;
}

/** Sums the latest row of each repository at the end of every bucket. Rows are in order of time. */
function pointsOf(rows: readonly SumRow[], start: number, resolution: "day" | "week"): SumPoint[] {
  const latest = new Map<number, SumRow>();
  const points: SumPoint[] = [];
  for (const [i, row] of rows.entries()) {
    latest.set(row.repositoryId, row);
    if (row.capturedAt < start) continue;
    const next = rows[i + 1];
    const bucket = bucketOf(row.capturedAt, resolution);
    if (next !== undefined && bucketOf(next.capturedAt, resolution) === bucket) continue;
    points.push(sumOf(latest.values(), row.capturedAt));
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
    point.openIssues = add(point.openIssues, row.openIssues);
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
 * pages: costs a few blocks per repository.
 */
export async function starHistory(
  { read, dialect }: Database,
  ids: readonly number[],
  end: number,
): Promise<StarTotal[]> {
  if (ids.length === 0) return [];
  const step = HISTORY_STEPS.find((days) => (HISTORY_DAYS / days) * ids.length <= MAX_LOOKUPS) ?? 14;
  const totals = Array.from({ length: Math.floor(HISTORY_DAYS / step) + 1 }, (_, i) => ({
    at: end - i * step * DAY_MS,
    stars: 0,
    repositories: 0,
  })).reverse();
  const span = { from: totals[0]?.at ?? end, until: end, withBaseline: true };
  for (const chunk of chunks(ids)) {
    const found = await readReadings(read, dialect, { ids: chunk, span, width: 2, onDamaged });
    for (const readings of found.values()) {
      for (const total of totals) {
        const stars = starsAt(readings, total.at);
        if (stars === null) continue;
        total.stars += stars;
        total.repositories++;
      }
    }
  }
  return totals.filter(({ repositories }) => repositories > 0);
}
