/** The series of a repository: its points, its beginning, and the gaps and seams between its points. */
import { DAY_MS, HOUR_MS, WEEK_MS } from "../lib/clock.js";
import type { Snapshot } from "./repository.js";
import { BASES, type Basis, basisOf, byBasis, isSeam, type Readings } from "./snapshots/snapshots.js";

/**
 * Which snapshots of a series are points: all, or the last one of each step of time (UTC; weeks from Monday). Each step is a
 * multiple of the one before it, so thinning twice is the same as thinning by the longer step.
 */
export const STEPS = ["all", "1h", "2h", "6h", "12h", "1d", "1w", "4w"] as const;
export type Step = (typeof STEPS)[number];

/** A series never holds more points than this. */
export const MAX_POINTS = 2_000;
/** One of chosen days never holds more than this. */
const MAX_POINTS_OF_DAYS = 10_000;

export interface Gap {
  from: number;
  to: number;
  /** Estimated number of missing snapshots, from the distances between nearby points. */
  missing: number;
}

/** Neighbouring points that differ in basis, so that the step from one to the other is neither a gain nor a loss. */
export interface Seam {
  from: number;
  to: number;
}

export interface Series {
  points: Snapshot[];
  /** Which snapshots are points. */
  resolution: Step;
  gaps: Gap[];
  seams: Seam[];
}

/** Which snapshots a series is of: those in a window, or from one time to another. */
export interface SeriesSpan {
  /** Length of the window, which ends with the newest counts of the repository; undefined: everything. */
  lengthMs: number | undefined;
  /** Instead of the start of the window. */
  from?: number | undefined;
  /** Exclusive. */
  until?: number | undefined;
}

/** Days of a chart, or times of a series; a missing one is that of the window. */
export interface Days {
  /** Times at which days begin, or the first and the last time. */
  from?: number | undefined;
  to?: number | undefined;
}

/** Why days have no counts; undefined: they may have. */
export function daysProblem({ from, to }: Days): string | undefined {
  return from !== undefined && to !== undefined && from > to ? "must not be before from" : undefined;
}

/** The span between two times, both included; with `to` alone, a window of `lengthMs` that ends there. Without both: the window. */
export function spanOfTimes({ from, to }: Days, lengthMs: number | undefined): SeriesSpan {
  const end = endOf(to);
  const start = end === undefined || lengthMs === undefined ? undefined : end - lengthMs;
  return { lengthMs, from: from ?? start, until: to === undefined ? undefined : to + 1 };
}

/** When the last included time ends: a day ends when the next one begins. */
export function endOf(to: number | undefined): number | undefined {
  return to !== undefined && (to + 1) % DAY_MS === 0 ? to + 1 : to;
}

/** The same for days. */
export function spanOfDays({ from, to }: Days, lengthMs: number | undefined): SeriesSpan {
  return spanOfTimes({ from, to: to === undefined ? undefined : to + DAY_MS - 1 }, lengthMs);
}

export const mostPoints = ({ from, until }: SeriesSpan): number =>
  from === undefined && until === undefined ? MAX_POINTS : MAX_POINTS_OF_DAYS;

/** How a series is thinned. */
export interface SeriesBounds {
  /** Maximum number of points; default: MAX_POINTS. */
  most?: number;
  /** The finest step; default: all. */
  step?: Step;
  /** The end, exclusive; default: the newest snapshot. */
  until?: number;
}

/** The snapshots from `from` (inclusive) on, oldest first, by the finest step that gives few enough points. */
export function seriesFrom(
  all: Readings,
  from: number,
  { most = MAX_POINTS, step = "all", until }: SeriesBounds = {},
): Series {
  const end = until === undefined ? all.length : all.countBefore(until);
  const begin = Math.min(all.countBefore(from), end);
  const readings = all.slice(begin, end);
  const { kept, resolution } = thin(readings, {
    most,
    step,
    keepsFirst: readings.length > 0 && readings.at(0) === from,
  });
  const points = kept.map((i) => readings.snapshot(i));
  return { points, resolution, gaps: gapsOf(points), seams: seamsOf(points) };
}

/** The times of the last snapshot at or before a time, and of the first one after it; null without one. */
interface Around {
  before: number | null;
  after: number | null;
}

/** The furthest that two compared snapshots are apart, in windows: daily files two days apart are more than 48 hours apart half the time. */
export const MAX_WINDOWS = 2.25;

/**
 * Which of two snapshots is compared with the newest one, taken at `to`: the one nearer to `to - lengthMs`, the earlier when
 * both are equally near. Only snapshots 0.5 to MAX_WINDOWS windows before `to` qualify; undefined when neither does.
 */
export function chooseFrom(to: number, lengthMs: number, { before, after }: Around): number | undefined {
  const target = to - lengthMs;
  const early = before !== null && to - before <= MAX_WINDOWS * lengthMs ? before : undefined;
  const late = after !== null && to - after >= lengthMs / 2 ? after : undefined;
  if (early === undefined || late === undefined) return early ?? late;
  return target - early <= late - target ? early : late;
}

/**
 * The time of the snapshot at which the series of a window begins, for a window of `lengthMs` that ends at `asOf`: the one a trend of
 * this length starts at, so that series and trend show the same gain. Without a trend, or if that would put several snapshots before
 * the window, the last snapshot at or before its start, else the first one in it. Undefined when the window has no snapshot.
 * `readings` have all columns and begin with the last snapshot at or before MAX_WINDOWS windows before `asOf`.
 */
export function seriesStart(readings: Readings, asOf: number, lengthMs: number): number | undefined {
  const start = asOf - lengthMs;
  if (readings.length === 0 || readings.at(readings.length - 1) < start) return undefined;
  const { TOTAL, RETAINED } = byBasis(readings);
  const held = TOTAL.length > 0 ? RETAINED.slice(0, RETAINED.countBefore(TOTAL.at(0))) : RETAINED;
  const last = TOTAL.length > 0 ? TOTAL : held;
  const to = last.at(last.length - 1);
  const from = windowStart(TOTAL, held, { target: to - lengthMs, to });
  const { before, after } = around(readings, start);
  if (from === undefined) return before ?? after ?? undefined;
  return Math.max((from.basis === "TOTAL" ? TOTAL : held).at(from.index), before ?? 0);
}

/** The reading that a window starts at: an index among the readings of its basis. */
interface WindowStart {
  basis: Basis;
  index: number;
}

/**
 * The reading that a trend starts at whose window begins at `target` and ends at `to`; undefined if none is near enough. `held`: stars
 * still held, all before the totals.
 */
export function windowStart(
  totals: Readings,
  held: Readings,
  { target, to }: { target: number; to: number },
): WindowStart | undefined {
  const [total, past] = [around(totals, target), around(held, target)];
  const before = total.before ?? past.before;
  const after = past.after ?? total.after;
  const from = chooseFrom(to, to - target, { before, after });
  if (from === undefined) return undefined;
  if (from === before)
    return total.before === null
      ? { basis: "RETAINED", index: past.next - 1 }
      : { basis: "TOTAL", index: total.next - 1 };
  return past.after === null
    ? { basis: "TOTAL", index: total.next }
    : { basis: "RETAINED", index: past.next };
}

/** `next`: the index of the first snapshot after a time. */
function around(readings: Readings, at: number): Around & { next: number } {
  // Times are whole numbers.
  const next = readings.countBefore(at + 1);
  return {
    next,
    before: next > 0 ? readings.at(next - 1) : null,
    after: next < readings.length ? readings.at(next) : null,
  };
}

/** A point of a series as far as gaps and seams depend on it. */
type SeriesPoint = Pick<Snapshot, "capturedAt" | "source">;

/** The seams between points, oldest first. */
export function seamsOf(points: readonly SeriesPoint[]): Seam[] {
  const seams: Seam[] = [];
  for (const [i, point] of points.entries()) {
    const before = points[i - 1];
    if (before !== undefined && isSeam(before, point))
      seams.push({ from: before.capturedAt, to: point.capturedAt });
  }
  return seams;
}

/** The gaps between points of the same basis, oldest first. */
export function gapsOf(points: readonly SeriesPoint[]): Gap[] {
  return BASES.flatMap((basis) => {
    const gaps = findGaps(
      points.flatMap(({ capturedAt, source }) => (basisOf(source) === basis ? [capturedAt] : [])),
    );
    // Star histories have a point a week before the last year.
    return basis === "TOTAL" ? gaps : gaps.filter(({ from, to }) => to - from > WEEK_MS);
  }).sort((a, b) => a.from - b.from);
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
    const nearby = [
      ...distances.slice(Math.max(0, i - NEIGHBOURS), i),
      ...distances.slice(i + 1, i + 1 + NEIGHBOURS),
    ];
    const typical = median(nearby);
    if (distance <= typical * GAP_FACTOR) continue;
    gaps.push({
      from: times[i] ?? 0,
      to: times[i + 1] ?? 0,
      missing: Math.max(1, Math.round(distance / typical) - 1),
    });
  }
  return gaps;
}

/** The stars at a time, with their basis. */
export interface StarCount {
  stars: number;
  basis: Basis;
}

/** The stars by the last reading until a time; null without one, or if it is `staleMs` old. Needs all columns. */
export function starsAt(
  readings: Readings | undefined,
  at: number,
  staleMs = Number.POSITIVE_INFINITY,
): StarCount | null {
  const index = (readings?.countBefore(at + 1) ?? 0) - 1;
  if (readings === undefined || index < 0 || at - readings.at(index) >= staleMs) return null;
  return { stars: readings.stars(index), basis: readings.isRetained(index) ? "RETAINED" : "TOTAL" };
}

/** Memory for sorting few values: a rebuild of all growth takes millions of medians. */
const FEW = new Float64Array(32);

/** The values in ascending order; valid until the next call. */
function inOrder(values: ArrayLike<number>): ArrayLike<number> {
  if (values.length > FEW.length) return Float64Array.from(values).sort();
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? Number.NaN;
    let at = i;
    for (; at > 0; at--) {
      const before = FEW[at - 1] ?? 0;
      if (before <= value) break;
      FEW[at] = before;
    }
    FEW[at] = value;
  }
  return FEW;
}

/** The median; NaN for no values. */
export function median(values: ArrayLike<number>): number {
  const sorted = inOrder(values);
  const middle = values.length / 2;
  if (values.length % 2 === 1) return sorted[Math.floor(middle)] ?? Number.NaN;
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** A step with a length. */
type TimeStep = Exclude<Step, "all">;

const LENGTHS_MS: Readonly<Record<TimeStep, number>> = {
  "1h": HOUR_MS,
  "2h": 2 * HOUR_MS,
  "6h": 6 * HOUR_MS,
  "12h": 12 * HOUR_MS,
  "1d": DAY_MS,
  "1w": WEEK_MS,
  "4w": 4 * WEEK_MS,
};

/** 1970-01-01 was a Thursday; weeks are counted from the Monday before. */
const MONDAY_OFFSET_MS = 3 * DAY_MS;

/** Start of the step of time that contains a time. */
export function startOfStep(at: number, step: TimeStep): number {
  const lengthMs = LENGTHS_MS[step];
  const offsetMs = lengthMs > DAY_MS ? MONDAY_OFFSET_MS : 0;
  return Math.floor((at + offsetMs) / lengthMs) * lengthMs - offsetMs;
}

/** The next longer step; undefined for the longest. */
export function longerStep(step: Step): TimeStep | undefined {
  const next = STEPS[STEPS.indexOf(step) + 1];
  return next === "all" ? undefined : next;
}

interface ThinOptions {
  /** Maximum number of readings. */
  most: number;
  /** The finest step. */
  step: Step;
  /** Whether the first reading stays whatever the step. */
  keepsFirst: boolean;
}

/** The indexes that stay by the finest step with at most `most`; of more by the longest step, the newest. */
export function thin(
  readings: Readings,
  { most, step, keepsFirst }: ThinOptions,
): { kept: number[]; resolution: Step } {
  let resolution = step;
  let kept = lastOfEach(readings, { step, keepsFirst });
  for (let next = longerStep(step); kept.length > most && next !== undefined; next = longerStep(next)) {
    resolution = next;
    kept = lastOfEach(readings, { indexes: kept, step: next, keepsFirst });
  }
  if (kept.length <= most) return { kept, resolution };
  const first = keepsFirst ? kept.slice(0, 1) : [];
  return { kept: [...first, ...kept.slice(first.length - most)], resolution };
}

/**
 * The indexes of readings that are the last of their step, or the first of all, and of the two between which the star history ends and totals
 * begin, as gains end and begin there. `indexes`: those to choose from; default: all.
 */
export function lastOfEach(
  readings: Readings,
  {
    step,
    keepsFirst,
    indexes = Array.from({ length: readings.length }, (_, i) => i),
  }: { step: Step; keepsFirst: boolean; indexes?: number[] },
): number[] {
  if (step === "all") return indexes;
  const starts = indexes.map((index) => startOfStep(readings.at(index), step));
  const firstTotal = indexes.findIndex((index) => !readings.isRetained(index));
  const isAtSeam = (i: number) => firstTotal > 0 && (i === firstTotal || i === firstTotal - 1);
  return indexes.filter((_, i) => (keepsFirst && i === 0) || isAtSeam(i) || starts[i] !== starts[i + 1]);
}
