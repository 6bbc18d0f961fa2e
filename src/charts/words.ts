import { forgeName } from "../config/config.js";
import type { Anomaly } from "../growth/growth.js";
import { DAY_MS, isoTime } from "../lib/clock.js";
import type { HistoryRefusal, HistoryState } from "../repositories/repositories.js";
import type { Crossing } from "./crossings.js";
import { type Gain, gainsOf, stepOf } from "./lines.js";
import { fit } from "./markup.js";
import {
  type AgeUnit,
  agedDate,
  ageText,
  datesText,
  dateText,
  exactNumber,
  plural,
  signedNumber,
  signedRate,
} from "./numbers.js";
import {
  type ChartInput,
  type ChartSeries,
  type ChartSpan,
  gainOfLine,
  isByDate,
  METRIC_WORDS,
  type Milestone,
  VIEW_FACTS,
  type View,
} from "./series.js";

/** All words of charts: heading, foot, the text for those who do not see them, and notes on events. */

type Worded = Pick<ChartInput, "metric" | "align" | "alignedAt" | "view" | "title">;

/** "Stars", "Stars per day by age", "Stars, 100 on 3 Jan 2026". */
export function subjectOf(input: Pick<Worded, "metric" | "align" | "alignedAt" | "view">): string {
  return `${METRIC_WORDS[input.metric].title}${VIEW_FACTS[input.view ?? "total"].suffix}${alignedWords(input)}`;
}

/** How lines are aligned, after their subject; empty by date. */
function alignedWords({ metric, align, alignedAt }: Worded): string {
  switch (align) {
    case "date":
      return "";
    case "age":
      return " by age";
    case "first-snapshot":
      return " from the first snapshot";
    case "first-count":
      return alignedAt === undefined
        ? ""
        : ` from the first ${exactNumber(alignedAt)} ${METRIC_WORDS[metric].unit}`;
    case "index":
      return alignedAt === undefined ? ", indexed" : `, 100 on ${dateText(alignedAt)}`;
  }
}

/** A point of time: a date, an age in this unit, or the time since the point of alignment. */
const whenOf = (align: ChartInput["align"], unit: AgeUnit) => (at: number) =>
  isByDate(align) ? dateText(at) : `${align === "age" ? "the age of " : ""}${ageText(at, unit)}`;

/** The title for those who do not see the chart. */
export function titleOf(input: Worded, series: readonly ChartSeries[]): string {
  const names = input.title ?? series.map(({ name }) => name).join(", ");
  return fit(`${subjectOf(input)}: ${names}`, { size: 1, width: 200 });
}

/** The times that a chart shows: its first and last date or age, and the unit of ages. */
interface TimeRange {
  first: number;
  last: number;
  unit: AgeUnit;
}

/** The heading of a chart, and the last value of a single line. */
export interface Heading {
  heading: string;
  subheading: string;
  current: { value: string; gained: string } | undefined;
}

export function headingOf(input: Worded, series: readonly ChartSeries[], range: TimeRange): Heading {
  const { first, last, unit } = range;
  const { align, title } = input;
  const subject = subjectOf(input);
  const time = isByDate(align)
    ? datesText(first, last)
    : `up to ${ageText(last, unit)}${align === "age" ? " old" : ""}`;
  const [one, ...others] = series;
  if (one === undefined || others.length > 0)
    return {
      heading: title ?? subject,
      subheading: `${series.length} repositories · ${time}`,
      current: undefined,
    };
  const gain = gainOfLine(one.points);
  const current = gain && { value: exactNumber(gain.last.value), gained: signedNumber(gain.gained) };
  return { heading: title ?? one.name, subheading: `${subject} · ${time}`, current };
}

/** The service, the date of the data, and the notes on lines. */
export function footerOf(
  { asOf, ageDays, site = "Sidereal" }: Pick<ChartInput, "asOf" | "ageDays" | "site">,
  series: readonly ChartSeries[],
): string {
  const date = asOf === null ? [] : [`as of ${agedDate(asOf, ageDays)}`];
  const notes = series.flatMap(({ name, note }) =>
    note === undefined ? [] : [series.length === 1 ? note : `${name}: ${note}`],
  );
  return [site, ...date, ...notes].join(" · ");
}

/** The content of a chart, as sentences. */
export function descriptionOf(
  { align, asOf, ageDays, view = "total", spans = [] }: ChartInput,
  series: readonly ChartSeries[],
  {
    unit,
    milestones,
    crossings,
  }: { unit: AgeUnit; milestones: readonly Milestone[]; crossings: readonly Crossing[] },
): string {
  const names = series.map(({ name }) => name);
  const time = whenOf(align, unit);
  const when = (at: number) => `${isByDate(align) ? "on" : align === "age" ? "at" : "after"} ${time(at)}`;
  return [
    ...series.flatMap((one) => SENTENCES[view].map((sentence) => sentence(one, when, time))),
    ...milestones.map((one) => `It ${milestoneWords(one)}.`),
    ...crossings.map((one) => `${crossingWords(one, names)} on ${dateText(one.at)}.`),
    ...(!isByDate(align) ? [] : spans.map((one) => `${noteOfSpan(one)}.`)),
    ...(asOf === null ? [] : [`As of ${agedDate(asOf, ageDays)}.`]),
  ].join(" ");
}

type Words = (at: number) => string;
/** `when`: "on 3 Mar 2026"; `time`: "3 Mar 2026". */
type Sentence = (series: ChartSeries, when: Words, time: Words) => string;

function lineSentence({ name, points, gaps, note }: ChartSeries, when: Words, time: Words): string {
  const facts = [
    courseWords(points, when),
    ...(gaps.length === 0 ? [] : [gapsWords(gaps, time)]),
    ...(note === undefined ? [] : [note]),
  ];
  return `${fit(name, { size: 1, width: 80 })}: ${facts.join("; ")}.`;
}

/** More would hide what else a sentence says. */
const GAPS_NAMED = 5;

/** "no readings between 3 Mar 2026 and 9 Mar 2026". */
function gapsWords(gaps: ChartSeries["gaps"], time: Words): string {
  const named = gaps.slice(-GAPS_NAMED).map(({ from, to }) => `between ${time(from)} and ${time(to)}`);
  const others = gaps.length - named.length;
  return `no readings ${named.join(", ")}${others === 0 ? "" : `, and ${plural(others, "gap")} before`}`;
}

function courseWords(points: ChartSeries["points"], when: Words): string {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return "nothing is known";
  const difference = last.value - first.value;
  const gained = `${difference < 0 ? "lost" : "gained"} ${exactNumber(Math.abs(difference))}`;
  return `${exactNumber(first.value)} ${when(first.at)}, ${exactNumber(last.value)} ${when(last.at)}, ${gained}`;
}

/** The highest and lowest bar, and how many are missing. */
function rateSentence({ points }: ChartSeries, when: Words): string {
  const step = stepOf(points);
  const gains = gainsOf(points, step);
  const known = gains.filter(({ perDay }) => perDay !== null);
  const [highest, ...others] = known.toSorted((a, b) => (b.perDay ?? 0) - (a.perDay ?? 0));
  if (highest === undefined) return "No two snapshots are close enough to compare.";
  const rate = ({ perDay, at }: Gain) => `${signedRate(perDay ?? 0)} ${when(at)}`;
  const missing = gains.length - known.length;
  const left = `; ${plural(missing, "bar")} ${missing === 1 ? "is" : "are"} left out, as snapshots are missing`;
  return `Per day${step.name === "day" ? "" : `, by ${step.name}`}: at most ${rate(highest)}, at least ${rate(others.at(-1) ?? highest)}${missing === 0 ? "" : left}.`;
}

/** The words for each line of a view. */
const SENTENCES: Readonly<Record<View, readonly Sentence[]>> = {
  total: [lineSentence],
  "per-day": [lineSentence, rateSentence],
};

/** "reached 50,000 on 3 Aug 2026"; "between 3 and 9 Aug" if no snapshot was taken in between. */
export function milestoneWords({ value, point, before }: Milestone): string {
  const isKnown = point.at - before.at < 1.75 * DAY_MS;
  const dates = datesText(before.at, point.at).replace(" – ", " and ");
  return `reached ${exactNumber(value)} ${isKnown ? `on ${dateText(point.at)}` : `between ${dates}`}`;
}

/** "acme/kite passed acme/crane". */
export function crossingWords({ passer, passed }: Crossing, names: readonly string[]): string {
  return `${names[passer]} passed ${names[passed]}`;
}

/** The note of a span: its date or dates, and its words. */
export function noteOfSpan({ from, to, words }: Pick<ChartSpan, "from" | "to" | "words">): string {
  return `${datesText(from, to)}: ${words}`;
}

/** An event, and the part of it that counts: "dropped by 22,000 and recovered; neither counts". `turn`: the first count of a return. */
export function anomalyWords({ kind, before, after, counted }: Anomaly, turn: number | undefined): string {
  const move = (change: number) => `${change < 0 ? "dropped" : "rose"} by ${exactNumber(Math.abs(change))}`;
  const moved = move(after - before);
  const [low, high] = [Math.min(before, after), Math.max(before, after)].map(exactNumber);
  switch (kind) {
    case "FAILED_READING":
      return `read as ${low} instead of about ${high}: a failed reading, which does not count`;
    case "UNCONFIRMED":
      return `read as ${exactNumber(after)} after ${exactNumber(before)}; counts once another reading confirms it`;
    case "RETURN":
      if (turn === undefined || turn === before) return "moved and returned; neither counts";
      return `${move(turn - before)} and ${turn < before ? "recovered" : "fell back"}; neither counts`;
    case "BURST":
      return `${moved}, far more than usual; ${exactNumber(counted ?? 0)} of it count`;
    case "PURGE":
      return `${moved}; the loss counts in full`;
  }
}

/** Why a forge gave no star history, worded to follow its name. */
const REFUSAL_WORDS: Readonly<Record<HistoryRefusal, string>> = {
  NONE: "gives no star history of it",
  NOT_READY: "has not prepared its star history yet",
  UNUSABLE: "sent a star history of it that cannot be used",
  FORBIDDEN: "refused its star history",
  UNREACHABLE: "did not return its star history",
};

/**
 * Why a star history is not whole, in one or two sentences; undefined if nothing of it is missing. `provider`: its forge. `now`: of a
 * service, which tries again; absent: the time of the next try is left out.
 */
export function historyWords(
  { state, readTo, why, nextAt }: HistoryState,
  provider: string,
  now?: number,
): string | undefined {
  const back = readTo === null ? "" : dateText(readTo);
  switch (state) {
    case "WAITING":
      return "Its star history is not read yet.";
    case "READING":
      return `Reading its star history: back to ${back}.`;
    case "REFUSED": {
      const isPlanned = now !== undefined && nextAt !== null && nextAt > now;
      const next = isPlanned ? ` Next try ${dateText(nextAt)}, ${isoTime(nextAt).slice(11, 16)} UTC.` : "";
      const read = back === "" ? "" : ` It is read back to ${back}.`;
      return `${forgeName(provider)} ${REFUSAL_WORDS[why ?? "FORBIDDEN"]}.${read}${next}`;
    }
    default:
      return undefined;
  }
}

/** From when a picture shows stars while its history is not whole. */
export const sinceWords = (at: number): string => `since ${dateText(at)}`;
