/** Drawing of charts: lines, marks and the legend, as in the drawings of the server (src/embeds/). */

/** The chart data in the page: see components/plot.tsx. */
export interface PlotData {
  unit: string;
  scale: "linear" | "log";
  align: "date" | "age";
  /** Whether points are sums, shown without source and difference. */
  isSum: boolean;
  lines: readonly PlotLine[];
}

/** A line: times in seconds since 1970, or ages in seconds. */
export interface PlotLine {
  at: readonly number[];
  value: readonly number[];
  /** The source of each count: an index of SOURCES. */
  source: readonly number[];
  /** Indexes of points after a gap. */
  afterGap: readonly number[];
}

/** Sources of counts, and how their part of a line is drawn; the same as in drawings of the server. */
export const SOURCES = [
  { words: "measured here", width: 2.3, dash: [] },
  { words: "imported", width: 1.6, dash: [] },
  { words: "reported later by the forge", width: 2, dash: [0.1, 4] },
] as const;

interface Point {
  x: number;
  y: number;
}

/** Draws a line with its gaps, part by part. `pointOf` maps an index to the canvas. */
export function drawLine(
  context: CanvasRenderingContext2D,
  { at, source, afterGap }: PlotLine,
  pointOf: (i: number) => Point,
  { colour, ratio }: { colour: string; ratio: number },
): void {
  const gaps = new Set(afterGap);
  context.strokeStyle = colour;
  context.lineCap = "round";
  context.lineJoin = "round";
  let begun: number | undefined;
  for (let i = 1; i < at.length; i++) {
    if (gaps.has(i)) {
      if (begun !== undefined) context.stroke();
      begun = undefined;
      continue;
    }
    if (begun !== source[i]) {
      if (begun !== undefined) context.stroke();
      begun = source[i];
      const style = SOURCES[begun ?? 0] ?? SOURCES[0];
      context.lineWidth = style.width * ratio;
      context.setLineDash(style.dash.map((length) => length * ratio));
      context.beginPath();
      const { x, y } = pointOf(i - 1);
      context.moveTo(x, y);
    }
    const { x, y } = pointOf(i);
    context.lineTo(x, y);
  }
  if (begun !== undefined) context.stroke();
  context.setLineDash([]);
  context.fillStyle = colour;
  for (let i = 0; i < at.length; i++) {
    const isAlone = (i === 0 || gaps.has(i)) && (i + 1 === at.length || gaps.has(i + 1));
    if (!isAlone) continue;
    const { x, y } = pointOf(i);
    context.beginPath();
    context.arc(x, y, 1.8 * ratio, 0, 2 * Math.PI);
    context.fill();
  }
}

/** Distance and size of marks along a line; the same as in drawings of the server. */
const MARKS_APART = 80;
const MARK_SIZE = 3;

/** Draws marks at some points of a line; `line` is its index. */
export function drawMarksAlong(
  context: CanvasRenderingContext2D,
  line: number,
  points: readonly Point[],
  look: { colour: string; ratio: number },
): void {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return;
  const apart = MARKS_APART * look.ratio;
  // Offset by line, so that the marks of overlapping lines do not cover each other.
  let next = first.x + (apart * (line + 1)) / 6;
  for (const point of points) {
    if (point.x < next || point.x > last.x - apart / 4) continue;
    drawMark(context, line, point, look, MARK_SIZE);
    next = point.x + apart;
  }
}

/** Fills the area between a line and `ground`, except for gaps. */
export function drawArea(
  context: CanvasRenderingContext2D,
  { at, afterGap }: PlotLine,
  pointOf: (i: number) => Point,
  ground: number,
  { colour }: { colour: string },
): void {
  const ends = [...afterGap, at.length];
  context.save();
  context.globalAlpha = 0.1;
  context.fillStyle = colour;
  for (const [part, end] of ends.entries()) {
    const begin = ends[part - 1] ?? 0;
    if (end - begin < 2) continue;
    context.beginPath();
    context.moveTo(pointOf(begin).x, ground);
    for (let i = begin; i < end; i++) {
      const { x, y } = pointOf(i);
      context.lineTo(x, y);
    }
    context.lineTo(pointOf(end - 1).x, ground);
    context.fill();
  }
  context.restore();
}

/** The legend of sources, at the lower right of the canvas. */
export function drawSources(
  context: CanvasRenderingContext2D,
  sources: readonly number[],
  { right, bottom }: { right: number; bottom: number },
  { colour, ratio }: { colour: string; ratio: number },
): void {
  context.save();
  context.font = `${11 * ratio}px system-ui, sans-serif`;
  context.fillStyle = colour;
  context.strokeStyle = colour;
  context.lineCap = "round";
  context.textAlign = "right";
  context.textBaseline = "alphabetic";
  const y = bottom - 5 * ratio;
  let x = right;
  for (const source of [...sources].reverse()) {
    const style = SOURCES[source] ?? SOURCES[0];
    context.fillText(style.words, x, y);
    x -= context.measureText(style.words).width + 6 * ratio;
    context.lineWidth = style.width * ratio;
    context.setLineDash(style.dash.map((length) => length * ratio));
    context.beginPath();
    context.moveTo(x - 20 * ratio, y - 4 * ratio);
    context.lineTo(x, y - 4 * ratio);
    context.stroke();
    x -= 34 * ratio;
  }
  context.restore();
}

/** The corners of the marks of lines; the first mark is a circle. */
const CORNERS: readonly (readonly (readonly [number, number])[])[] = [
  [],
  [
    [-0.9, -0.9],
    [0.9, -0.9],
    [0.9, 0.9],
    [-0.9, 0.9],
  ],
  [
    [0, -1.15],
    [1.1, 0.85],
    [-1.1, 0.85],
  ],
  [
    [0, -1.25],
    [1.25, 0],
    [0, 1.25],
    [-1.25, 0],
  ],
  [
    [0, 1.15],
    [1.1, -0.85],
    [-1.1, -0.85],
  ],
  [
    [-0.45, -1.2],
    [0.45, -1.2],
    [0.45, 1.2],
    [-0.45, 1.2],
  ],
];

/** Draws the mark of a line, so that lines differ without colour too. */
export function drawMark(
  context: CanvasRenderingContext2D,
  line: number,
  { x, y }: Point,
  { colour, ratio }: { colour: string; ratio: number },
  radius = 4.2,
): void {
  const size = radius * ratio;
  context.fillStyle = colour;
  context.beginPath();
  const corners = CORNERS[line] ?? [];
  if (corners.length === 0) context.arc(x, y, size, 0, 2 * Math.PI);
  for (const [dx, dy] of corners) context.lineTo(x + dx * size, y + dy * size);
  context.closePath();
  context.fill();
}
