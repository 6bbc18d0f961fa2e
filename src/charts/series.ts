import type { SnapshotSource } from "../repositories/repositories.js";
import type { Theme } from "./themes.js";

/** The input of a chart: its lines, shaded times and options, and facts about the points of a line. */

/** The counts a chart can show, named as in the API. */
export const METRICS = ["stars", "forks", "openIssues"] as const;
export type Metric = (typeof METRICS)[number];

/** Names of the counts in titles and in sentences. */
export const METRIC_WORDS: Readonly<Record<Metric, { title: string; unit: string }>> = {
  stars: { title: "Stars", unit: "stars" },
  forks: { title: "Forks", unit: "forks" },
  openIssues: { title: "Open issues", unit: "open issues" },
};

/** The unit of a count: "star" of one, otherwise "stars". */
export const unitOf = (metric: Metric, count: number): string =>
  count === 1 ? METRIC_WORDS[metric].unit.slice(0, -1) : METRIC_WORDS[metric].unit;

/** What the counts of a chart are a number of. */
export const countedUnit = (
  { align, metric }: Pick<ChartInput, "align" | "metric">,
  count: number,
): string => (align === "index" ? "index" : unitOf(metric, count));

/** A chart shows totals, or gains per day. `chart.ts` says how each is drawn, `words.ts` how it is described. */
export const VIEWS = ["total", "per-day"] as const;
export type View = (typeof VIEWS)[number];

/** Its name among the others, and the words after the name of a count. */
export const VIEW_FACTS = {
  total: {
    label: "Total",
    suffix: "",
    takesScale: true,
    hasMilestones: true,
  },
  "per-day": {
    label: "Per day",
    suffix: " per day",
    takesScale: false,
    hasMilestones: false,
  },
} as const satisfies Readonly<Record<View, object>>;

export const SCALES = ["linear", "log"] as const;
/**
 * The alignment of a chart's lines: dates; ages; the first snapshot; the time of the first N counts; or an index, by
 * date, in which each count is 100 on one day.
 */
export const ALIGNMENTS = ["date", "age", "first-snapshot", "first-count", "index"] as const;
export type Alignment = (typeof ALIGNMENTS)[number];

/** Whether the points of a chart are at dates, rather than at times since something. */
export const isByDate = (align: Alignment): boolean => align === "date" || align === "index";

/** An index has no gains per day. */
export const viewOf = ({ view = "total", align }: { view?: View; align: Alignment }): View =>
  align === "index" ? "total" : view;

/** The shapes of pictures: sizes in pixels. A README's may have another size. */
export const SHAPES = {
  readme: { width: 800, height: 400 },
  post: { width: 1_200, height: 675 },
  square: { width: 1_080, height: 1_080 },
  card: { width: 1_200, height: 630 },
} as const;
export type Shape = keyof typeof SHAPES;

/** `sketch`: lines and axes as if drawn by hand; texts stay. */
export const STYLES = ["plain", "sketch"] as const;
export type Style = (typeof STYLES)[number];

export interface ChartInput {
  metric: Metric;
  /** One to six. */
  series: readonly ChartSeries[];
  /** Default: totals. */
  view?: View;
  /** Of totals; gains per day are always linear. */
  scale: (typeof SCALES)[number];
  align: Alignment;
  /** By `first-count`: that count; as an index: the time that has 100. Absent: none fits the lines. */
  alignedAt?: number | undefined;
  /** Times to shade, in a chart by date. A bare chart numbers them from 1. */
  spans?: readonly ChartSpan[];
  /** When the newest count was captured; null: not shown. */
  asOf: number | null;
  /** Days from `asOf` to the response; absent: not shown. */
  ageDays?: number | null;
  width: number;
  height: number;
  /** Of a picture; default: `readme`. */
  shape?: Shape;
  /** Of a picture; default: `plain`. */
  style?: Style;
  /** Whether a picture has no background, for pages of any colour. */
  isClear?: boolean;
  /** `page`: without embedded styles; the style sheet of the page must contain CHART_PAGE_STYLES. */
  theme: Theme | "page";
  /** Prefix of all ids, for several charts in one document. */
  idPrefix?: string;
  /** Whether points are sums of several repositories, whose round numbers are not marked. */
  isSum?: boolean;
  /** Replaces the names of the series. */
  title?: string | undefined;
  /** Whether the gains of a single line stand below it as bars, on the same axis of time. */
  hasBars?: boolean;
  /** Of a whole life: when it began. Its counts begin at 0, and the time before the first point is shown as not read yet. */
  bornAt?: number | undefined;
  /** Of a picture: what is said of the time before the first point. */
  unread?: string | undefined;
  /** Others that the single line passed, each once. */
  passed?: readonly Passed[];
  /** The host of the service, named in the footer; default: its name. */
  site?: string | undefined;
  /** Of a picture: what happened. Default: what its lines say. */
  sentence?: string | undefined;
  /** Of a picture with one line: its gain in the 7 days to its end. */
  week?: number | undefined;
}

/** A line of a chart. */
export interface ChartSeries {
  /** The full name of the repository, or another label. */
  name: string;
  /** Oldest first. Points whose value is not a count are ignored. */
  points: readonly ChartPoint[];
  /** Ranges without counts. */
  gaps: readonly { from: number; to: number }[];
  /** A short note for readers. */
  note?: string;
}

/** A count at a time: in ms since 1970, or since the point of alignment. */
export interface ChartPoint {
  at: number;
  value: number;
  source: SnapshotSource;
  /** Whether it cannot be compared with the point before it. */
  isApart?: boolean;
}

/** A time in which counts are unusual or missing. Charts shade it, and number it for a note. */
export interface ChartSpan {
  from: number;
  to: number;
  /** Time of the point before it: the movement in it began there. */
  since?: number;
  kind: "unusual" | "unseen";
  /** The note, without the date. */
  words: string;
}

/** When a line came to be above another one, and its count then. */
export interface Passed {
  at: number;
  value: number;
  /** The name of the other one. */
  name: string;
}

/** When a total first reached a round number. */
export interface Milestone {
  value: number;
  /** The first point that has reached it, and the one before. */
  point: ChartPoint;
  before: ChartPoint;
}

/** Indexes of the points before which the line is broken: nobody looked in between, or the step is no movement. */
export function breaksOf({ points, gaps }: Pick<ChartSeries, "points" | "gaps">): number[] {
  return points.flatMap(({ at, isApart }, i) => {
    const before = points[i - 1]?.at ?? at;
    const isAfterGap = gaps.some(({ from, to }) => from >= before && to <= at);
    return i > 0 && (isAfterGap || isApart) ? [i] : [];
  });
}

/** The gain of a line from its first point to its last one. */
export interface LineGain {
  first: ChartPoint;
  last: ChartPoint;
  gained: number;
}

/** The gain of a line; undefined with fewer than two points. */
export function gainOfLine(points: readonly ChartPoint[]): LineGain | undefined {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || first.at >= last.at) return undefined;
  return { first, last, gained: last.value - first.value };
}
