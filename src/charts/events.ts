import type { Anomaly } from "../growth/growth.js";
import type { Frame } from "./axes.js";
import { spread } from "./lines.js";
import { element, estimateWidth, type Markup } from "./markup.js";
import { shortNumber } from "./numbers.js";
import {
  type ChartInput,
  type ChartPoint,
  type ChartSpan,
  type Metric,
  type Milestone,
  VIEW_FACTS,
} from "./series.js";
import { anomalyWords } from "./words.js";

/** Events along a line, found and drawn: times in which its counts are unusual or missing, and milestones. */

/** Maximum number of spans in a chart; further ones are left out. */
export const MAX_SPANS = 9;

/** The anomalies of a metric in the trends of a repository, each once, oldest first. `leftOut`: counts that are not points. */
export function anomalySpans(
  trends: readonly ({ anomalies: readonly Anomaly[] } | null | undefined)[],
  metric: Metric,
  {
    points,
    leftOut,
  }: { points: readonly ChartPoint[]; leftOut: readonly Pick<ChartPoint, "at" | "value">[] },
): ChartSpan[] {
  const anomalies = trends.flatMap((trend) => trend?.anomalies ?? []).filter((one) => one.measure === metric);
  const distinct = new Map(anomalies.map((one) => [`${one.kind} ${one.at}`, one]));
  return [...distinct.values()]
    .sort((a, b) => a.at - b.at)
    .slice(-MAX_SPANS)
    .map((anomaly) => {
      const { at, until } = anomaly;
      const turn = leftOut.find((point) => point.at >= at && point.at <= until)?.value;
      return {
        from: at,
        to: Math.max(at, until),
        since: points.findLast((point) => point.at < at)?.at ?? at,
        kind: "unusual",
        words: anomalyWords(anomaly, turn),
      };
    });
}

/** The part of the spans between two times. */
export function spansWithin(spans: readonly ChartSpan[], from: number, to: number): ChartSpan[] {
  return spans
    .filter((span) => span.to >= from && span.from <= to)
    .map((span) => ({ ...span, from: Math.max(from, span.from), to: Math.min(to, span.to) }));
}

/** Round numbers worth a mark: 1,000, 5,000, 10,000, 50,000, … */
export const MILESTONES: readonly number[] = Array.from({ length: 7 }, (_, i) => [
  10 ** (i + 3),
  5 * 10 ** (i + 3),
]).flat();
/** More would clutter a chart. The highest are shown. */
const MAX_MILESTONES = 4;

/**
 * The milestones that the single line of a chart by date reaches within its points. One that was reached before
 * the first point is none, and neither is one of open issues, which come and go.
 */
export function milestonesOf({
  metric,
  align,
  view = "total",
  isSum = false,
  series: [only, ...others],
}: Pick<ChartInput, "metric" | "align" | "view" | "isSum"> & {
  series: readonly { points: readonly ChartPoint[] }[];
}): Milestone[] {
  if (metric === "openIssues" || align !== "date" || !VIEW_FACTS[view].hasMilestones || isSum) return [];
  if (only === undefined || others.length > 0) return [];
  const found: Milestone[] = [];
  let [before] = only.points;
  let highest = before?.value ?? 0;
  for (const point of only.points) {
    const value = MILESTONES.findLast((one) => one > highest && one <= point.value);
    if (value !== undefined && before !== undefined && point.isApart !== true)
      found.push({ value, point, before });
    highest = Math.max(highest, point.value);
    before = point;
  }
  return found.slice(-MAX_MILESTONES);
}

/** A span is at least this wide, as most last for one snapshot. */
const MIN_WIDTH = 6;

/** Shades spans; `isNumbered`: with their numbers above the lines. Unusual times have solid edges, unseen ones dashed ones. */
export function drawSpans(spans: readonly ChartSpan[], frame: Frame, isNumbered: boolean): Markup[] {
  const { left, right, top, bottom, size } = frame;
  const edges = spans.map(({ from, to }) => {
    const [begin, end] = [frame.x(from), frame.x(to)];
    const spare = Math.max(0, MIN_WIDTH - (end - begin)) / 2;
    return [Math.max(left, begin - spare), Math.min(right, end + spare)] as const;
  });
  const shades = edges.flatMap((edge, i) => {
    const isUnusual = spans[i]?.kind === "unusual";
    const [x, to, y, foot] = [...edge, top, bottom].map((one) => one.toFixed(1));
    return [
      element("path", {
        class: "chart-muted",
        d: `M${x} ${y}H${to}V${foot}H${x}Z`,
        "fill-opacity": isUnusual ? 0.16 : 0.08,
      }),
      element("path", {
        class: "chart-hint",
        d: `M${x} ${y}V${foot}M${to} ${y}V${foot}`,
        "stroke-width": 0.8,
        "stroke-dasharray": isUnusual ? undefined : "3 3",
      }),
    ];
  });
  if (!isNumbered) return shades;
  const look = { class: "chart-text", "font-size": size, "font-weight": 600, "text-anchor": "middle" };
  const digit = estimateWidth("0", size);
  const begins = spans.map(({ from }) => frame.x(from));
  const places = spread(begins, digit + 3, [left + digit / 2, right]);
  return [...shades, ...places.map((x, i) => element("text", { ...look, x, y: top - 3 }, String(i + 1)))];
}

/** Rings on the line where it reaches round numbers, with the number where there is room. */
export function drawMilestones(milestones: readonly Milestone[], frame: Frame): Markup[] {
  const { left, right, top, bottom, size } = frame;
  const text = { class: "chart-muted", "font-size": size };
  let taken = left;
  return milestones.flatMap(({ value, point }) => {
    const [x, y] = [frame.x(point.at), frame.y(point.value)];
    const ring = element("circle", { class: "chart-ring", cx: x, cy: y, r: 3.6, "stroke-width": 1.6 });
    const label = shortNumber(value);
    const width = estimateWidth(label, size);
    if (x - 5 - width >= taken && y - 6 - size >= top) {
      taken = x - 1;
      return [ring, element("text", { ...text, x: x - 5, y: y - 6, "text-anchor": "end" }, label)];
    }
    // Below a rising line there is room to its right.
    if (x + 6 + width > right || y + size + 5 > bottom || x + 6 < taken) return [ring];
    taken = x + 10 + width;
    return [ring, element("text", { ...text, x: x + 6, y: y + size + 2 }, label)];
  });
}
