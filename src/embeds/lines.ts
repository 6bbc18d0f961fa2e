import type { SnapshotSource } from "../catalog/catalog.js";
import { coordinate, element, type Markup } from "./markup.js";
import type { ChartSeries } from "./series.js";
import { type Place, thin } from "./thin.js";

/** A point of a line where it is drawn. */
export interface PlacedPoint extends Place {
  source: SnapshotSource;
  /** Whether counts are missing between the point before and this one. */
  isAfterGap: boolean;
}

/** Gaps narrower than this are not told from the line itself. */
const MIN_GAP_WIDTH = 5;
/** More gaps than this are not drawn in one line: the widest ones are. */
const MAX_GAPS = 40;

/** The points of a line as they are drawn: thinned, with the gaps that can be seen. */
export function placePoints(
  series: ChartSeries,
  placeOf: (point: { at: number; value: number }) => Place,
): PlacedPoint[] {
  const points = series.points.map((point) => ({ ...placeOf(point), at: point.at, source: point.source }));
  const x = new Map(points.map((point) => [point.at, point.x]));
  const width = ({ from, to }: { from: number; to: number }) => (x.get(to) ?? 0) - (x.get(from) ?? 0);
  const seen = series.gaps
    .filter((gap) => x.has(gap.from) && x.has(gap.to) && width(gap) >= MIN_GAP_WIDTH)
    .sort((a, b) => width(b) - width(a))
    .slice(0, MAX_GAPS);
  const edges = new Set(seen.flatMap(({ from, to }) => [from, to]));
  const ends = new Set(seen.map(({ to }) => to));
  return thin(points, (index) => edges.has(points[index]?.at ?? Number.NaN)).map(({ at, ...point }) => ({
    ...point,
    isAfterGap: ends.has(at),
  }));
}

/** How a part of a line is drawn by where its counts come from. What was seen here is the plain case. */
export const STROKES = {
  OBSERVED: { "stroke-width": 2.3 },
  IMPORTED: { "stroke-width": 1.6 },
  BACKFILLED: { "stroke-width": 2, "stroke-dasharray": "0.1 4" },
} as const satisfies Record<SnapshotSource, object>;

interface Run {
  source: SnapshotSource;
  places: Place[];
}

/** The parts of a line that are drawn alike, and the points that no part reaches. */
function partLine(points: readonly PlacedPoint[]): { runs: Run[]; alone: Place[] } {
  const runs: Run[] = [];
  const alone: Place[] = [];
  for (const [i, point] of points.entries()) {
    const before = points[i - 1];
    const after = points[i + 1];
    const isBegin = before === undefined || point.isAfterGap;
    if (isBegin && (after === undefined || after.isAfterGap)) alone.push(point);
    if (isBegin) continue;
    const last = runs.at(-1);
    if (last?.source === point.source && last.places.at(-1) === before) last.places.push(point);
    else runs.push({ source: point.source, places: [before, point] });
  }
  return { runs, alone };
}

/** The way through the places, in the form of the attribute `d`. */
export function pathOf(places: readonly Place[]): string {
  return places.map(({ x, y }, i) => `${i === 0 ? "M" : "L"}${coordinate(x)} ${coordinate(y)}`).join("");
}

/** A line with its gaps; `color` is its number from 1. */
export function drawLine(points: readonly PlacedPoint[], color: number): Markup[] {
  const { runs, alone } = partLine(points);
  return [
    ...runs.map(({ source, places }) =>
      element("path", {
        class: `chart-line chart-line-${color}`,
        d: pathOf(places),
        fill: "none",
        ...STROKES[source],
        "stroke-linecap": "round",
        "stroke-linejoin": "round",
      }),
    ),
    ...alone.map(({ x, y }) => element("circle", { class: `chart-mark-${color}`, cx: x, cy: y, r: 1.8 })),
  ];
}

/** The ground below a line, down to `bottom`. */
export function drawArea(points: readonly PlacedPoint[], bottom: number, color: number): Markup[] {
  const parts: PlacedPoint[][] = [];
  for (const point of points) {
    if (point.isAfterGap || parts.length === 0) parts.push([point]);
    else parts.at(-1)?.push(point);
  }
  return parts.flatMap((part) => {
    const [first, last] = [part[0], part.at(-1)];
    if (first === undefined || last === undefined || part.length < 2) return [];
    const ground = [...part, { x: last.x, y: bottom }, { x: first.x, y: bottom }];
    return [element("path", { class: `chart-area-${color}`, d: `${pathOf(ground)}Z`, "fill-opacity": 0.1 })];
  });
}

/** Between marks along a line, and their size. */
const MARKS_APART = 80;
const MARK_SIZE = 3;

/** The marks along a line, at counts of its own, which tell it from others where it is far from its end. */
export function drawMarksAlong(points: readonly PlacedPoint[], color: number): Markup[] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return [];
  // Lines of the same course have their marks beside each other.
  let next = first.x + (MARKS_APART * color) / 6;
  return points.flatMap((point) => {
    if (point.x < next || point.x > last.x - MARKS_APART / 4) return [];
    next = point.x + MARKS_APART;
    // Without the edge of those at the ends, which would look like a gap.
    return [drawMark(point, color, MARK_SIZE, 0)];
  });
}

/** A mark at a place, of a shape of its own for each of the six colours: lines differ without them too. */
export function drawMark({ x, y }: Place, color: number, size: number, edge = 1.2): Markup {
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
