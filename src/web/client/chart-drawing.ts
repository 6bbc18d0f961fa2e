/** Drawing of charts: scales, ticks, lines, marks and the legend, as in the drawings of the server (src/embeds/). */

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
  /** Indexes of points after a gap, or after a point that they cannot be compared with. */
  afterGap: readonly number[];
}

/** Sources of counts, and how their part of a line is drawn; the same as in drawings of the server. */
export const SOURCES = [
  { words: "measured here", width: 2.3, dash: [] },
  { words: "imported", width: 1.6, dash: [] },
  { words: "stars still held, as reported later", width: 2, dash: [0.1, 4] },
] as const;

/** The source whose counts cannot be compared with those of the others. */
export const RETAINED_SOURCE = 2;

interface Point {
  x: number;
  y: number;
}

/** Where and with which colour to draw. */
export interface Pen {
  context: CanvasRenderingContext2D;
  colour: string;
  /** Pixels of the canvas per pixel of the page. */
  ratio: number;
}

/** Draws a line with its gaps, part by part. `pointOf` maps an index to the canvas. */
export function drawLine(
  { context, colour, ratio }: Pen,
  { at, source, afterGap }: PlotLine,
  pointOf: (i: number) => Point,
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
export function drawMarksAlong(pen: Pen, line: number, points: readonly Point[]): void {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return;
  const apart = MARKS_APART * pen.ratio;
  // Offset by line, so that the marks of overlapping lines do not cover each other.
  let next = first.x + (apart * (line + 1)) / 6;
  for (const point of points) {
    if (point.x < next || point.x > last.x - apart / 4) continue;
    drawMark(pen, line, { ...point, size: MARK_SIZE });
    next = point.x + apart;
  }
}

/** Fills the area between a line and `ground`, except for gaps. */
export function drawArea(
  { context, colour }: Pen,
  { at, afterGap }: PlotLine,
  { pointOf, ground }: { pointOf: (i: number) => Point; ground: number },
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
  { context, colour, ratio }: Pen,
  sources: readonly number[],
  { right, bottom }: { right: number; bottom: number },
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
  { context, colour, ratio }: Pen,
  line: number,
  { x, y, size = 4.2 }: Point & { size?: number },
): void {
  const radius = size * ratio;
  context.fillStyle = colour;
  context.beginPath();
  const corners = CORNERS[line] ?? [];
  if (corners.length === 0) context.arc(x, y, radius, 0, 2 * Math.PI);
  for (const [dx, dy] of corners) context.lineTo(x + dx * radius, y + dy * radius);
  context.closePath();
  context.fill();
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY = 86_400;
const MONTH = 30.4375 * DAY;
const YEAR = 365.25 * DAY;

const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 2 });

/** A count next to an axis. */
export function shortCount(value: number): string {
  return compact.format(value);
}

/** A linear or logarithmic scale. A logarithmic scale that includes 0 is that of the count plus one. */
export interface Scale {
  /** The position of a count on the axis. */
  project(value: number): number;
  /** From and to, projected. */
  range: [number, number];
  /** Labelled positions and their counts. */
  ticks: { at: number; value: number }[];
}

/** The smallest of 1, 2 or 5 times a power of ten that is at least `value`. */
function roundStep(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= value * (1 - 1e-9)) ?? 10);
}

function multiples(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step - 1e-9);
  const length = Math.max(0, Math.floor(to / step + 1e-9) - first + 1);
  return Array.from({ length }, (_, i) => (first + i) * step);
}

/** A linear scale for counts from `low` to `high` with about `count` ticks. */
export function linearScale(low: number, high: number, count: number): Scale {
  const padding = high === low ? Math.max(1, Math.round(high * 0.02)) : 0;
  // Starts at 0, unless that would flatten the line.
  const bottom = high - low > high / 2 || low - padding <= 0 ? 0 : low - padding;
  const top = high + padding;
  const step = roundStep((top - bottom) / Math.max(1, count));
  const from = Math.floor(bottom / step) * step;
  const round = Math.max(Math.ceil(top / step), Math.floor(from / step) + 1) * step;
  // Not rounded up if that would leave much empty space.
  const to = round - top > 0.4 * step && round - from > step ? top + 0.06 * (top - from) : round;
  return {
    project: (value) => value,
    range: [from, to],
    ticks: multiples(from, to, step).map((value) => ({ at: value, value })),
  };
}

/** The same, logarithmic. */
export function logScale(low: number, high: number, count: number): Scale {
  const added = low < 1 ? 1 : 0;
  const project = (value: number) => Math.log10(Math.max(value, 1 - added) + added);
  const from = added === 1 ? 0 : low;
  const to = Math.max(high, from * 2, 10);
  const powers = Array.from({ length: 16 }, (_, i) => 10 ** i);
  const choices = [[1, 2, 5], [1, 3], [1]].map((factors) =>
    powers
      .flatMap((power) => factors.map((factor) => factor * power))
      .filter((value) => value >= from && value <= to),
  );
  const rounded = multiples(from, to, roundStep((to - from) / Math.max(1, count)));
  const fitting = choices.find((values) => values.length <= count + 1) ?? choices.at(-1) ?? [];
  const chosen = fitting.length < 3 ? rounded : fitting;
  const values = added === 1 ? [...new Set([0, ...chosen])] : chosen;
  return {
    project,
    range: [project(from), project(to) + 0.03 * (project(to) - project(from))],
    ticks: values.map((value) => ({ at: project(value), value })),
  };
}

interface Tick {
  at: number;
  label: string;
}

/** About `count` ticks of dates in seconds since 1970, at the start of hours, days, months or years (UTC). */
export function dateTicks(from: number, to: number, count: number): Tick[] {
  const span = to - from;
  const months = [1, 2, 3, 6, 12, 24, 60, 120].find((step) => span / (step * MONTH) <= count) ?? 240;
  const days = [1, 2, 7, 14].find((step) => span / (step * DAY) <= count);
  if (span < 2 * DAY) return hourTicks(from, to, count);
  if (days !== undefined)
    return multiples(from, to, DAY)
      .map((at) => ({ at, date: new Date(at * 1_000) }))
      .filter(({ date }) => isShownDay(date.getUTCDate() - 1, days))
      .map(({ at, date }) => ({ at, label: `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}` }));
  const begin = new Date(from * 1_000);
  const first = begin.getUTCFullYear() * 12 + begin.getUTCMonth();
  const ticks: Tick[] = [];
  for (let month = Math.ceil(first / months) * months; ; month += months) {
    const at = Date.UTC(Math.floor(month / 12), month % 12, 1) / 1_000;
    if (at > to) return ticks;
    if (at < from) continue;
    const year = String(Math.floor(month / 12));
    const isFirst = ticks.length === 0 && months < 12;
    const name = `${MONTHS[month % 12]}${isFirst ? ` ${year}` : ""}`;
    ticks.push({ at, label: month % 12 === 0 ? year : name });
  }
}

/** Days counted from the first of each month, except those too close to the next first. */
function isShownDay(day: number, step: number): boolean {
  return day % step === 0 && (step === 1 || day + step / 2 < 30);
}

function hourTicks(from: number, to: number, count: number): Tick[] {
  const step = ([1, 3, 6, 12].find((hours) => (to - from) / (hours * 3_600) <= count) ?? 24) * 3_600;
  return multiples(from, to, step).map((at) => {
    const date = new Date(at * 1_000);
    const isDay = date.getUTCHours() === 0;
    return {
      at,
      label: isDay ? `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}` : date.toISOString().slice(11, 16),
    };
  });
}

/** Ticks of ages in seconds, at whole numbers of days, months or years. */
export function ageTicks(from: number, to: number, count: number): Tick[] {
  const steps: [number, number, string][] = [
    ...[1, 2, 5, 10, 20, 30].map((step): [number, number, string] => [DAY, step, "d"]),
    ...[2, 3, 6].map((step): [number, number, string] => [MONTH, step, "mo"]),
    ...[1, 2, 5, 10].map((step): [number, number, string] => [YEAR, step, "y"]),
  ];
  // High ages are not given in months.
  const usual = steps.filter(([unit]) => unit !== MONTH || to <= 3 * YEAR || to - from < 2 * YEAR);
  const [unit, step, name] = usual.find(([ms, times]) => (to - from) / (ms * times) <= count) ?? [
    YEAR,
    20,
    "y",
  ];
  return multiples(from, to, unit * step).map((at) => ({
    at,
    label: at === 0 ? "0" : `${Math.round(at / unit)} ${name}`,
  }));
}

/** 2026-04-30 12:00 UTC */
export function dateText(at: number): string {
  return `${new Date(at * 1_000).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** An age in a suitable unit. */
export function ageText(at: number): string {
  const days = at / DAY;
  if (days < 60) return `${Math.round(days)} days`;
  if (days < 700) return `${(days / 30.4375).toFixed(1)} months`;
  return `${(days / 365.25).toFixed(1)} years`;
}
