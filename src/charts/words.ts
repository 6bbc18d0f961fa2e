import { DAY_MS } from "../lib/clock.js";
import { ageUnitOf } from "./axes.js";
import { hasMilestones, milestonesOf, milestoneWords, noteOfSpan } from "./events.js";
import { gainsOf, stepOf } from "./gains.js";
import {
  type AgeUnit,
  agedDate,
  ageText,
  datesText,
  dateText,
  exactNumber,
  signedNumber,
  signedRate,
} from "./numbers.js";
import {
  type ChartInput,
  type ChartSeries,
  type LinePart,
  longestPart,
  METRIC_NAMES,
  partsOf,
  RETAINED_WORDS,
} from "./series.js";
import { fit } from "./text.js";

/** The input that the words of a chart depend on. */
type Worded = Pick<ChartInput, "metric" | "align" | "view" | "title">;

/** "Stars", "Stars per day by age". */
function subjectOf({ metric, align, view }: Worded): string {
  return `${METRIC_NAMES[metric]}${view === "per-day" ? " per day" : ""}${align === "age" ? " by age" : ""}`;
}

/** The heading of a chart, and the last value of a single line. */
export interface Heading {
  heading: string;
  subheading: string;
  current: { value: string; gained: string } | undefined;
}

/** `range`: the first and last time of the axis, or ages. */
export function headingOf(
  input: Worded,
  series: readonly ChartSeries[],
  { range: [first, last], unit }: { range: readonly [number, number]; unit: AgeUnit },
): Heading {
  const { align, title } = input;
  const name = subjectOf(input);
  const when = (at: number) => (align === "age" ? `the age of ${ageText(at, unit)}` : dateText(at));
  const span = align === "age" ? `up to ${ageText(last, unit)} old` : datesText(first, last);
  const one = series.length === 1 ? series[0] : undefined;
  if (one === undefined)
    return {
      heading: title ?? name,
      subheading: `${series.length} repositories · ${span}`,
      current: undefined,
    };
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

export function footerOf(
  { asOf, ageDays }: Pick<ChartInput, "asOf" | "ageDays">,
  series: readonly ChartSeries[],
): string {
  const date = asOf === null ? [] : [`as of ${agedDate(asOf, ageDays)}`];
  const notes = series.flatMap(({ name, note }) =>
    note === undefined ? [] : [series.length === 1 ? note : `${name}: ${note}`],
  );
  return ["Sidereal", ...date, ...notes].join(" · ");
}

/** The text alternative of a chart. */
export function describe(
  input: Worded & Pick<ChartInput, "asOf" | "ageDays" | "spans" | "isSum">,
  series: readonly ChartSeries[],
): { title: string; description: string } {
  const { align, asOf, ageDays, title, view } = input;
  const times = series.flatMap(({ points }) => points.map(({ at }) => at));
  const unit = ageUnitOf(span(times));
  const when = (at: number) =>
    align === "age" ? `at the age of ${ageText(at, unit)}` : `on ${dateText(at)}`;
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
    const rates = view === "per-day" ? rateSentence(one, when) : "";
    return `${shortName}: ${parts.join("; then ")}${gaps}${note}.${rates}`;
  });
  const subject = title ?? series.map((one) => one.name).join(", ");
  const asOfText = asOf === null ? "" : ` As of ${agedDate(asOf, ageDays)}.`;
  return {
    title: fit(`${subjectOf(input)}: ${subject}`, { size: 1, width: 200 }),
    description: `${sentences.join(" ")}${eventSentences(input, series)}${asOfText}`,
  };
}

function span(times: readonly number[]): number {
  if (times.length === 0) return 0;
  return times.reduce((a, b) => Math.max(a, b)) - times.reduce((a, b) => Math.min(a, b));
}

function partSentence({ basis, first, last }: LinePart, when: (at: number) => string): string {
  const difference = last.value - first.value;
  const gained = `${difference < 0 ? "lost" : "gained"} ${exactNumber(Math.abs(difference))}`;
  const what = basis === "RETAINED" ? ` (${RETAINED_WORDS})` : "";
  return `${exactNumber(first.value)} ${when(first.at)}, ${exactNumber(last.value)} ${when(last.at)}, ${gained}${what}`;
}

/** The highest and lowest bar, and how many are missing. */
function rateSentence({ points }: ChartSeries, when: (at: number) => string): string {
  const step = stepOf(points);
  const gains = gainsOf(points, step);
  const known = gains.flatMap(({ perDay, at }) => (perDay === null ? [] : [{ perDay, at }]));
  const [first, ...others] = known.toSorted((a, b) => b.perDay - a.perDay);
  if (first === undefined) return " No two snapshots are close enough to compare.";
  const lowest = others.at(-1) ?? first;
  const per = step.name === "day" ? "Per day" : `Per day, by ${step.name}`;
  const missing = gains.length - known.length;
  const left =
    missing === 0
      ? ""
      : `; ${missing} ${missing === 1 ? "bar is" : "bars are"} left out, as snapshots are missing`;
  return ` ${per}: at most ${signedRate(first.perDay)} ${when(first.at)}, at least ${signedRate(lowest.perDay)} ${when(lowest.at)}${left}.`;
}

/** Milestones and unusual times. */
function eventSentences(
  input: Pick<ChartInput, "metric" | "align" | "view" | "spans" | "isSum">,
  series: readonly ChartSeries[],
): string {
  const { align, view, spans = [] } = input;
  if (align === "age") return "";
  const [only, ...others] = series;
  const shown = view !== "per-day" && only !== undefined && others.length === 0 && hasMilestones(input);
  const milestones = shown ? milestonesOf(only.points, spans) : [];
  const sentences = [
    ...milestones.map((one) => `It ${milestoneWords(one)}`),
    ...spans.map((one) => noteOfSpan(one)),
  ];
  return sentences.map((sentence) => ` ${sentence}.`).join("");
}

/** Days between two times, for texts: 3 days, 7 hours. */
export function distanceText(ms: number): string {
  const hours = Math.max(1, Math.round(ms / 3_600_000));
  const [count, unit] = hours < 36 ? [hours, "hour"] : [Math.round(ms / DAY_MS), "day"];
  return `${exactNumber(count)} ${unit}${count === 1 ? "" : "s"}`;
}
