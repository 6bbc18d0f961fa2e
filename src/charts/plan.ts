import { SNAPSHOT_SOURCES, type SnapshotSource } from "../repositories/repositories.js";
import { type Axis, ageAxis, ageUnitOf, dateAxis, gainAxis, linearAxis, logAxis } from "./axes.js";
import { hasMilestones, type Milestone, milestonesOf } from "./events.js";
import { type Gain, gainsOf, perDayLine, spanOf } from "./gains.js";
import { labelWidth, shortNames } from "./lines.js";
import { shortNumber, signedShort } from "./numbers.js";
import { type ChartInput, type ChartSeries, type ChartSpan, RETAINED_WORDS, type View } from "./series.js";
import { estimateWidth } from "./text.js";
import { footerOf, headingOf } from "./words.js";

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
  /** The lines, as they are drawn: totals, or gains per day. */
  lines: readonly ChartSeries[];
  /** The gains of a single line per day, drawn as bars. */
  bars: readonly Gain[] | undefined;
  spans: readonly ChartSpan[];
  /** Of a single line of totals. */
  milestones: readonly Milestone[];
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
  const { width, height, isBare = false, view = "total", align } = input;
  const sizes = sizesFor(width);
  const { tick } = sizes;
  const pad = isBare ? 4 : width < 420 ? 12 : 16;
  const points = series.flatMap((one) => one.points);
  const spans = align === "date" && points.length > 0 ? (input.spans ?? []) : [];
  const lines = view === "per-day" ? perDayLines(series) : series;
  const only = series.length === 1 ? series[0] : undefined;
  const origins = SNAPSHOT_SOURCES.filter(
    (source) => ORIGINS[source] !== undefined && points.some((point) => point.source === source),
  );
  const times = [...points.map((point) => point.at), ...spans.map(({ to }) => to)];
  const range = times.length === 0 ? ([0, 0] as const) : ([least(times), most(times)] as const);
  const unit = ageUnitOf(range[1] - range[0]);
  const footer = footerOf(input, series);
  const originsWidth = origins.reduce((sum, source) => sum + originWidth(source, tick), 0);
  const originsAbove = isBare || estimateWidth(footer, tick) + originsWidth + 2 * pad + 12 > width;
  const foot = (isBare ? 4 : tick + 17) + (origins.length > 0 && originsAbove ? tick + 5 : 0) + tick + 5;
  const plot = {
    left: pad,
    right: width - pad - 6,
    top: isBare ? (spans.length > 0 ? tick + 6 : 10) : pad + sizes.heading + sizes.sub + 26,
    bottom: height - foot,
  };
  const yCount = Math.min(7, Math.max(2, Math.floor((plot.bottom - plot.top) / (tick * 3.8))));
  const y = verticalAxis(input, { lines, spans }, yCount);
  plot.left += Math.max(...y.ticks.map(({ label }) => estimateWidth(label, tick))) + 8;
  const labels = series.length > 1 ? planLabels(input, lines, sizes.label) : undefined;
  if (labels !== undefined) plot.right -= labels.width + 6;
  const xCount = Math.max(2, Math.floor((plot.right - plot.left) / (tick * 6.2)));
  const x = align === "age" ? ageAxis(range, unit, xCount) : dateAxis(...range, xCount);
  return {
    input,
    lines,
    bars: view === "per-day" && only !== undefined ? gainsOf(only.points) : undefined,
    spans,
    milestones:
      view === "total" && only !== undefined && hasMilestones(input) ? milestonesOf(only.points, spans) : [],
    ...headingOf(input, series, { range, unit }),
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

function verticalAxis(
  { scale, view }: ChartInput,
  { lines, spans }: Pick<Plan, "lines" | "spans">,
  count: number,
): Axis {
  const points = lines.flatMap((line) => line.points);
  if (view !== "per-day") {
    const values = points.map(({ value }) => value);
    const [low, high] = values.length === 0 ? [0, 1] : [least(values), most(values)];
    return (scale === "log" ? logAxis : linearAxis)(low, high, count);
  }
  // A failed reading of thousands would flatten all other days: its bar is cut at the edge.
  const isDoubtful = (at: number) => spans.some((one) => one.isDoubtful && at >= one.from && at <= one.to);
  // Neither the step into it nor the step out of it.
  const usual = lines.flatMap((line) =>
    line.points.filter(({ at }, i) => !isDoubtful(at) && !isDoubtful(line.points[i - 1]?.at ?? at)),
  );
  const values = (usual.length > 0 ? usual : points).map(({ value }) => value);
  return gainAxis(least([0, ...values]), most([0, ...values]), count);
}

const least = (values: readonly number[]) => values.reduce((a, b) => Math.min(a, b));
const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b));

function planLabels(
  { width, view }: ChartInput,
  series: readonly ChartSeries[],
  size: number,
): Plan["labels"] {
  const full = series.map((one) => one.name);
  const names = width >= 900 ? full : shortNames(full);
  const labels = series.map((one, i) => ({
    name: names[i] ?? one.name,
    value: endValue(one, view),
    end: { x: 0, y: 0 },
    color: i + 1,
  }));
  return { names, width: labelWidth(labels, size, width * (width < 420 ? 0.32 : 0.28)) };
}

function perDayLines(series: readonly ChartSeries[]): ChartSeries[] {
  const span = spanOf(series.map(({ points }) => points));
  return series.map((one) => perDayLine(one, span));
}

/** The last value of a line beside its name: a total, or a gain per day with its sign. */
export function endValue(line: ChartSeries, view: View = "total"): string {
  const value = line.points.at(-1)?.value;
  if (value === undefined) return "";
  return view === "per-day" ? signedShort(value) : shortNumber(value);
}
