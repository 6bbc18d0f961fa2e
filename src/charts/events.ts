import type { Anomaly } from "../growth/growth.js";
import { DAY_MS } from "../lib/clock.js";
import { basisOf } from "../repositories/repositories.js";
import { element, type Markup } from "./markup.js";
import { datesText, dateText, exactNumber, shortNumber } from "./numbers.js";
import { type ChartInput, type ChartPoint, type ChartSpan, isBroken, type Metric } from "./series.js";
import { estimateWidth } from "./text.js";

/** What happened along a line, found, worded and drawn: times in which its counts are unusual or missing, and milestones. */

/** Maximum number of spans in a chart; further ones are left out. */
export const MAX_SPANS = 9;

/** What happened, and what of it counts: "dropped by 22,000 and recovered; neither counts". `turn`: the first count of a return. */
function anomalyWords({ kind, before, after, counted, cleared }: Anomaly, turn: number | undefined): string {
  const moved = (change: number) => `${change < 0 ? "dropped" : "rose"} by ${exactNumber(Math.abs(change))}`;
  const [low, high] = [Math.min(before, after), Math.max(before, after)].map(exactNumber);
  const counts = (otherwise: string) => (cleared?.by === "TIME" ? "all of it counts by now" : otherwise);
  switch (kind) {
    case "FAILED_READING":
      return `read as ${low} instead of about ${high}: a failed reading, which does not count`;
    case "UNCONFIRMED":
      return `read as ${exactNumber(after)} after ${exactNumber(before)}; counts once another reading confirms it`;
    case "RETURN":
      if (turn === undefined || turn === before) return "moved and returned; neither counts";
      return `${moved(turn - before)} and ${turn < before ? "recovered" : "fell back"}; neither counts`;
    case "LEVEL_SHIFT":
      return `${moved(after - before)} in one step; ${counts("that does not count")}`;
    case "BURST":
      return `${moved(after - before)}, far more than usual; ${counts(`${exactNumber(counted ?? 0)} of it count`)}`;
    case "PURGE":
      return `${moved(after - before)}; the loss counts in full`;
  }
}

/** Kinds in which the counts themselves are wrong, or soon taken back. */
const PASSING: readonly Anomaly["kind"][] = ["FAILED_READING", "UNCONFIRMED", "RETURN"];

/** The anomalies of a metric in the trends of a repository, each once, oldest first. */
export function anomalySpans(
  trends: readonly ({ anomalies: readonly Anomaly[] } | null | undefined)[],
  metric: Metric,
  points: readonly ChartPoint[],
): ChartSpan[] {
  const turnOf = ({ at, until }: Anomaly) =>
    points.find((point) => point.at >= at && point.at <= until)?.value;
  const found = new Map<string, Anomaly>();
  for (const trend of trends)
    for (const anomaly of trend?.anomalies ?? [])
      if (anomaly.measure === metric) found.set(`${anomaly.kind} ${anomaly.at}`, anomaly);
  return [...found.values()]
    .sort((a, b) => a.at - b.at)
    .slice(-MAX_SPANS)
    .map((anomaly) => ({
      from: anomaly.at,
      to: Math.max(anomaly.at, anomaly.until),
      since: points.findLast(({ at }) => at < anomaly.at)?.at ?? anomaly.at,
      kind: "unusual",
      words: anomalyWords(anomaly, turnOf(anomaly)),
      isDoubtful: PASSING.includes(anomaly.kind),
    }));
}

/** The part of the spans between two times. */
export function spansWithin(spans: readonly ChartSpan[], from: number, to: number): ChartSpan[] {
  return spans
    .filter((span) => span.to >= from && span.from <= to)
    .map((span) => ({ ...span, from: Math.max(from, span.from), to: Math.min(to, span.to) }));
}

/** The note of a span: its date or dates, and its words. */
export function noteOfSpan({ from, to, words }: Pick<ChartSpan, "from" | "to" | "words">): string {
  return `${datesText(from, to)}: ${words}`;
}

/** When a total first reached a round number. */
export interface Milestone {
  value: number;
  /** The first point that has reached it, and the one before. */
  point: ChartPoint;
  before: ChartPoint;
}

/** 1,000, 5,000, 10,000, 50,000, … */
const THRESHOLDS = Array.from({ length: 7 }, (_, i) => [10 ** (i + 3), 5 * 10 ** (i + 3)]).flat();
/** More would clutter a chart. The highest are shown. */
const MAX_MILESTONES = 4;

/**
 * The milestones that a line reaches within its points, by totals alone. One that was reached before the first point is none, and
 * neither is one that only a doubtful count reaches.
 */
export function milestonesOf(points: readonly ChartPoint[], spans: readonly ChartSpan[]): Milestone[] {
  const isDoubtful = (at: number) => spans.some((one) => one.isDoubtful && at >= one.from && at <= one.to);
  const found: Milestone[] = [];
  let highest = Number.POSITIVE_INFINITY;
  let before: ChartPoint | undefined;
  for (const point of points) {
    if (basisOf(point.source) !== "TOTAL") continue;
    if (isDoubtful(point.at)) continue;
    const reached = THRESHOLDS.filter((value) => value > highest && value <= point.value);
    const value = reached.at(-1);
    if (value !== undefined && before !== undefined && !isBroken(before, point))
      found.push({ value, point, before });
    highest = highest === Number.POSITIVE_INFINITY ? point.value : Math.max(highest, point.value);
    before = point;
  }
  return found.slice(-MAX_MILESTONES);
}

/** "reached 50,000 on 3 Aug 2026"; "between 3 and 9 Aug" where no snapshot was taken in between. */
export function milestoneWords({ value, point, before }: Milestone): string {
  const when =
    point.at - before.at < 1.75 * DAY_MS
      ? `on ${dateText(point.at)}`
      : `between ${datesText(before.at, point.at).replace(" – ", " and ")}`;
  return `reached ${exactNumber(value)} ${when}`;
}

/** Round numbers of stars and forks are reached once; open issues come and go. */
export const hasMilestones = ({
  metric,
  align,
  isSum = false,
}: Pick<ChartInput, "metric" | "align" | "isSum">): boolean =>
  metric !== "openIssues" && align === "date" && !isSum;

/** The bounds of a chart's lines, and its scales in pixels. */
export interface EventFrame {
  left: number;
  right: number;
  top: number;
  bottom: number;
  x(at: number): number;
  y(value: number): number;
  /** Font size of the labels. */
  size: number;
}

/** A span is at least this wide, as most last for one snapshot. */
const MIN_WIDTH = 6;

/** Shades spans; `isNumbered`: with their numbers above the lines. Unusual times have solid edges, unseen ones dashed ones. */
export function drawSpans(spans: readonly ChartSpan[], frame: EventFrame, isNumbered: boolean): Markup[] {
  const { left, right, top, bottom, size } = frame;
  const edges = spans.map(({ from, to }) => {
    const [begin, end] = [frame.x(from), frame.x(to)];
    const spare = Math.max(0, MIN_WIDTH - (end - begin)) / 2;
    return { begin: Math.max(left, begin - spare), end: Math.min(right, end + spare) };
  });
  const shades = edges.map(({ begin, end }, i) => {
    const isUnusual = spans[i]?.kind === "unusual";
    const [x, to, y, foot] = [begin, end, top, bottom].map((one) => one.toFixed(1));
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
        ...(isUnusual ? {} : { "stroke-dasharray": "3 3" }),
      }),
    ];
  });
  if (!isNumbered) return shades.flat();
  let next = Number.NEGATIVE_INFINITY;
  const numbers = edges.map(({ begin, end }, i) => {
    const label = String(i + 1);
    const half = estimateWidth(label, size) / 2;
    const x = Math.max((begin + end) / 2, next + half);
    next = x + half + 3;
    return { label, x, half };
  });
  // Pushed back from the right edge, where spans at the end of the line crowd.
  let edge = right + 6;
  for (const number of numbers.toReversed()) {
    number.x = Math.min(number.x, edge - number.half);
    edge = number.x - number.half - 3;
  }
  return [
    ...shades.flat(),
    ...numbers.map(({ label, x }) =>
      element(
        "text",
        {
          class: "chart-text",
          "font-size": size,
          "font-weight": 600,
          x,
          y: top - 3,
          "text-anchor": "middle",
        },
        label,
      ),
    ),
  ];
}

/** Rings on the line where it reaches round numbers, with the number where there is room. */
export function drawMilestones(milestones: readonly Milestone[], frame: EventFrame): Markup[] {
  const { left, right, top, bottom, size } = frame;
  let taken = left;
  return milestones.flatMap(({ value, point }) => {
    const [x, y] = [frame.x(point.at), frame.y(point.value)];
    const ring = element("circle", { class: "chart-ring", cx: x, cy: y, r: 3.6, "stroke-width": 1.6 });
    const label = shortNumber(value);
    const width = estimateWidth(label, size);
    const text = { class: "chart-muted", "font-size": size };
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
