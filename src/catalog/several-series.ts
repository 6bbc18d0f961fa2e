import type { Database } from "../database/database.js";
import type { Recency } from "./recency.js";
import type { Repository } from "./repository.js";
import { gapsOf, MAX_POINTS, type Series, seamsOf } from "./series.js";
import { seriesStart } from "./series-start.js";
import { Readings, readInTurns, readSnapshotRanges } from "./snapshots/snapshots.js";
import { CommonThinning, type Step } from "./thinning.js";

/** Maximum number of points of several series together. */
export const MAX_SEVERAL_POINTS = 20_000;

export interface SeveralOptions {
  /** Length of the window, which ends at the newest snapshot of each provider; undefined: everything. */
  lengthMs: number | undefined;
  /** The finest step. */
  step: Step;
  recency: Pick<Recency, "asOf">;
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
 * The series of repositories as `windowSeries` has them, by the finest step by which each has at most MAX_POINTS, and all together
 * MAX_SEVERAL_POINTS; if there are too many even by the longest step, the newest of each. Costs two statements, and one more for
 * each provider or twenty thousand snapshots, yielding to the event loop in between. Holds no more than the points and the
 * snapshots of one turn.
 */
export async function readSeveralSeries(
  database: Pick<Database, "read" | "dialect">,
  repositories: readonly Pick<Repository, "id" | "provider">[],
  { lengthMs, step, recency }: SeveralOptions,
): Promise<SeveralSeries> {
  const ids = repositories.map(({ id }) => id);
  const ranges = await readSnapshotRanges(database.read, database.dialect, ids);
  const thinning = new CommonThinning({ most: MAX_SEVERAL_POINTS, mostEach: MAX_POINTS, step });
  for (const [provider, own] of Map.groupBy(repositories, (one) => one.provider)) {
    const asOf = recency.asOf.get(provider);
    const window = lengthMs === undefined || asOf === undefined ? undefined : { asOf, lengthMs };
    const span = window === undefined ? {} : { from: window.asOf - 2 * window.lengthMs, withBaseline: true };
    const turns = readInTurns(database, { ids: own.map(({ id }) => id), span, ranges });
    for await (const [id, readings] of turns) {
      const start = window === undefined ? 0 : seriesStart(readings, window.asOf, window.lengthMs);
      const from = start ?? Number.MAX_SAFE_INTEGER;
      const wanted = readings.slice(readings.countBefore(from), readings.length);
      thinning.add(id, { readings: wanted, keepsFirst: wanted.at(0) === from });
    }
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
