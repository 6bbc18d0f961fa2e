import type { Anomaly } from "../growth/growth.js";
import type { Frame } from "./axes.js";
import { type Box, isIn, passingsOf } from "./crossings.js";
import { cleanSeries, DRAWINGS, spread } from "./lines.js";
import { element, estimateWidth, type Markup } from "./markup.js";
import { dateText, dayText, shortNumber } from "./numbers.js";
import {
  type ChartInput,
  type ChartPoint,
  type ChartSpan,
  isByDate,
  type Metric,
  type Milestone,
  type Passed,
  VIEW_FACTS,
} from "./series.js";
import { MAX_SERIES } from "./themes.js";
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

/** Those that pictures show as flags, which have room for more. */
export const FLAGS: readonly number[] = [1, 5, 10, 25, 50, 100, 250, 500, 1_000].map(
  (thousands) => thousands * 1_000,
);

type Reachable = Pick<ChartInput, "metric" | "align" | "view" | "isSum"> & {
  series: readonly { points: readonly ChartPoint[] }[];
};

/** The highest milestones that the single line of a chart by date reaches within its points; see `reachedOf`. */
export const milestonesOf = (input: Reachable): Milestone[] =>
  reachedOf(input, MILESTONES).slice(-MAX_MILESTONES);

/**
 * The round numbers that the single line of a chart by date reaches within its points. One that was reached before the first point is
 * none, and neither is one of open issues, which come and go.
 */
export function reachedOf(
  { metric, align, view = "total", isSum = false, series: [only, ...others] }: Reachable,
  values: readonly number[],
): Milestone[] {
  if (metric === "openIssues" || align !== "date" || !VIEW_FACTS[view].hasMilestones || isSum) return [];
  if (only === undefined || others.length > 0) return [];
  const found: Milestone[] = [];
  let [before] = only.points;
  let highest = before?.value ?? 0;
  for (const point of only.points) {
    const value = values.findLast((one) => one > highest && one <= point.value);
    if (value !== undefined && before !== undefined && point.isApart !== true)
      found.push({ value, point, before });
    highest = Math.max(highest, point.value);
    before = point;
  }
  return found;
}

/** A span is at least this wide, as most last for one snapshot. */
const MIN_WIDTH = 6;

/** Spans below bars: each begins at the point before it. */
export const spansUnder = (bars: unknown, spans: readonly ChartSpan[]): readonly ChartSpan[] =>
  bars === undefined ? spans : spans.map((one) => ({ ...one, from: one.since ?? one.from }));

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

/** Something that a line reached: in short, with its day where there is room. */
interface Reached {
  at: number;
  value: number;
  words: string;
}

/** Events so near to each other share a ring, in pixels. */
const TOGETHER = 12;

/** Round numbers and others passed, oldest first; those at the same place as one. */
function happenedOn(milestones: readonly Milestone[], passed: readonly Passed[], { x }: Frame): Reached[] {
  const all: Reached[] = [
    ...milestones.map(({ value, point }) => ({ ...point, words: shortNumber(value) })),
    ...passed.map((one) => ({ ...one, words: `passed ${one.name}` })),
  ];
  const joined: Reached[] = [];
  for (const one of all.sort((a, b) => a.at - b.at)) {
    const last = joined.at(-1);
    if (last === undefined || x(one.at) - x(last.at) > TOGETHER) joined.push({ ...one });
    else if (!last.words.includes("passed")) last.words = [last.words, one.words].sort().join(", ");
  }
  return joined;
}

/** Rings on the line where it reaches round numbers or passes others, each named where there is room. */
export function drawReached(
  milestones: readonly Milestone[],
  passed: readonly Passed[],
  frame: Frame & { label: number; days: number },
): (Markup | undefined)[] {
  const { left, right, top, bottom, size, label } = frame;
  const isWide = right - left > LEAST_DATED;
  const all = happenedOn(milestones, isWide ? passed : [], frame).map((one) => ({
    ...one,
    x: frame.x(one.at),
    y: frame.y(one.value),
  }));
  const taken: Box[] = all.map(({ x, y }) => ({
    left: x - RING,
    right: x + RING,
    top: y - RING,
    bottom: y + RING,
  }));
  const isFree = (box: Box) =>
    box.left >= left &&
    box.right <= right &&
    box.top >= top - label &&
    box.bottom <= bottom &&
    !taken.some((one) => isIn(one, box));
  // The latest first: where two names do not fit, the newer one is shown.
  return all.toReversed().flatMap(({ at, words, x, y }) => {
    const ring = element("circle", { class: "chart-ring", cx: x, cy: y, r: 5, "stroke-width": 2.5 });
    const day = isWide ? dayWords(at, frame.days) : "";
    const nameWidth = BOLD * estimateWidth(words, label);
    const width = nameWidth + (day === "" ? 0 : 6 + estimateWidth(day, size));
    // Above a rising line there is room to its left, below it to its right.
    const places: Box[] = [
      { left: x - 11 - width, right: x - 11, top: y - 9 - label, bottom: y - 6 },
      { left: x + 11, right: x + 11 + width, top: y + 20 - label, bottom: y + 23 },
    ];
    const place = places.find(isFree);
    if (place === undefined) return [ring];
    taken.push(place);
    const text = { y: place.bottom - 3, ...(place.right < x && { "text-anchor": "end" }) };
    const [nameAt, dayAt] =
      place.right < x
        ? [place.right - width + nameWidth, place.right]
        : [place.left, place.left + nameWidth + 6];
    const bold = { class: "chart-text", "font-size": label, "font-weight": 600 };
    return [
      ring,
      element("text", { ...bold, ...text, x: nameAt }, words),
      day === ""
        ? undefined
        : element("text", { class: "chart-muted", "font-size": size, ...text, x: dayAt }, day),
    ];
  });
}

/** Bold letters are wider, in some fonts of readers by this much. */
const BOLD = 1.15;

/** Half the size of a ring. */
const RING = 6;
/** Narrower charts have no room for days, in pixels. */
const LEAST_DATED = 700;
/** From this many days on, a year says more than a day. */
const DAYS_NAMED = 400;

/** "2 Apr", or "Apr 2026" in a chart of years. */
function dayWords(at: number, days: number): string {
  return days > DAYS_NAMED ? dateText(at).replace(/^\d+ /, "") : dayText(at);
}

/** What a chart shows, before its places are known. `bars`: instead of lines. */
export function contentOf(input: ChartInput) {
  const { align, view = "total" } = input;
  const series = input.series.slice(0, MAX_SERIES).map(cleanSeries);
  const hasPoints = series.some(({ points }) => points.length > 0);
  const spans = isByDate(align) && hasPoints ? (input.spans ?? []) : [];
  const drawing = DRAWINGS[view];
  const [only] = series.length === 1 ? series : [];
  const points = series.flatMap((one) => one.points);
  const lines = drawing.lines(series);
  const bars = only && drawing.bars(only.points);
  const [milestones, crossings] = [milestonesOf({ ...input, series }), passingsOf({ ...input, series })];
  return { series, only, points, spans, lines, bars, milestones, crossings };
}

/** The first and the last time that a chart shows. */
export function endsOf(
  points: readonly ChartPoint[],
  spans: readonly ChartSpan[],
): [first: number, last: number] {
  const times = [...points.map(({ at }) => at), ...spans.map(({ to }) => to)];
  return times.length === 0 ? [0, 0] : [Math.min(...times), Math.max(...times)];
}
