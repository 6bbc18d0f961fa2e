import { DAY_MS, WEEK_MS } from "../lib/clock.js";
import { type Axis, type Frame, gainAxis, linearAxis, logAxis } from "./axes.js";
import { coordinate, element, estimateWidth, fit, type Markup } from "./markup.js";
import { AGE_UNITS, exactNumber, shortNumber, signedRate, signedShort } from "./numbers.js";
import { breaksOf, type ChartInput, type ChartPoint, type ChartSeries, type View } from "./series.js";

/** The lines of a chart: strokes, gaps, marks, and the labels at their ends. */

/** A point in a picture, in pixels. */
interface Point {
  x: number;
  y: number;
}

export interface LinePoint extends Point {
  /** Whether counts are missing between the previous point and this one, or the two cannot be compared. */
  isAfterGap: boolean;
}

/** Narrower gaps are not drawn, in pixels. */
const MIN_GAP_WIDTH = 5;

/** Converts a series to points in the picture, with its visible gaps. */
export function toLine({ points, gaps }: ChartSeries, { x, y }: Pick<Frame, "x" | "y">): LinePoint[] {
  const visible = gaps.filter(({ from, to }) => x(to) - x(from) >= MIN_GAP_WIDTH);
  const breaks = new Set(breaksOf({ points, gaps: visible }));
  return points.map(({ at, value }, i) => ({ x: x(at), y: y(value), isAfterGap: breaks.has(i) }));
}

/** The parts of a line between gaps. */
export function partsOf(points: readonly LinePoint[]): LinePoint[][] {
  const parts: LinePoint[][] = [];
  for (const point of points) {
    if (point.isAfterGap || parts.length === 0) parts.push([point]);
    else parts.at(-1)?.push(point);
  }
  return parts;
}

/** The path through the points, for the attribute `d`. Points that nobody could see are left out: pictures in git shrink to a fifth. */
export const pathOf = (points: readonly Point[]): string =>
  `M${visible(points)
    .map(({ x, y }) => `${coordinate(x)} ${coordinate(y)}`)
    .join("L")}`;

/** How far a drawn line may be from a point that it leaves out, in pixels. */
const UNSEEN = 0.5;

/** The points of a line without those that lie on it. Later points do not change which ones these are, so that pictures in git stay alike. */
function visible(points: readonly Point[]): Point[] {
  const kept = points.slice(0, 1);
  let first = 0;
  for (let i = 1; i < points.length; i++) {
    const [from, to] = [points[first], points[i + 1]];
    if (from === undefined || to === undefined) continue;
    const [dx, dy] = [to.x - from.x, to.y - from.y];
    const length = Math.hypot(dx, dy);
    const isNear = ({ x, y }: Point) =>
      (length === 0
        ? Math.hypot(x - from.x, y - from.y)
        : Math.abs(dy * (x - from.x) - dx * (y - from.y)) / length) <= UNSEEN;
    if (points.slice(first + 1, i + 1).every(isNear)) continue;
    kept.push(points[i] as Point);
    first = i;
  }
  return points.length > 1 ? [...kept, points.at(-1) as Point] : kept;
}

/** Draws a line with its gaps; `color` counts from 1. */
export function drawLine(points: readonly LinePoint[], color: number, width = 2.3): Markup[] {
  return partsOf(points).flatMap((part) => {
    if (part.length === 1)
      return part.map(({ x, y }) =>
        element("circle", { class: `chart-mark-${color}`, cx: x, cy: y, r: 1.8 }),
      );
    const look = { class: `chart-line chart-line-${color}`, fill: "none", "stroke-width": width };
    const ends = { "stroke-linecap": "round", "stroke-linejoin": "round" };
    return [element("path", { ...look, d: pathOf(part), ...ends })];
  });
}

/** Fills the area between a line and `bottom`. */
export function drawArea(points: readonly LinePoint[], bottom: number, color: number): Markup[] {
  return partsOf(points).flatMap((part) => {
    const [first, last] = [part[0], part.at(-1)];
    if (first === undefined || last === undefined || first === last) return [];
    const d = `${pathOf(part)}V${coordinate(bottom)}H${coordinate(first.x)}Z`;
    return [element("path", { class: `chart-area-${color}`, d, "fill-opacity": 0.12 })];
  });
}

/** From one stroke of a hatch to the next, along the axis. */
const HATCH_STEP = 5.6;

/** Hatches the times of the gaps in a line, from the level of its ends down to `bottom`. */
export function drawGaps(points: readonly LinePoint[], bottom: number): Markup[] {
  const strokes = points.flatMap((to, i) => {
    const from = points[i - 1];
    if (from === undefined || !to.isAfterGap) return [];
    // Strokes fall where the level rises, so that each meets it once.
    const [low, high] = from.y >= to.y ? [from, to] : [to, from];
    const [width, sign] = [Math.abs(high.x - low.x), Math.sign(high.x - low.x)];
    const slope = (low.y - high.y) / width;
    const count = Math.ceil((bottom - high.y + width) / HATCH_STEP) - 1;
    return Array.from({ length: Math.max(0, count) }, (_, stroke) => {
      const begin = bottom - (stroke + 1) * HATCH_STEP;
      const [first, last] = [Math.max(0, (low.y - begin) / (1 + slope)), Math.min(width, bottom - begin)];
      const at = (along: number) => `${coordinate(low.x + sign * along)} ${coordinate(begin + along)}`;
      return first < last ? `M${at(first)}L${at(last)}` : "";
    });
  });
  const d = strokes.join("");
  return d === ""
    ? []
    : [element("path", { class: "chart-hint", d, "stroke-width": 2, "stroke-opacity": 0.12 })];
}

/** The corners of the marks from the second colour on, x and y in turn, relative to their size. The first is a circle. */
const MARKS = [
  [-0.9, -0.9, 0.9, -0.9, 0.9, 0.9, -0.9, 0.9],
  [0, -1.15, 1.1, 0.85, -1.1, 0.85],
  [0, -1.25, 1.25, 0, 0, 1.25, -1.25, 0],
  [0, 1.15, 1.1, -0.85, -1.1, -0.85],
  [-0.45, -1.2, 0.45, -1.2, 0.45, 1.2, -0.45, 1.2],
];

/** Draws a mark. Each colour has its own shape, so lines can be distinguished without colours. */
export function drawMark(
  at: Point,
  color: number,
  { size, edge = 1.2 }: { size: number; edge?: number },
): Markup {
  const look = { class: `chart-mark chart-mark-${color}`, "stroke-width": edge };
  const corners = MARKS[color - 2];
  if (corners === undefined) return element("circle", { ...look, cx: at.x, cy: at.y, r: size });
  const d = corners.map((offset, i) =>
    i % 2 === 0 ? `L${coordinate(at.x + offset * size)} ` : coordinate(at.y + offset * size),
  );
  return element("path", { ...look, d: `M${d.join("").slice(1)}Z` });
}

/** Moves positions so that they are at least `distance` apart and within the bounds; less apart if there is no room. */
export function spread(
  wanted: readonly number[],
  distance: number,
  [least, most]: readonly [number, number],
): number[] {
  const apart = Math.min(distance, wanted.length > 1 ? (most - least) / (wanted.length - 1) : distance);
  const order = wanted.map((_, i) => i).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const positions = [...wanted];
  let last = least - apart;
  for (const i of order) {
    last = Math.min(most, Math.max(wanted[i] ?? 0, last + apart));
    positions[i] = last;
  }
  let next = most + apart;
  for (const i of order.toReversed()) {
    next = Math.min(positions[i] ?? 0, next - apart);
    positions[i] = next;
  }
  return positions;
}

/** The label at the end of a line: its name and its last value. */
export interface EndLabel {
  name: string;
  value: string;
}

/** How the labels of a chart are written: each name with its value below it, or next to it. */
export interface LabelLook {
  size: number;
  /** Of the values. */
  small: number;
  isStacked: boolean;
  /** Of pictures, whose lines end in stars: from the end of a line to its label. Those that moved have no line to it. */
  gap?: number;
  /** Between labels, at least; default: 4. */
  apart?: number;
}

/** From the end of a line to its label, and from a name to a value next to it. */
const LABEL_GAP = 12;
const VALUE_GAP = 8;
/** How much wider bold letters may be than those that are estimated. */
const BOLD = 1.16;

/** The width of the widest label with the gap before it, at most `max`; 0 without labels. */
export function labelWidth(labels: readonly EndLabel[], look: LabelLook, max: number): number {
  const widths = labels.map(({ name, value }) => {
    const [first, second] = [estimateWidth(name, look.size * BOLD), estimateWidth(value, look.small)];
    return look.isStacked ? Math.max(first, second) : first + (value === "" ? 0 : VALUE_GAP + second);
  });
  return labels.length === 0 ? 0 : Math.min(max, (look.gap ?? LABEL_GAP) + Math.max(...widths));
}

/**
 * Draws names and last values at the ends of their own lines, without overlap; one that had to move has a line to its end. Those
 * without points are left out. `right`: the edge of the picture.
 */
export function drawLabels(
  labels: readonly EndLabel[],
  lines: readonly (readonly Point[])[],
  { right, top, bottom, ...look }: Pick<Frame, "right" | "top" | "bottom"> & LabelLook,
): Markup[] {
  const { size, small, isStacked, gap = LABEL_GAP, apart = 4 } = look;
  const shown = labels.flatMap((label, i) => {
    const end = lines[i]?.at(-1);
    if (end === undefined) return [];
    const reach = end.x + labelWidth([label], look, right - end.x);
    return [{ ...label, end, reach, color: i + 1 }];
  });
  // Labels that share a column.
  const columns: (typeof shown)[] = [];
  for (const one of shown.toSorted((a, b) => a.end.x - b.end.x)) {
    const last = columns.at(-1);
    if (last?.some(({ reach }) => reach >= one.end.x)) last.push(one);
    else columns.push([one]);
  }
  return columns.flatMap((column) => {
    const height = (isStacked ? size + small : size) + apart;
    const wanted = column.map(({ end }) => end.y);
    const [above, below] = isStacked ? [0.7 * size, small] : [0.4 * size, 4];
    const places = spread(wanted, height, [top + above, bottom - below]);
    return column.flatMap(({ name, value, end, reach, color }, i) => {
      const y = places[i] ?? top;
      const x = end.x + gap;
      const beside = isStacked || value === "" ? 0 : VALUE_GAP + estimateWidth(value, small);
      const leader = `M${coordinate(end.x + 5)} ${coordinate(end.y)}L${coordinate(x - 2)} ${coordinate(y)}`;
      const named = { class: `chart-halo chart-mark-${color}`, "font-size": size, "font-weight": 600 };
      const valued = { class: "chart-halo chart-muted", "font-size": small };
      const place = isStacked
        ? { x, y: y + small + 3 }
        : { x: reach, y: y + size * 0.35, "text-anchor": "end" };
      return [
        ...(Math.abs(y - end.y) < size / 2 || gap > LABEL_GAP
          ? []
          : [element("path", { class: `chart-line-${color}`, d: leader, "stroke-width": 1 })]),
        element(
          "text",
          { ...named, x, y: y + (isStacked ? 1 : size * 0.35) },
          fit(name, { size: size * BOLD, width: reach + 1 - x - beside }),
        ),
        ...(value === ""
          ? []
          : [element("text", { ...valued, ...place }, fit(value, { size: small, width: reach + 1 - x }))]),
      ];
    });
  });
}

/** Names without their owners, if that keeps them distinct. */
export function shortNames(names: readonly string[]): string[] {
  const short = names.map((name) => name.slice(name.lastIndexOf("/") + 1) || name);
  const byName = Map.groupBy(short, (name) => name.toLowerCase());
  return short.map((name, i) =>
    (byName.get(name.toLowerCase())?.length ?? 0) > 1 ? (names[i] ?? name) : name,
  );
}

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
  name: "day" | "week" | "fortnight" | "month";
  ms: number;
}

export const DAY_STEP: Step = { name: "day", ms: DAY_MS };
const MONTH: Step = { name: "month", ms: AGE_UNITS.month.ms };
const WEEK: Step = { name: "week", ms: WEEK_MS };
const STEPS: readonly Step[] = [DAY_STEP, WEEK, MONTH];
/** Those of pictures, which are seen at one size. */
export const FINE_STEPS: readonly Step[] = [DAY_STEP, WEEK, { name: "fortnight", ms: 2 * WEEK_MS }, MONTH];

/** Maximum number of bars, so that each stays visible: days are joined into weeks or months. */
const MAX_BARS = 130;
/** A bar covers at most this many steps: the missing ones would look measured. */
const LONGEST = 1.75;
/** A shorter rest is joined to the step before it: divided by so little time, chance would look like growth. */
export const SHORTEST_STEP = 0.4;

/**
 * The shortest step that gives few enough bars and is not shorter than the usual distance of the points. `span`: the time that
 * the whole chart covers, so that all its lines have the same step; default: that of the points. `most`: number of bars.
 */
export function stepOf(
  points: readonly ChartPoint[],
  span = spanOf([points]),
  { most = MAX_BARS, steps = STEPS }: { most?: number; steps?: readonly Step[] } = {},
): Step {
  const usual = usualDistance(points);
  return steps.find(({ ms }) => span / ms <= most && usual <= ms * 1.5) ?? MONTH;
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
    const isApart = others.some((point) => point.isApart);
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
  if (ends.length > 2 && time(-1) - time(-2) < SHORTEST_STEP * ms) ends.splice(-2, 1);
  if (ends.length > 2 && time(1) - time(0) < SHORTEST_STEP * ms) ends.splice(1, 1);
  return ends;
}

/**
 * Where steps begin. Points that come once a step jitter by minutes; steps begin half a step away from the newest but one, so that each
 * has one, and stay while a last point moves on. Otherwise days begin at midnight UTC, and weeks on Mondays.
 */
function beginOf(points: readonly ChartPoint[], ms: number): number {
  if (usualDistance(points) > ms / 2) return (points.at(-2)?.at ?? 0) + ms / 2;
  // 1970-01-01 was a Thursday.
  return ms % WEEK_MS === 0 ? 4 * DAY_MS : 0;
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

/**
 * Draws gains per day as bars: each is as wide as its time, so that its area is the gain. Nothing is drawn where the gain is
 * unknown; a gain of 0 is a thin bar.
 */
export function drawBars(
  gains: readonly Gain[],
  { x, y }: Pick<Frame, "x" | "y">,
  look = "chart-area-1",
): Markup[] {
  const zero = y(0);
  const bars = gains.map(({ perDay, since, at }) => {
    if (perDay === null) return "";
    // Neighbouring bars have a gap between them, as far as there is room.
    const gap = Math.min(1.5, (x(at) - x(since)) / 4) / 2;
    const end = y(perDay);
    const tip = Math.abs(end - zero) < 1 ? zero + (perDay < 0 ? 1 : -1) : end;
    const [left, right, from, to] = [x(since) + gap, x(at) - gap, zero, tip].map(coordinate);
    return `M${left} ${from}V${to}H${right}V${from}Z`;
  });
  const d = bars.join("");
  return d === "" ? [] : [element("path", { d, class: look })];
}

/** How a view is drawn. */
interface Drawing {
  lines(series: readonly ChartSeries[]): readonly ChartSeries[];
  /** The bars that replace a single line. */
  bars(points: readonly ChartPoint[]): Gain[] | undefined;
  axis(values: readonly number[], scale: ChartInput["scale"], count: number): Axis;
  short(value: number): string;
  exact(value: number): string;
}

export const DRAWINGS: Readonly<Record<View, Drawing>> = {
  total: {
    lines: (series) => series,
    bars: () => undefined,
    axis: countAxis,
    short: shortNumber,
    exact: exactNumber,
  },
  "per-day": {
    lines: perDayLines,
    bars: (points) => gainsOf(points),
    axis: (values, _, count) => gainAxis(values, count),
    short: signedShort,
    exact: signedRate,
  },
};

function countAxis(values: readonly number[], scale: ChartInput["scale"], count: number): Axis {
  const [low, high] = values.length === 0 ? [0, 1] : [Math.min(...values), Math.max(...values)];
  return (scale === "log" ? logAxis : linearAxis)(low, high, count);
}

/** Longest name and note of a series, in average characters. */
const NAME_ROOM = { size: 1, width: 200 };

/** Only points that are counts; names are cut once here, since they are measured repeatedly. */
export function cleanSeries(series: ChartSeries): ChartSeries {
  const { name, note, points } = series;
  return {
    ...series,
    points: points.filter(({ at, value }) => Number.isFinite(at) && Number.isFinite(value) && value >= 0),
    name: fit(name, NAME_ROOM),
    ...(note === undefined ? {} : { note: fit(note, NAME_ROOM) }),
  };
}
