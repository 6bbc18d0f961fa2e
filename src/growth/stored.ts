/** Stored readings as they were taken, each with whether it counts: the series of a repository is made of those that do. */
import type { Database } from "../database/database.js";
import {
  CommonThinning,
  MAX_WINDOWS,
  mostPoints,
  Readings,
  type SeriesSpan,
  type Snapshot,
  type Step,
  thin,
} from "../repositories/repositories.js";
import { shownPoints } from "./gains.js";
import { type Measured, readSeries, readSeveralSeries } from "./reader.js";
import { type Hole, holesOf, STARS, valueAt } from "./series.js";

/** A stored reading. */
export interface StoredPoint extends Snapshot {
  /** false: it failed, waits for confirmation, or was soon taken back. */
  counts: boolean;
}

/** Stored readings of a repository in a span. */
export interface StoredSeries {
  /** Oldest first. */
  points: StoredPoint[];
  /** Times between them in which nobody looked. */
  gaps: Hole[];
  /** Stars gained from the first of those that count to the last, by the series; null if none counts. */
  starsGained: number | null;
}

export interface StoredOptions extends SeriesSpan {
  /** The finest step. */
  step: Step;
}

/** Whether a stored count is left out of the series: of the stars, all counts of its time are. */
export function isLeftOut(
  { readings, series: { points, anomalies } }: Measured,
  index: number,
  column = STARS,
) {
  if (anomalies.length === 0 || readings.isRetained(index)) return false;
  const at = readings.at(index);
  const next = points.countBefore(at);
  return (
    points.at(next) !== at || (points.count(next, column) === null && readings.count(index, column) !== null)
  );
}

/** The stored readings of a span. A window begins with the one that its gain begins at, or the last one before that. */
function storedIn({ readings, series }: Measured, { from, until, lengthMs }: SeriesSpan) {
  const end = until === undefined ? readings.length : readings.countBefore(until);
  const isWindow = from === undefined && lengthMs !== undefined;
  const begin = isWindow
    ? Math.max(0, readings.countBefore(shownPoints(series, lengthMs).at(0) + 1) - 1)
    : readings.countBefore(from ?? 0);
  return { readings: readings.slice(Math.min(begin, end), end), keepsFirst: isWindow };
}

/** Times of readings that do not count, times in which nobody looked, and the gain of the span. */
interface Verdict extends Pick<StoredSeries, "starsGained"> {
  leftOut: ReadonlySet<number>;
  holes: readonly Hole[];
}

function verdictOf(measured: Measured, span: Readings): Verdict {
  const { readings, series } = measured;
  const indexes = Array.from({ length: readings.length }, (_, i) => i);
  const leftOut = new Set(indexes.filter((i) => isLeftOut(measured, i)).map((i) => readings.at(i)));
  const counting = span.only((i) => !leftOut.has(span.at(i)));
  const end = series.points.at(series.points.length - 1);
  const [before = null, after = null] = [0, counting.length - 1].map((i) =>
    valueAt(series, Math.min(counting.at(i), end), STARS),
  );
  const starsGained = before === null || after === null ? null : Math.round(after) - Math.round(before);
  return { leftOut, holes: holesOf(series), starsGained };
}

const NOTHING: Verdict = { leftOut: new Set(), holes: [], starsGained: null };

function seriesOf(readings: Readings, { leftOut, holes, starsGained }: Verdict): StoredSeries {
  const points = readings.snapshots().map((one) => ({ ...one, counts: !leftOut.has(one.capturedAt) }));
  const [first = Number.NaN, last = Number.NaN] = [points[0]?.capturedAt, points.at(-1)?.capturedAt];
  const gaps = holes.filter(({ from, to }) => from >= first && to <= last);
  return { points, gaps, starsGained };
}

/** The stored readings of a repository, by the finest step that gives few enough. Costs what `readSeries` does. */
export async function readStored(
  database: Database,
  id: number,
  { step, ...span }: StoredOptions,
): Promise<StoredSeries & { resolution: Step }> {
  const measured = await readSeries(database, id);
  const { readings, keepsFirst } = storedIn(measured, span);
  const { kept, resolution } = thin(readings, { most: mostPoints(span), step, keepsFirst });
  return { ...seriesOf(readings.picked(kept), verdictOf(measured, readings)), resolution };
}

/** Several series, all by one step. */
export interface SeveralStored {
  resolution: Step;
  /** Whether the oldest points are left out, as there are too many even by the longest step. */
  isCut: boolean;
  /** Points of all series. */
  points: number;
  /** The series of a repository; an empty one without snapshots. Costs about a millisecond per thousand points. */
  of(id: number): StoredSeries;
}

/** Maximum number of points of several series together. */
const MAX_SEVERAL_POINTS = 20_000;

/**
 * The same of several repositories, by the finest step by which each has as many points at most, and all together MAX_SEVERAL_POINTS;
 * if there are too many even by the longest step, the newest of each. Holds no more than the points and the snapshots of one turn.
 */
export async function readSeveralStored(
  database: Pick<Database, "slowReads" | "dialect">,
  ids: readonly number[],
  { step, ...span }: StoredOptions,
): Promise<SeveralStored> {
  const { from, lengthMs } = span;
  const recentMs = from === undefined && lengthMs !== undefined ? MAX_WINDOWS * lengthMs : undefined;
  const thinning = new CommonThinning({ most: MAX_SEVERAL_POINTS, mostEach: mostPoints(span), step });
  const verdicts = new Map<number, Verdict>();
  for await (const [id, measured] of readSeveralSeries(database, ids, recentMs)) {
    const stored = storedIn(measured, span);
    thinning.add(id, stored);
    verdicts.set(id, verdictOf(measured, stored.readings));
  }
  const { kept, resolution, isCut } = thinning.end();
  return {
    resolution,
    isCut,
    points: [...kept.values()].reduce((sum, { length }) => sum + length, 0),
    of: (id) => seriesOf(kept.get(id) ?? Readings.ofLength(0), verdicts.get(id) ?? NOTHING),
  };
}
