import type { SnapshotSource } from "../repositories/repositories.js";
import type { Frame } from "./axes.js";
import { coordinate, element, type Markup } from "./markup.js";
import { type ChartSeries, isBroken } from "./series.js";
import { estimateWidth, fit } from "./text.js";

/** The lines of a chart: strokes by source, gaps, marks, and the labels at their ends. */

/** A point in a picture, in pixels. */
interface Point {
  x: number;
  y: number;
}

export interface LinePoint extends Point {
  source: SnapshotSource;
  /** Whether counts are missing between the previous point and this one, or the two cannot be compared. */
  isAfterGap: boolean;
}

/** Narrower gaps are not drawn, in pixels. */
const MIN_GAP_WIDTH = 5;

/** Converts a series to points in the picture, with its visible gaps, and broken at its seams. */
export function toLine(series: ChartSeries, { x, y }: Pick<Frame, "x" | "y">): LinePoint[] {
  const gaps = series.gaps.filter(({ from, to }) => x(to) - x(from) >= MIN_GAP_WIDTH);
  const gapEnds = new Set(gaps.map(({ to }) => to));
  return series.points.map((point, i, points) => ({
    x: x(point.at),
    y: y(point.value),
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

/** The parts of a line between gaps. */
function partsOf(points: readonly LinePoint[]): LinePoint[][] {
  const parts: LinePoint[][] = [];
  for (const point of points) {
    if (point.isAfterGap || parts.length === 0) parts.push([point]);
    else parts.at(-1)?.push(point);
  }
  return parts;
}

/** Splits a part where its source changes: each stroke begins at the last point of the one before. */
function strokesOf([first, ...others]: readonly LinePoint[]): LinePoint[][] {
  const strokes: LinePoint[][] = [];
  let before = first;
  for (const point of others) {
    const last = strokes.at(-1);
    if (last !== undefined && last.at(-1)?.source === point.source) last.push(point);
    else if (before !== undefined) strokes.push([before, point]);
    before = point;
  }
  return strokes;
}

/** The path through the points, for the attribute `d`. */
const pathOf = (points: readonly Point[]): string =>
  `M${points.map(({ x, y }) => `${coordinate(x)} ${coordinate(y)}`).join("L")}`;

/** Draws a line with its gaps; `color` counts from 1. */
export function drawLine(points: readonly LinePoint[], color: number): Markup[] {
  return partsOf(points).flatMap((part) => {
    if (part.length === 1)
      return part.map(({ x, y }) =>
        element("circle", { class: `chart-mark-${color}`, cx: x, cy: y, r: 1.8 }),
      );
    const look = { class: `chart-line chart-line-${color}`, fill: "none" };
    const ends = { "stroke-linecap": "round", "stroke-linejoin": "round" };
    return strokesOf(part).map((stroke) => {
      const strokeLook = STROKES[stroke.at(-1)?.source ?? "OBSERVED"];
      return element("path", { ...look, d: pathOf(stroke), ...strokeLook, ...ends });
    });
  });
}

/** Fills the area between a line and `bottom`. */
export function drawArea(points: readonly LinePoint[], bottom: number, color: number): Markup[] {
  return partsOf(points).flatMap((part) => {
    const [first, last] = [part[0], part.at(-1)];
    if (first === undefined || last === undefined || first === last) return [];
    const d = `${pathOf(part)}V${coordinate(bottom)}H${coordinate(first.x)}Z`;
    return [element("path", { class: `chart-area-${color}`, d, "fill-opacity": 0.1 })];
  });
}

/** Distance of the marks along a line, in pixels. */
const MARK_DISTANCE = 80;

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
    return [drawMark(point, color, { size: 3, edge: 0 })];
  });
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

const MARK_ROOM = 16;
const VALUE_GAP = 8;

/** The width of the column of labels, at most `max`; 0 without labels. */
export function labelWidth(labels: readonly EndLabel[], size: number, max: number): number {
  const widest = (texts: readonly string[]) => Math.max(...texts.map((text) => estimateWidth(text, size)));
  const names = labels.map(({ name }) => name);
  const values = labels.map(({ value }) => value);
  return labels.length === 0 ? 0 : Math.min(max, MARK_ROOM + widest(names) + VALUE_GAP + widest(values));
}

/** Draws names and last values near the ends of their lines, without overlap. Labels without an end are left out. */
export function drawLabels(
  labels: readonly EndLabel[],
  ends: readonly (Point | undefined)[],
  { left, right, top, bottom, size }: Omit<Frame, "x" | "y">,
): Markup[] {
  const shown = labels.flatMap((label, i) => {
    const end = ends[i];
    return end === undefined ? [] : [{ ...label, wanted: end.y, color: i + 1 }];
  });
  const wanted = shown.map((one) => one.wanted);
  const places = spread(wanted, size + 4, [top, bottom]);
  const room = right - left - MARK_ROOM;
  return shown.flatMap(({ name, value, color }, i) => {
    const y = places[i] ?? top;
    const text = { "font-size": size, y: y + size * 0.35 };
    const last = fit(value, { size, width: room / 2 });
    const width = room - VALUE_GAP - estimateWidth(last, size);
    return [
      drawMark({ x: left + 6, y }, color, { size: 3.8 }),
      element("text", { ...text, class: "chart-text", x: left + MARK_ROOM }, fit(name, { size, width })),
      element("text", { ...text, class: "chart-muted", x: right, "text-anchor": "end" }, last),
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
