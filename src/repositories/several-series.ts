import type { Database } from "../database/database.js";
import { DAY_MS, WEEK_MS } from "../lib/clock.js";
import type { Repository } from "./repository.js";
import {
  gapsOf,
  lastOfEach,
  longerStep,
  MAX_WINDOWS,
  mostPoints,
  type Series,
  type SeriesSpan,
  type StarCount,
  type Step,
  seamsOf,
  seriesStart,
  starsAt,
} from "./series.js";
import { Readings, readInTurns, readSnapshotRanges, type SnapshotReader } from "./snapshots/snapshots.js";

/** Maximum number of points of several series together. */
const MAX_SEVERAL_POINTS = 20_000;

export interface SeveralOptions extends SeriesSpan {
  /** The finest step. */
  step: Step;
}

/** Several series, all by one step. */
export interface SeveralSeries {
  resolution: Step;
  /** Whether the oldest points are left out, as there are too many even by the longest step. */
  isCut: boolean;
  /** Points of all series. */
  points: number;
  /** The series of a repository; an empty one for a repository without snapshots. Costs about a millisecond per thousand points. */
  of(id: number): Series;
}

/**
 * The series of repositories as `spanSeries` has them, by the finest step by which each has as many points at most, and all together
 * MAX_SEVERAL_POINTS; if there are too many even by the longest step, the newest of each. Costs two statements, and one more for
 * each twenty thousand snapshots, yielding to the event loop in between. Holds no more than the points and the
 * snapshots of one turn.
 */
export async function readSeveralSeries(
  database: Pick<Database, "read" | "dialect">,
  repositories: readonly Pick<Repository, "id" | "countedAt">[],
  { step, ...span }: SeveralOptions,
): Promise<SeveralSeries> {
  const ids = repositories.map(({ id }) => id);
  const ranges = await readSnapshotRanges(database.read, database.dialect, ids);
  const thinning = new CommonThinning({ most: MAX_SEVERAL_POINTS, mostEach: mostPoints(span), step });
  const countedAt = new Map(repositories.map((one) => [one.id, one.countedAt]));
  for await (const [id, readings] of readInTurns(database, { ids, span: storedSpan(span), ranges })) {
    const asOf = countedAt.get(id) ?? null;
    const { from: day, until, lengthMs } = span;
    const isWindow = day === undefined && lengthMs !== undefined && asOf !== null;
    const start = isWindow ? seriesStart(readings, asOf, lengthMs) : (day ?? 0);
    const from = start ?? Number.MAX_SAFE_INTEGER;
    const end = until === undefined ? readings.length : readings.countBefore(until);
    const wanted = readings.slice(Math.min(readings.countBefore(from), end), end);
    thinning.add(id, { readings: wanted, keepsFirst: wanted.at(0) === from });
  }
  const { kept, resolution, isCut } = thinning.end();
  return {
    resolution,
    isCut,
    points: [...kept.values()].reduce((sum, { length }) => sum + length, 0),
    of: (id) => {
      const points = (kept.get(id) ?? Readings.ofLength(0)).snapshots();
      return { points, resolution, gaps: gapsOf(points), seams: seamsOf(points) };
    },
  };
}

/** The stored snapshots that the series of a span depend on. */
function storedSpan({ lengthMs, from, until }: SeriesSpan) {
  if (from === undefined && lengthMs !== undefined)
    return { recentMs: MAX_WINDOWS * lengthMs, withBaseline: true };
  return { ...(from !== undefined && { from }), ...(until !== undefined && { until: until - 1 }) };
}

/** Readings to thin together with others. */
interface Thinned {
  readings: Readings;
  /** Whether the first reading stays whatever the step. */
  keepsFirst: boolean;
}

interface CommonOptions {
  /** Maximum number of readings of all series together, and of each. */
  most: number;
  mostEach: number;
  /** The finest step. */
  step: Step;
}

/**
 * Thins several series by one step: the finest by which there are few enough readings. Each is thinned as it is added,
 * so that no more than `most` are held.
 */
export class CommonThinning {
  readonly #options: CommonOptions;
  readonly #kept = new Map<number, Thinned>();
  #step: Step;
  #total = 0;

  constructor(options: CommonOptions) {
    this.#options = options;
    this.#step = options.step;
  }

  add(id: number, { readings, keepsFirst }: Thinned): void {
    const kept = this.#thin({ readings, keepsFirst });
    this.#kept.set(id, { readings: kept, keepsFirst });
    this.#total += kept.length;
    const { most, mostEach } = this.#options;
    while (this.#total > most || (this.#kept.get(id)?.readings.length ?? 0) > mostEach) {
      const next = longerStep(this.#step);
      if (next === undefined) return;
      this.#step = next;
      this.#thinAll();
    }
  }

  /**
   * The readings left of each series, and the step. If there are too many even by the longest step, each has the newest of its share, and `isCut`
   * is true if that leaves any out.
   */
  end(): { kept: Map<number, Readings>; resolution: Step; isCut: boolean } {
    const { most, mostEach } = this.#options;
    const share = this.#total > most ? Math.floor(most / this.#kept.size) : mostEach;
    const kept = new Map(
      [...this.#kept].map(([id, { readings, keepsFirst }]) => {
        const newest = readings.length - share + (keepsFirst ? 1 : 0);
        const keeps = (index: number) => (keepsFirst && index === 0) || index >= newest;
        return [id, readings.length <= share ? readings : readings.only(keeps)];
      }),
    );
    const isCut = [...this.#kept.values()].some(({ readings }) => readings.length > share);
    return { kept, resolution: this.#step, isCut };
  }

  /** A copy of those that stay, as the others may be many. */
  #thin({ readings, keepsFirst }: Thinned): Readings {
    const indexes = lastOfEach(readings, { step: this.#step, keepsFirst });
    return readings.picked(indexes);
  }

  #thinAll(): void {
    this.#total = 0;
    for (const thinned of this.#kept.values()) {
      thinned.readings = this.#thin(thinned);
      this.#total += thinned.readings.length;
    }
  }
}

/** Points of a sparkline over 30 days. */
const SPARK_POINTS = 16;
const SPARK_STEP_MS = (30 * DAY_MS) / (SPARK_POINTS - 1);
/** A snapshot older than this does not count for a point. */
const SPARK_STALE_MS = WEEK_MS;

/** How far back sparklines read. */
const SPARK_MS = 30 * DAY_MS + SPARK_STALE_MS;

/**
 * The stars of repositories at 16 times of the 30 days up to the newest snapshot of each, by the last snapshot before each time; null
 * if the week before has no snapshot. Costs one or two blocks per repository.
 */
export async function readSparks(
  snapshots: SnapshotReader,
  ids: readonly number[],
): Promise<Map<number, (StarCount | null)[]>> {
  const found = await snapshots.recent(ids, SPARK_MS);
  return new Map(
    ids.map((id) => {
      const own = found.get(id);
      const end = own?.at(own.length - 1) ?? 0;
      const times = Array.from({ length: SPARK_POINTS }, (_, i) => Math.round(end - i * SPARK_STEP_MS));
      return [id, times.reverse().map((at) => starsAt(own, at, SPARK_STALE_MS))];
    }),
  );
}
