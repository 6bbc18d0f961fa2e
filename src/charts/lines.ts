import type { SnapshotSource } from "../repositories/repositories.js";
import { coordinate, element, type Markup } from "./markup.js";
import { type ChartSeries, isBroken, reducePoints, widestGaps } from "./series.js";
import { estimateWidth, fit } from "./text.js";

/** The lines of a chart: strokes by source, gaps, marks, and the labels at their ends. */

/** A point in a picture, in pixels. */
export interface Point {
  x: number;
  y: number;
}

/** A point of a line. */
export interface LinePoint extends Point {
  source: SnapshotSource;
  /** Whether counts are missing between the previous point and this one, or the two cannot be compared. */
  isAfterGap: boolean;
}

/** Narrower gaps are not drawn, in pixels. */
const MIN_GAP_WIDTH = 5;
/** Maximum number of points drawn per line; more cannot be distinguished. */
export const MAX_POINTS = 300;

/** Converts a series to points in the picture: reduced, with its visible gaps, and broken at its seams. */
export function toLine(
  series: ChartSeries,
  toPoint: (point: { at: number; value: number }) => Point,
): LinePoint[] {
  const known = new Map(series.points.map((point) => [point.at, point]));
  const xOf = (at: number) => {
    const point = known.get(at);
    return point === undefined ? Number.NaN : toPoint(point).x;
  };
  const visible = widestGaps(series.gaps.filter(({ from, to }) => xOf(to) - xOf(from) >= MIN_GAP_WIDTH));
  const gapEnds = new Set(visible.map(({ to }) => to));
  return reducePoints(series.points, visible, MAX_POINTS).map((point, i, points) => ({
    ...toPoint(point),
    source: point.source,
    isAfterGap: gapEnds.has(point.at) || isBroken(points[i - 1], point),
  }));
}

/** Stroke by the source of the counts. */
export const STROKES = {
  OBSERVED: { "stroke-width": 2.3 },
  IMPORTED: { "stroke-width": 1.6 },
  BACKFILLED: { "stroke-width": 2, "stroke-dasharray": "0.1 4" },
} as const satisfies Record<SnapshotSource, object>;

interface Run {
  source: SnapshotSource;
  points: Point[];
}

/** Splits a line into runs with the same stroke, and isolated points. */
function splitLine(points: readonly LinePoint[]): { runs: Run[]; isolated: Point[] } {
  const runs: Run[] = [];
  const isolated: Point[] = [];
  for (const [i, point] of points.entries()) {
    const before = points[i - 1];
    const after = points[i + 1];
    const isBegin = before === undefined || point.isAfterGap;
    if (isBegin && (after === undefined || after.isAfterGap)) isolated.push(point);
    if (isBegin) continue;
    const last = runs.at(-1);
    if (last?.source === point.source && last.points.at(-1) === before) last.points.push(point);
    else runs.push({ source: point.source, points: [before, point] });
  }
  return { runs, isolated };
}

/** The path through the points, for the attribute `d`. */
export function pathOf(points: readonly Point[]): string {
  return points.map(({ x, y }, i) => `${i === 0 ? "M" : "L"}${coordinate(x)} ${coordinate(y)}`).join("");
}

/** Draws a line with its gaps; `color` counts from 1. */
export function drawLine(points: readonly LinePoint[], color: number): Markup[] {
  const { runs, isolated } = splitLine(points);
  return [
    ...runs.map(({ source, points: run }) =>
      element("path", {
        class: `chart-line chart-line-${color}`,
        d: pathOf(run),
        fill: "none",
        ...STROKES[source],
        "stroke-linecap": "round",
        "stroke-linejoin": "round",
      }),
    ),
    ...isolated.map(({ x, y }) => element("circle", { class: `chart-mark-${color}`, cx: x, cy: y, r: 1.8 })),
  ];
}

/** Fills the area between a line and `bottom`. */
export function drawArea(points: readonly LinePoint[], bottom: number, color: number): Markup[] {
  const parts: LinePoint[][] = [];
  for (const point of points) {
    if (point.isAfterGap || parts.length === 0) parts.push([point]);
    else parts.at(-1)?.push(point);
  }
  return parts.flatMap((part) => {
    const [first, last] = [part[0], part.at(-1)];
    if (first === undefined || last === undefined || part.length < 2) return [];
    const outline = [...part, { x: last.x, y: bottom }, { x: first.x, y: bottom }];
    return [element("path", { class: `chart-area-${color}`, d: `${pathOf(outline)}Z`, "fill-opacity": 0.1 })];
  });
}

/** Distance of the marks along a line, in pixels, and their size. */
const MARK_DISTANCE = 80;
const MARK_SIZE = 3;

/** Draws marks along a line, to identify it far from its end. */
export function drawMarksAlong(points: readonly LinePoint[], color: number): Markup[] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return [];
  // Offset by colour, so that the marks of overlapping lines do not coincide.
  let next = first.x + (MARK_DISTANCE * color) / 6;
  return points.flatMap((point) => {
    if (point.x < next || point.x > last.x - MARK_DISTANCE / 4) return [];
    next = point.x + MARK_DISTANCE;
    // No edge, which would look like a gap in the line.
    return [drawMark(point, color, { size: MARK_SIZE, edge: 0 })];
  });
}

/** Draws a mark. Each colour has its own shape, so lines can be distinguished without colours. */
export function drawMark(
  { x, y }: Point,
  color: number,
  { size, edge = 1.2 }: { size: number; edge?: number },
): Markup {
  const attributes = { class: `chart-mark chart-mark-${color}`, "stroke-width": edge };
  const shape = (...corners: [number, number][]) =>
    element("path", {
      ...attributes,
      d: `${pathOf(corners.map(([dx, dy]) => ({ x: x + dx * size, y: y + dy * size })))}Z`,
    });
  switch (color) {
    case 1:
      return element("circle", { ...attributes, cx: x, cy: y, r: size });
    case 2:
      return shape([-0.9, -0.9], [0.9, -0.9], [0.9, 0.9], [-0.9, 0.9]);
    case 3:
      return shape([0, -1.15], [1.1, 0.85], [-1.1, 0.85]);
    case 4:
      return shape([0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]);
    case 5:
      return shape([0, 1.15], [1.1, -0.85], [-1.1, -0.85]);
    default:
      return shape([-0.45, -1.2], [0.45, -1.2], [0.45, 1.2], [-0.45, 1.2]);
  }
}

/** Moves positions so that they are at least `distance` apart and between `top` and `bottom`; less apart if there is no room. */
export function spread(
  wanted: readonly number[],
  distance: number,
  { top, bottom }: { top: number; bottom: number },
): number[] {
  const apart = Math.min(distance, wanted.length > 1 ? (bottom - top) / (wanted.length - 1) : distance);
  const order = wanted.map((_, i) => i).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const positions = wanted.map(() => top);
  let last = top - apart;
  for (const i of order) {
    last = Math.min(bottom, Math.max(wanted[i] ?? 0, last + apart));
    positions[i] = last;
  }
  let next = bottom + apart;
  for (const i of order.toReversed()) {
    next = Math.min(positions[i] ?? 0, next - apart);
    positions[i] = next;
  }
  return positions;
}

/** The label at the end of a line. */
export interface EndLabel {
  name: string;
  /** Its last value. */
  value: string;
  /** Where the line ends. */
  end: Point;
  color: number;
}

const MARK_ROOM = 16;
const VALUE_GAP = 8;

/** The width of the column of labels, at most `max`. */
export function labelWidth(labels: readonly EndLabel[], size: number, max: number): number {
  const widest = (texts: readonly string[]) => Math.max(...texts.map((text) => estimateWidth(text, size)));
  const names = widest(labels.map(({ name }) => name));
  const values = widest(labels.map(({ value }) => value));
  return Math.min(max, MARK_ROOM + names + VALUE_GAP + values);
}

/** Draws names and last values in the column `box`, near the ends of their lines and without overlap. */
export function drawLabels(
  labels: readonly EndLabel[],
  box: { left: number; right: number; top: number; bottom: number },
  size: number,
): Markup[] {
  const positions = spread(
    labels.map(({ end }) => end.y),
    size + 4,
    box,
  );
  const values = labels.map(({ value }) => value);
  const valueRoom = Math.max(...values.map((value) => estimateWidth(value, size))) + VALUE_GAP;
  const nameRoom = box.right - box.left - MARK_ROOM - valueRoom;
  // Names take precedence: values can be read off the axis.
  const longest = Math.max(...labels.map(({ name }) => estimateWidth(name, size)));
  const withValues = nameRoom >= Math.min(longest - 0.1, size * 4.5);
  return labels.flatMap(({ name, color }, i) => {
    const y = positions[i] ?? box.top;
    const room = withValues ? nameRoom : box.right - box.left - MARK_ROOM;
    const text = { "font-size": size, y: y + size * 0.35 };
    return [
      drawMark({ x: box.left + 6, y }, color, { size: 3.8 }),
      element(
        "text",
        { ...text, class: "chart-text", x: box.left + MARK_ROOM },
        fit(name, { size, width: room }),
      ),
      ...(withValues
        ? [element("text", { ...text, class: "chart-muted", x: box.right, "text-anchor": "end" }, values[i])]
        : []),
    ];
  });
}

/** Names without their owners, where that keeps them distinct. */
export function shortNames(names: readonly string[]): string[] {
  const short = names.map((name) => name.slice(name.lastIndexOf("/") + 1) || name);
  const byName = Map.groupBy(short, (name) => name.toLowerCase());
  return short.map((name, i) =>
    (byName.get(name.toLowerCase())?.length ?? 0) > 1 ? (names[i] ?? name) : name,
  );
}
