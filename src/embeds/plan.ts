import { SNAPSHOT_SOURCES, type SnapshotSource } from "../catalog/catalog.js";
import { type Axis, ageAxis, dateAxis, linearAxis, logAxis } from "./axes.js";
import { labelWidth, shortNames } from "./labels.js";
import { agedDate, ageText, datesText, dateText, exactNumber, signedNumber } from "./numbers.js";
import {
  type ChartSeries,
  type LinePart,
  longestPart,
  METRIC_NAMES,
  type Metric,
  partsOf,
  RETAINED_WORDS,
} from "./series.js";
import { estimateWidth, fit } from "./text.js";
import type { Theme } from "./themes.js";

export const SCALES = ["linear", "log"] as const;
export const ALIGNMENTS = ["date", "age"] as const;

/** The input of a chart. */
export interface ChartInput {
  metric: Metric;
  /** One to six. */
  series: readonly ChartSeries[];
  scale: (typeof SCALES)[number];
  /** Whether the times of the points are dates or ages. */
  align: (typeof ALIGNMENTS)[number];
  /** When the newest count was captured; null: not shown. */
  asOf: number | null;
  /** Days from `asOf` to the response; absent: not shown. */
  ageDays?: number | null;
  width: number;
  height: number;
  /** `page`: without embedded styles; the style sheet of the page must contain CHART_PAGE_STYLES. */
  theme: Theme | "page";
  /** Prefix of all ids, for several charts in one document. */
  idPrefix?: string;
  /** Replaces the names of the series. */
  title?: string;
  /** Without heading and footer, when the surrounding page shows the same. */
  isBare?: boolean;
}

/** Font sizes in a chart. */
interface Sizes {
  /** Axes, legend and footer. */
  tick: number;
  label: number;
  heading: number;
  /** The line below the heading. */
  sub: number;
}

/** Fonts grow with the picture, since large pictures are seen from further away or scaled down. */
function sizesFor(width: number): Sizes {
  if (width < 420) return { tick: 11, label: 11, heading: 14, sub: 12 };
  if (width < 900) return { tick: 11, label: 12, heading: 16, sub: 12 };
  return { tick: 13.5, label: 15, heading: 21, sub: 15 };
}

/** Legend of counts that this service did not observe itself. */
export const ORIGINS: Readonly<Partial<Record<SnapshotSource, string>>> = {
  IMPORTED: "imported",
  BACKFILLED: RETAINED_WORDS,
};

/** Length of a line sample in the legend. */
export const ORIGIN_SAMPLE = 20;
/** Width of a legend entry. */
export const originWidth = (source: SnapshotSource, tick: number): number =>
  ORIGIN_SAMPLE + 6 + estimateWidth(ORIGINS[source] ?? "", tick) + 14;

/** The layout of a chart. */
export interface Plan {
  input: ChartInput;
  series: readonly ChartSeries[];
  heading: string;
  subheading: string;
  /** The last value, for a single line. */
  current: { value: string; gained: string } | undefined;
  origins: SnapshotSource[];
  originsAbove: boolean;
  footer: string;
  labels: { names: string[]; width: number } | undefined;
  x: Axis;
  y: Axis;
  plot: { left: number; right: number; top: number; bottom: number };
  pad: number;
  sizes: Sizes;
}

/** Computes the layout of a chart; all values must be counts. */
export function planOf(input: ChartInput, series: readonly ChartSeries[]): Plan {
  const { width, height, isBare = false } = input;
  const sizes = sizesFor(width);
  const { tick } = sizes;
  const pad = isBare ? 4 : width < 420 ? 12 : 16;
  const points = series.flatMap((one) => one.points);
  const origins = SNAPSHOT_SOURCES.filter(
    (source) => ORIGINS[source] !== undefined && points.some((point) => point.source === source),
  );
  const footer = footerOf(input, series);
  const originsWidth = origins.reduce((sum, source) => sum + originWidth(source, tick), 0);
  const originsAbove = isBare || estimateWidth(footer, tick) + originsWidth + 2 * pad + 12 > width;
  const foot = (isBare ? 4 : tick + 17) + (origins.length > 0 && originsAbove ? tick + 5 : 0) + tick + 5;
  const plot = {
    left: pad,
    right: width - pad - 6,
    top: isBare ? 10 : pad + sizes.heading + sizes.sub + 26,
    bottom: height - foot,
  };
  const values = points.map((point) => point.value);
  const [low, high] = values.length === 0 ? [0, 1] : [least(values), most(values)];
  const yCount = Math.min(7, Math.max(2, Math.floor((plot.bottom - plot.top) / (tick * 3.8))));
  const y = (input.scale === "log" ? logAxis : linearAxis)(low, high, yCount);
  plot.left += Math.max(...y.ticks.map(({ label }) => estimateWidth(label, tick))) + 8;
  const labels = series.length > 1 ? planLabels(input, series, sizes.label) : undefined;
  if (labels !== undefined) plot.right -= labels.width + 6;
  const times = points.map((point) => point.at);
  const [first, last] = times.length === 0 ? [0, 0] : [least(times), most(times)];
  const xCount = Math.max(2, Math.floor((plot.right - plot.left) / (tick * 6.2)));
  const x = (input.align === "age" ? ageAxis : dateAxis)(first, last, xCount);
  const { heading, subheading, current } = headingOf(input, series, [first, last]);
  return {
    input,
    series,
    heading,
    subheading,
    current,
    origins,
    originsAbove,
    footer,
    labels,
    x,
    y,
    plot,
    pad,
    sizes,
  };
}

const least = (values: readonly number[]) => values.reduce((a, b) => Math.min(a, b));
const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b));

function planLabels({ width }: ChartInput, series: readonly ChartSeries[], size: number): Plan["labels"] {
  const full = series.map((one) => one.name);
  const names = width >= 900 ? full : shortNames(full);
  const labels = series.map((one, i) => ({
    name: names[i] ?? one.name,
    value: one.points.at(-1)?.value ?? 0,
    end: { x: 0, y: 0 },
    color: i + 1,
  }));
  return { names, width: labelWidth(labels, size, width * (width < 420 ? 0.32 : 0.28)) };
}

function headingOf(
  { metric, align, title }: ChartInput,
  series: readonly ChartSeries[],
  [first, last]: readonly [number, number],
): Pick<Plan, "heading" | "subheading" | "current"> {
  const name = METRIC_NAMES[metric];
  const when = (at: number) => (align === "age" ? `the age of ${ageText(at)}` : dateText(at));
  const span = align === "age" ? `to the age of ${ageText(last)}` : datesText(first, last);
  const one = series.length === 1 ? series[0] : undefined;
  if (one === undefined) {
    const heading = title ?? (align === "age" ? `${name} by age` : name);
    return { heading, subheading: `${series.length} repositories · ${span}`, current: undefined };
  }
  const [end, longest] = [one.points.at(-1), longestPart(one.points)];
  const current =
    end === undefined || longest === undefined
      ? undefined
      : { value: exactNumber(end.value), gained: gainText(longest, one.points[0]?.at, when) };
  return { heading: title ?? one.name, subheading: `${name} · ${span}`, current };
}

/** "+1,204", "+1,204 still held", or "+12 since 2026-04-30" where the line begins with stars still held. */
function gainText(
  { basis, first, last }: LinePart,
  begin: number | undefined,
  when: (at: number) => string,
): string {
  const gained = signedNumber(last.value - first.value);
  if (basis === "RETAINED") return `${gained} still held`;
  return first.at === begin ? gained : `${gained} since ${when(first.at)}`;
}

function footerOf({ asOf, ageDays }: ChartInput, series: readonly ChartSeries[]): string {
  const date = asOf === null ? [] : [`as of ${agedDate(asOf, ageDays)}`];
  const notes = series.flatMap(({ name, note }) =>
    note === undefined ? [] : [series.length === 1 ? note : `${name}: ${note}`],
  );
  return ["Sidereal", ...date, ...notes].join(" · ");
}

function partSentence({ basis, first, last }: LinePart, when: (at: number) => string): string {
  const difference = last.value - first.value;
  const gained = `${difference < 0 ? "lost" : "gained"} ${exactNumber(Math.abs(difference))}`;
  const what = basis === "RETAINED" ? ` (${RETAINED_WORDS})` : "";
  return `${exactNumber(first.value)} ${when(first.at)}, ${exactNumber(last.value)} ${when(last.at)}, ${gained}${what}`;
}

/** The text alternative of a chart. */
export function describe(
  {
    metric,
    align,
    asOf,
    ageDays,
    title,
  }: Pick<ChartInput, "metric" | "align" | "asOf" | "ageDays" | "title">,
  series: readonly ChartSeries[],
): { title: string; description: string } {
  const name = METRIC_NAMES[metric];
  const when = (at: number) => (align === "age" ? `at the age of ${ageText(at)}` : `on ${dateText(at)}`);
  const sentences = series.map((one) => {
    const [first, last] = [one.points[0], one.points.at(-1)];
    const note = one.note === undefined ? "" : `; ${one.note}`;
    const shortName = fit(one.name, { size: 1, width: 80 });
    if (first === undefined || last === undefined) return `${shortName}: nothing is known${note}.`;
    const count = one.gaps.length;
    const gaps = count === 0 ? "" : `; ${count} ${count === 1 ? "gap" : "gaps"} in the data`;
    const parts = partsOf(one.points)
      .toSorted((a, b) => a.first.at - b.first.at)
      .map((part) => partSentence(part, when));
    return `${shortName}: ${parts.join("; then ")}${gaps}${note}.`;
  });
  const subject = title ?? series.map((one) => one.name).join(", ");
  const asOfText = asOf === null ? "" : ` As of ${agedDate(asOf, ageDays)}.`;
  return {
    title: fit(`${name}${align === "age" ? " by age" : ""}: ${subject}`, { size: 1, width: 200 }),
    description: `${sentences.join(" ")}${asOfText}`,
  };
}
