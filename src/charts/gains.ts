import { DAY_MS, WEEK_MS } from "../lib/clock.js";
import type { SnapshotSource } from "../repositories/repositories.js";
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

const MONTH: Step = { name: "month", ms: AGE_UNITS.month.ms };
const STEPS: readonly Step[] = [{ name: "day", ms: DAY_MS }, { name: "week", ms: WEEK_MS }, MONTH];

/** Maximum number of bars, so that each stays visible: days are joined into weeks or months. */
const MAX_BARS = 130;
/** A bar covers at most this many steps: the missing ones would look measured. */
const LONGEST = 1.75;
/** A shorter rest is joined to the step before it: divided by so little time, chance would look like growth. */
const SHORTEST = 0.4;

/**
 * The shortest step that gives few enough bars and is not shorter than the usual distance of the points. `span`: the time that
 * the whole chart covers, so that all its lines have the same step; default: that of the points.
 */
export function stepOf(points: readonly ChartPoint[], span = spanOf([points])): Step {
  const usual = usualDistance(points);
  return STEPS.find(({ ms }) => span / ms <= MAX_BARS && usual <= ms * 1.5) ?? MONTH;
}

/** The time from the first point of all lines to the last. */
export function spanOf(lines: readonly (readonly ChartPoint[])[]): number {
  const times = lines.flatMap((points) => [points[0]?.at ?? [], points.at(-1)?.at ?? []].flat());
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
    const begin = ends[i] ?? 0;
    const [from, to] = [points[begin] as ChartPoint, points[end] as ChartPoint];
    const between = points.slice(begin, end + 1);
    const isApart = between.some((point, j) => j > 0 && isBroken(between[j - 1], point));
    const change = isApart ? null : to.value - from.value;
    const length = to.at - from.at;
    const perDay = change === null || length > LONGEST * step.ms ? null : (change * DAY_MS) / length;
    return { since: from.at, at: to.at, change, perDay, point: to };
  });
}

/** The indexes of the first point, and of the last point of each step. */
function lastOfSteps(points: readonly ChartPoint[], step: Step): number[] {
  const offset = offsetOf(points, step);
  const stepAt = (at: number) => Math.floor((at - offset) / step.ms);
  const ends: number[] = [];
  for (const [i, { at }] of points.entries()) {
    const next = points[i + 1];
    if (i === 0 || next === undefined || stepAt(next.at) !== stepAt(at)) ends.push(i);
  }
  const time = (at: number) => points[ends.at(at) ?? 0]?.at ?? 0;
  if (ends.length > 2 && time(-1) - time(-2) < SHORTEST * step.ms) ends.splice(-2, 1);
  if (ends.length > 2 && time(1) - time(0) < SHORTEST * step.ms) ends.splice(1, 1);
  return ends;
}

/**
 * Where steps begin. Points that come once a step jitter by minutes; steps begin half a step away from them, so that each has
 * one. Otherwise days begin at midnight UTC, and weeks on Mondays.
 */
function offsetOf(points: readonly ChartPoint[], { ms }: Step): number {
  if (usualDistance(points) >= ms / 2) {
    const phases = points.map(({ at }) => (2 * Math.PI * at) / ms);
    const sum = (of: (phase: number) => number) => phases.reduce((total, phase) => total + of(phase), 0);
    return (Math.atan2(sum(Math.sin), sum(Math.cos)) / (2 * Math.PI) + 0.5) * ms;
  }
  // 1970-01-01 was a Thursday.
  return ms === WEEK_MS ? 4 * DAY_MS : 0;
}

/** The line of what a series gains per day; broken where that is unknown. Its values may be negative. */
export function perDayLine(series: ChartSeries, span: number): ChartSeries {
  const gains = gainsOf(series.points, stepOf(series.points, span));
  const points = gains.flatMap(({ perDay, at, point }, i): ChartPoint[] => {
    if (perDay === null) return [];
    const isApart = i > 0 && gains[i - 1]?.perDay === null;
    return [{ at, value: perDay, source: point.source, ...(isApart ? { isApart } : {}) }];
  });
  return { ...series, points, gaps: [] };
}

/** Bars by the source of the counts, so that they differ as the lines do. */
export const BAR_LOOKS = {
  OBSERVED: { class: "chart-area-1", "fill-opacity": 0.85 },
  IMPORTED: { class: "chart-area-1", "fill-opacity": 0.55 },
  BACKFILLED: { class: "chart-line-1", "stroke-width": 1, "stroke-dasharray": "1 2", fill: "none" },
} as const satisfies Record<SnapshotSource, object>;

/** Positions in the picture. */
interface BarFrame {
  x(at: number): number;
  y(value: number): number;
  top: number;
  bottom: number;
}

/**
 * Draws gains per day as bars: each is as wide as its time, so that its area is the gain. One that does not fit is cut with a
 * slanted gap. Nothing is drawn where the gain is unknown; a gain of 0 is a thin bar.
 */
export function drawBars(gains: readonly Gain[], frame: BarFrame): Markup[] {
  const paths = new Map<SnapshotSource, string>();
  const cuts: string[] = [];
  for (const gain of gains) {
    if (gain.perDay === null) continue;
    const { source } = gain.point;
    const [left, right] = sidesOf(gain, frame);
    const zero = frame.y(0);
    const wanted = frame.y(gain.perDay);
    const end = Math.min(frame.bottom, Math.max(frame.top, wanted));
    const tip = Math.abs(end - zero) < 1 ? zero + (gain.perDay < 0 ? 1 : -1) : end;
    const [x, to] = [coordinate(left), coordinate(right)];
    const bar = `M${x} ${coordinate(zero)}V${coordinate(tip)}H${to}V${coordinate(zero)}Z`;
    paths.set(source, (paths.get(source) ?? "") + bar);
    if (Math.abs(end - wanted) > 1) {
      const y = end + (end === frame.top ? 9 : -9);
      cuts.push(`M${x} ${coordinate(y + 2)}L${to} ${coordinate(y - 2)}`);
    }
  }
  const bars = [...paths].map(([source, d]) => element("path", { d, ...BAR_LOOKS[source] }));
  const cut =
    cuts.length === 0 ? [] : [element("path", { class: "chart-mark", d: cuts.join(""), "stroke-width": 3 })];
  return [...bars, ...cut];
}

/** Neighbouring bars have a gap between them, as far as there is room. */
function sidesOf({ since, at }: Gain, { x }: BarFrame): [number, number] {
  const [left, right] = [x(since), x(at)];
  const gap = Math.min(1.5, (right - left) / 4) / 2;
  return [left + gap, right - gap];
}
