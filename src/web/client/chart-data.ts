/** The data of a chart in the page, see components/plot.tsx: its points in words, and their places in the drawing. */

export interface PlotData {
  unit: string;
  align: "date" | "age" | "first-snapshot" | "first-count" | "index";
  view: "total" | "per-day";
  /** After the name of a count in this view. */
  suffix: string;
  /** Whether points are sums, shown without source and difference. */
  isSum: boolean;
  lines: readonly PlotLine[];
  /** Milestones and unusual times. */
  events: readonly { from: number; to: number; words: string }[];
}

/** A line: times in seconds since 1970, or ages in seconds. */
export interface PlotLine {
  at: readonly number[];
  /** A total, or a gain per day; null where that is unknown. */
  value: readonly (number | null)[];
  /** The source of each count: an index of SOURCES. */
  source: readonly number[];
  /** Of totals: indexes of points after a gap, or after a point that they cannot be compared with. */
  afterGap?: readonly number[];
  /** Of gains: the times they count from, the differences, and the totals at their ends. */
  since?: readonly number[];
  change?: readonly (number | null)[];
  total?: readonly number[];
}

const SOURCES = ["measured here", "imported", "star history"] as const;

const whole = new Intl.NumberFormat("en-US");
const signed = new Intl.NumberFormat("en-US", { signDisplay: "exceptZero", maximumFractionDigits: 1 });
const day = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});

const HOUR = 3_600;
const DAY = 24 * HOUR;

const plural = (count: number, unit: string) => `${whole.format(count)} ${unit}${count === 1 ? "" : "s"}`;

/** A span of seconds: 7 hours, 3 days. */
function distance(seconds: number): string {
  const hours = Math.max(1, Math.round(seconds / HOUR));
  return hours < 36 ? plural(hours, "hour") : plural(Math.round(seconds / DAY), "day");
}

export function timeText(align: PlotData["align"], seconds: number): string {
  if (align === "date" || align === "index") return day.format(new Date(seconds * 1_000));
  return align === "age" ? `${distance(seconds)} old` : `after ${distance(seconds)}`;
}

/** The value of a point, and details such as the gain that day. */
export interface PointWords {
  value: string;
  more: readonly string[];
}

/** A point in words; an index below 0 is a line without a point. */
export function pointWords(data: PlotData, line: PlotLine, index: number): PointWords {
  if (index < 0) return { value: "no snapshot", more: [] };
  return WORDS[data.view](data, line, index);
}

function totalWords({ unit, isSum, lines }: PlotData, line: PlotLine, i: number): PointWords {
  const { at, source, afterGap = [] } = line;
  const [now, before] = [line.value[i], line.value[i - 1]];
  const value = `${whole.format(now ?? 0)}${lines.length === 1 ? ` ${unit}` : ""}`;
  if (isSum) return { value, more: [] };
  const from = SOURCES[source[i] ?? 0] ?? "";
  if (now === undefined || now === null || before === undefined || before === null)
    return { value, more: [from] };
  const length = (at[i] ?? 0) - (at[i - 1] ?? 0);
  const change = signed.format(now - before);
  const isDay = length > 18 * HOUR && length < 30 * HOUR && !afterGap.includes(i);
  return { value, more: [`${change} ${isDay ? "in a day" : `since ${distance(length)} before`}`, from] };
}

function gainWords({ unit, lines, isSum }: PlotData, line: PlotLine, i: number): PointWords {
  const [rate, change, total] = [line.value[i], line.change?.[i], line.total?.[i]];
  const length = (line.at[i] ?? 0) - (line.since?.[i] ?? 0);
  const since = `in ${distance(length)}`;
  const source = isSum ? [] : [SOURCES[line.source[i] ?? 0] ?? ""];
  const more = [`${whole.format(total ?? 0)} ${unit} in all`, ...source];
  if (change === null || change === undefined)
    return { value: "not comparable", more: [...(isSum ? ["what is summed changed"] : []), ...more] };
  if (rate === null || rate === undefined)
    return {
      value: `${signed.format(change)} ${since}`,
      more: ["snapshots are missing, so no bar", ...more],
    };
  const isDay = length > 18 * HOUR && length < 30 * HOUR;
  if (lines.length > 1) return { value: signed.format(rate), more: isDay ? [] : [since] };
  return isDay
    ? { value: `${signed.format(change)} in a day`, more }
    : { value: `${signed.format(change)} ${since}`, more: [`${signed.format(rate)} a day`, ...more] };
}

const WORDS = { total: totalWords, "per-day": gainWords } as const;

interface Domain {
  kind: "linear" | "log";
  from: number;
  to: number;
}

/** The bounds of the lines in a drawing, in its own pixels, and the values at its edges. */
interface Edges {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
  foot: number;
  x: Domain;
  y: Domain;
}

/** Heights of values by kind of axis, as in src/charts/axes.ts. */
const HEIGHTS: Readonly<Record<Domain["kind"], (value: number) => number>> = {
  linear: (value) => value,
  log: (value) => Math.log10(Math.max(0, value) + 1),
};

function part({ kind, from, to }: Domain, value: number): number {
  const height = HEIGHTS[kind];
  return (height(value) - height(from)) / (height(to) - height(from));
}

const within = (value: number) => Math.min(1, Math.max(0, value));

/** The geometry of one drawing. Positions are parts of its box, from 0 to 1. */
export class Geometry {
  readonly #edges: Edges;

  constructor(text: string) {
    this.#edges = JSON.parse(text);
  }

  get left(): number {
    return this.#edges.left / this.#edges.width;
  }

  get right(): number {
    return this.#edges.right / this.#edges.width;
  }

  get top(): number {
    return this.#edges.top / this.#edges.height;
  }

  get bottom(): number {
    return this.#edges.bottom / this.#edges.height;
  }

  /** Below the bars that may stand under the lines. */
  get foot(): number {
    return this.#edges.foot / this.#edges.height;
  }

  /** The position of a time in seconds. */
  x(seconds: number): number {
    return this.left + within(part(this.#edges.x, seconds * 1_000)) * (this.right - this.left);
  }

  y(value: number): number {
    return this.bottom - within(part(this.#edges.y, value)) * (this.bottom - this.top);
  }

  /** The time in seconds at a position, within the drawing. */
  timeAt(x: number): number {
    const { from, to } = this.#edges.x;
    return (from + within((x - this.left) / (this.right - this.left)) * (to - from)) / 1_000;
  }
}
