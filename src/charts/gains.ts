import { DAY_MS, WEEK_MS } from "../lib/clock.js";
import type { SnapshotSource } from "../repositories/repositories.js";
import type { Frame } from "./axes.js";
import { coordinate, element, type Markup } from "./markup.js";
import { AGE_UNITS } from "./numbers.js";
import { type ChartPoint, type ChartSeries, isBroken } from "./series.js";

/** The gains of a line per day, computed and drawn as bars: the view `per-day` of a chart. */

/** The time between the last point of one day, week or month and that of the next: one bar. */
export interface Gain {
  /** Times of the two points compared. */
  since: number;
  at: number;
  /** The difference between them; null where the two cannot be compared. */
  change: number | null;
  /** The difference divided by the days between them; null: no bar, as the two are too far apart or cannot be compared. */
  perDay: number | null;
  /** The later point. */
  point: ChartPoint;
}

/** The length of a bar. */
export interface Step {
  name: "day" | "week" | "month";
  ms: number;
}

export const DAY_STEP: Step = { name: "day", ms: DAY_MS };
const MONTH: Step = { name: "month", ms: AGE_UNITS.month.ms };
const STEPS: readonly Step[] = [DAY_STEP, { name: "week", ms: WEEK_MS }, MONTH];

/** Maximum number of bars, so that each stays visible: days are joined into weeks or months. */
const MAX_BARS = 130;
/** A bar covers at most this many steps: the missing ones would look measured. */
const LONGEST = 1.75;
/** A shorter rest is joined to the step before it: divided by so little time, chance would look like growth. */
const SHORTEST = 0.4;

/**
 * The shortest step that gives few enough bars and is not shorter than the usual distance of the points. `span`: the time that
 * the whole chart covers, so that all its lines have the same step; default: that of the points. `most`: number of bars.
 */
export function stepOf(
  points: readonly ChartPoint[],
  span = spanOf([points]),
  most: number = MAX_BARS,
): Step {
  const usual = usualDistance(points);
  return STEPS.find(({ ms }) => span / ms <= most && usual <= ms * 1.5) ?? MONTH;
}

/** The time from the first point of all lines to the last. */
export function spanOf(lines: readonly (readonly ChartPoint[])[]): number {
  const times = lines.flatMap((points) => points.map(({ at }) => at));
  return times.length === 0 ? 0 : Math.max(...times) - Math.min(...times);
}

function usualDistance(points: readonly ChartPoint[]): number {
  const distances = points.slice(1).map(({ at }, i) => at - (points[i]?.at ?? at));
  return distances.sort((a, b) => a - b)[Math.floor(distances.length / 2)] ?? 0;
}

/** The gains of a line, oldest first; the first point has none. */
export function gainsOf(points: readonly ChartPoint[], step: Step = stepOf(points)): Gain[] {
  const ends = lastOfSteps(points, step);
  return ends.slice(1).map((end, i): Gain => {
    const [from, ...others] = points.slice(ends[i], end + 1) as [ChartPoint, ...ChartPoint[]];
    const to = others.at(-1) ?? from;
    const isApart = others.some((point, j) => isBroken(others[j - 1] ?? from, point));
    const change = isApart ? null : to.value - from.value;
    const length = to.at - from.at;
    const perDay = change === null || length > LONGEST * step.ms ? null : (change * DAY_MS) / length;
    return { since: from.at, at: to.at, change, perDay, point: to };
  });
}

/** The indexes of the first point, and of the last point of each step. */
function lastOfSteps(points: readonly ChartPoint[], { ms }: Step): number[] {
  const begin = beginOf(points, ms);
  const stepAt = (at = Number.NaN) => Math.floor((at - begin) / ms);
  const ends = points.flatMap(({ at }, i) =>
    i === 0 || stepAt(points[i + 1]?.at) !== stepAt(at) ? [i] : [],
  );
  const time = (at: number) => points[ends.at(at) ?? 0]?.at ?? 0;
  if (ends.length > 2 && time(-1) - time(-2) < SHORTEST * ms) ends.splice(-2, 1);
  if (ends.length > 2 && time(1) - time(0) < SHORTEST * ms) ends.splice(1, 1);
  return ends;
}

/**
 * Where steps begin. Points that come once a step jitter by minutes; steps begin half a step away from the newest, so that each
 * has one. Otherwise days begin at midnight UTC, and weeks on Mondays.
 */
function beginOf(points: readonly ChartPoint[], ms: number): number {
  if (usualDistance(points) >= ms / 2) return (points.at(-1)?.at ?? 0) + ms / 2;
  // 1970-01-01 was a Thursday.
  return ms === WEEK_MS ? 4 * DAY_MS : 0;
}

/** The lines of what series gain per day; broken where that is unknown. Their values may be negative. */
export function perDayLines(series: readonly ChartSeries[]): ChartSeries[] {
  const span = spanOf(series.map(({ points }) => points));
  return series.map((one) => {
    const gains = gainsOf(one.points, stepOf(one.points, span));
    const points = gains.flatMap(({ perDay, at, point: { source } }, i): ChartPoint[] =>
      perDay === null ? [] : [{ at, value: perDay, source, isApart: gains[i - 1]?.perDay === null }],
    );
    return { ...one, points, gaps: [] };
  });
}

/** Bars by the source of the counts, so that they differ as the lines do. */
export const BAR_LOOKS = {
  OBSERVED: { class: "chart-area-1", "fill-opacity": 0.85 },
  IMPORTED: { class: "chart-area-1", "fill-opacity": 0.55 },
  BACKFILLED: { class: "chart-line-1", "stroke-width": 1, "stroke-dasharray": "1 2", fill: "none" },
} as const satisfies Record<SnapshotSource, object>;

/**
 * Draws gains per day as bars: each is as wide as its time, so that its area is the gain. Nothing is drawn where the gain is
 * unknown; a gain of 0 is a thin bar.
 */
export function drawBars(gains: readonly Gain[], { x, y }: Pick<Frame, "x" | "y">): Markup[] {
  const zero = y(0);
  const paths = new Map<SnapshotSource, string>();
  for (const { perDay, since, at, point } of gains) {
    if (perDay === null) continue;
    // Neighbouring bars have a gap between them, as far as there is room.
    const gap = Math.min(1.5, (x(at) - x(since)) / 4) / 2;
    const end = y(perDay);
    const tip = Math.abs(end - zero) < 1 ? zero + (perDay < 0 ? 1 : -1) : end;
    const [left, right, from, to] = [x(since) + gap, x(at) - gap, zero, tip].map(coordinate);
    const bar = `M${left} ${from}V${to}H${right}V${from}Z`;
    paths.set(point.source, (paths.get(point.source) ?? "") + bar);
  }
  return [...paths].map(([source, d]) => element("path", { d, ...BAR_LOOKS[source] }));
}
