/** What the page tells of its chart: see components/plot.tsx. */
export interface PlotData {
  unit: string;
  scale: "linear" | "log";
  align: "date" | "age";
  lines: readonly PlotLine[];
}

/** A line: times in seconds since 1970, or ages in seconds. */
export interface PlotLine {
  at: readonly number[];
  value: readonly number[];
  /** Where each count comes from: the index of one of SOURCES. */
  source: readonly number[];
  /** The points before which counts are missing. */
  afterGap: readonly number[];
}

/** Where counts come from, and how their part of a line is drawn; the same as in drawings of the server. */
export const SOURCES = [
  { words: "seen here", width: 2.3, dash: [] },
  { words: "imported", width: 1.4, dash: [] },
  { words: "told later by the forge", width: 2, dash: [0.1, 4] },
] as const;

interface Place {
  x: number;
  y: number;
}

/** Draws a line with its gaps, part by part. `placeOf` gives the place of a point on the canvas. */
export function drawLine(
  context: CanvasRenderingContext2D,
  { at, source, afterGap }: PlotLine,
  placeOf: (i: number) => Place,
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
      const { x, y } = placeOf(i - 1);
      context.moveTo(x, y);
    }
    const { x, y } = placeOf(i);
    context.lineTo(x, y);
  }
  if (begun !== undefined) context.stroke();
  context.setLineDash([]);
}

/** Draws the ground below a line, down to `ground`, with its gaps. */
export function drawArea(
  context: CanvasRenderingContext2D,
  { at, afterGap }: PlotLine,
  placeOf: (i: number) => Place,
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
    context.moveTo(placeOf(begin).x, ground);
    for (let i = begin; i < end; i++) {
      const { x, y } = placeOf(i);
      context.lineTo(x, y);
    }
    context.lineTo(placeOf(end - 1).x, ground);
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

/** The corners of the marks at the ends of lines, from the second on; the first has a circle. */
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

/** Draws the mark of a line, so that lines differ without their colours too. */
export function drawMark(
  context: CanvasRenderingContext2D,
  line: number,
  { x, y }: Place,
  { colour, ratio }: { colour: string; ratio: number },
): void {
  const size = 4.2 * ratio;
  context.fillStyle = colour;
  context.beginPath();
  const corners = CORNERS[line] ?? [];
  if (corners.length === 0) context.arc(x, y, size, 0, 2 * Math.PI);
  for (const [dx, dy] of corners) context.lineTo(x + dx * size, y + dy * size);
  context.closePath();
  context.fill();
}
