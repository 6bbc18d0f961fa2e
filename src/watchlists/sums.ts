import type { Database } from "../database/database.js";
import { DAY_MS, WEEK_MS } from "../lib/clock.js";
import {
  MAX_POINTS,
  type Readings,
  readInTurns,
  readSnapshotRanges,
  starsAt,
  startOfStep,
} from "../repositories/repositories.js";

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
  /** Those of them that add stars still held, as their forge reported later, instead of a total. */
  retained: number;
}

/** The steps of summed series: one point per day or week (UTC) with a snapshot of any repository. */
export const SUM_STEPS = ["1d", "1w"] as const;
type SumStep = (typeof SUM_STEPS)[number];

export interface SumSeries {
  points: SumPoint[];
  resolution: SumStep;
}

/** Maximum rows read for a series by day, over all repositories; longer series are by week. */
const MAX_SUMMED_ROWS = 60_000;

/** Columns of readings that are summed: stars, forks, open issues, watchers. They follow the time. */
const SUMMED = 4;

/**
 * The summed counts of repositories from `from` on. Between snapshots a repository counts with its previous one; before its
 * first one it does not count. Costs the decoding of its snapshots, and one addition for each that is the last of a bucket.
 */
export async function sumSeries(
  database: Database,
  ids: readonly number[],
  from: number,
): Promise<SumSeries> {
  const ranges = await readSnapshotRanges(database.read, database.dialect, ids);
  const all = [...ranges.values()];
  const first = Math.min(...all.map(({ firstSnapshotAt }) => firstSnapshotAt ?? Number.POSITIVE_INFINITY));
  const last = Math.max(...all.map(({ lastSnapshotAt }) => lastSnapshotAt ?? 0));
  const start = Math.max(from, first);
  if (!(start <= last)) return { points: [], resolution: "1d" };
  const days = Math.ceil((last - start) / DAY_MS) + 1;
  const resolution = days > MAX_POINTS || days * ids.length > MAX_SUMMED_ROWS ? "1w" : "1d";
  const sums = new BucketSums({ start, last, resolution });
  const span = { from: start, withBaseline: true };
  for await (const [, readings] of readInTurns(database, { ids, span, ranges })) sums.add(readings);
  return { points: sums.points(), resolution };
}

/**
 * Sums by bucket. Each repository only adds changes: at the bucket of a snapshot, the difference to its previous one. The sum
 * at the end of a bucket is that of all differences until then.
 */
class BucketSums {
  readonly #start: number;
  readonly #first: number;
  readonly #lengthMs: number;
  /** For each bucket: the differences of the repositories, and of each column its sum and how many repositories know it. */
  readonly #changes: Float64Array;
  /** The latest capture time in each bucket; 0 for none. */
  readonly #capturedAt: Float64Array;

  constructor({ start, last, resolution }: { start: number; last: number; resolution: SumStep }) {
    this.#start = start;
    this.#first = startOfStep(start, resolution);
    this.#lengthMs = resolution === "1d" ? DAY_MS : WEEK_MS;
    const buckets = this.#bucketOf(last) + 1;
    this.#capturedAt = new Float64Array(buckets);
    this.#changes = new Float64Array(buckets * ROW);
  }

  #bucketOf(at: number): number {
    return Math.floor((at - this.#first) / this.#lengthMs);
  }

  /** Adds a repository: readings from the last one before the start on. */
  add(readings: Readings): void {
    const { length } = readings;
    let counted = -1;
    let bucket = 0;
    let end = this.#start;
    for (let i = 0; i < length; i++) {
      const at = readings.at(i);
      // NaN after the last one, which no time is before.
      const next = readings.at(i + 1);
      if (at < this.#start) {
        if (next < this.#start) continue;
        this.#count(readings, { bucket: 0, from: counted, to: i });
      } else {
        if (at >= end) {
          bucket = this.#bucketOf(at);
          end = this.#first + (bucket + 1) * this.#lengthMs;
        }
        if (next < end) continue;
        this.#count(readings, { bucket, from: counted, to: i });
        if (at > (this.#capturedAt[bucket] ?? 0)) this.#capturedAt[bucket] = at;
      }
      counted = i;
    }
  }

  /** Replaces one reading by another in the sums; `from` is -1 for the first one. */
  #count(readings: Readings, { bucket, from, to }: { bucket: number; from: number; to: number }): void {
    const changes = this.#changes;
    const row = bucket * ROW;
    if (from < 0) changes[row] = (changes[row] ?? 0) + 1;
    const retained = (index: number) => (index >= 0 && readings.isRetained(index) ? 1 : 0);
    changes[row + RETAINED] = (changes[row + RETAINED] ?? 0) + retained(to) - retained(from);
    for (let column = 1; column <= SUMMED; column++) {
      const value = readings.count(to, column);
      const before = from < 0 ? null : readings.count(from, column);
      const cell = row + 2 * column - 1;
      changes[cell] = (changes[cell] ?? 0) + (value ?? 0) - (before ?? 0);
      const known = (value === null ? 0 : 1) - (before === null ? 0 : 1);
      changes[cell + 1] = (changes[cell + 1] ?? 0) + known;
    }
  }

  /** One point for each bucket with a snapshot of any repository. */
  points(): SumPoint[] {
    const points: SumPoint[] = [];
    const sums = new Float64Array(ROW);
    // Unknown values add nothing; a sum of nothing but unknown values is unknown.
    const known = (column: number) => ((sums[2 * column] ?? 0) > 0 ? (sums[2 * column - 1] ?? 0) : null);
    for (const [bucket, capturedAt] of this.#capturedAt.entries()) {
      for (let cell = 0; cell < ROW; cell++)
        sums[cell] = (sums[cell] ?? 0) + (this.#changes[bucket * ROW + cell] ?? 0);
      if (capturedAt === 0) continue;
      points.push({
        capturedAt,
        stars: sums[1] ?? 0,
        forks: known(2),
        openIssues: known(3),
        watchers: known(4),
        repositories: sums[0] ?? 0,
        retained: sums[RETAINED] ?? 0,
      });
    }
    return points;
  }
}

/** Numbers of a bucket: the repositories, two for each column, and the repositories with stars still held. */
const ROW = 2 + 2 * SUMMED;
const RETAINED = ROW - 1;

/** The total stars of several repositories at one time. */
export interface StarTotal {
  at: number;
  stars: number;
  /** Repositories with a snapshot by then; only these are summed. */
  repositories: number;
  /** Those of them that add stars still held, as their forge reported later, instead of a total. */
  retained: number;
}

/** The windows of total stars. */
export type HistoryWindow = "30d" | "90d" | "1y" | "all";

/**
 * The span of each window; all is five years. `steps`: days between points. The smallest step with at most MAX_LOOKUPS lookups is
 * taken, else the largest.
 */
const HISTORIES: Readonly<Record<HistoryWindow, { days: number; steps: readonly number[] }>> = {
  "30d": { days: 30, steps: [1, 3] },
  "90d": { days: 90, steps: [1, 3, 7] },
  "1y": { days: 365, steps: [1, 3, 7, 14] },
  all: { days: 1_826, steps: [7, 14, 30, 61] },
};
const MAX_LOOKUPS = 15_000;

/** Total stars up to `end`: at each point, every repository by its latest snapshot. Costs a few blocks per repository. */
export async function starHistory(
  database: Database,
  ids: readonly number[],
  { end, window }: { end: number; window: HistoryWindow },
): Promise<StarTotal[]> {
  if (ids.length === 0) return [];
  const { days, steps } = HISTORIES[window];
  const step =
    steps.find((one) => (days / one) * ids.length <= MAX_LOOKUPS) ??
    steps.reduce((a, b) => Math.max(a, b), 1);
  const totals = Array.from({ length: Math.floor(days / step) + 1 }, (_, i) => ({
    at: end - i * step * DAY_MS,
    stars: 0,
    repositories: 0,
    retained: 0,
  })).reverse();
  const span = { from: totals[0]?.at ?? end, until: end, withBaseline: true };
  for await (const [, readings] of readInTurns(database, { ids, span })) {
    for (const total of totals) {
      const counted = starsAt(readings, total.at);
      if (counted === null) continue;
      total.stars += counted.stars;
      total.repositories++;
      if (counted.basis === "RETAINED") total.retained++;
    }
  }
  return totals.filter(({ repositories }) => repositories > 0);
}
