import { forgeName } from "../config/config.js";
import type { Rank } from "../discovery/discovery.js";
import {
  type Anomaly,
  type Trend,
  timesUsual,
  usualWords,
  WINDOW_LABELS,
  WINDOWS,
  type Window,
} from "../growth/growth.js";
import { DAY_MS, HOUR_MS, isoTime } from "../lib/clock.js";
import type { HistoryRefusal, HistoryState } from "../repositories/repositories.js";
import type { Crossing } from "./crossings.js";
import { DAY_STEP, type Gain, gainsOf, stepOf } from "./lines.js";
import { fit } from "./markup.js";
import {
  type AgeUnit,
  agedDate,
  ageText,
  datesText,
  dateText,
  dayText,
  exactNumber,
  plural,
  signedNumber,
  signedRate,
} from "./numbers.js";
import {
  type ChartInput,
  type ChartPoint,
  type ChartSeries,
  type ChartSpan,
  isByDate,
  METRIC_WORDS,
  type Milestone,
  unitOf,
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

/** The foot of a picture: notes on lines, its subject unless that is plain, and the date of the data. */
export function footerOf(input: ChartInput, series: readonly ChartSeries[]): string {
  const { asOf, ageDays, scale, view = "total" } = input;
  const notes = series.flatMap(({ name, note }) =>
    note === undefined ? [] : [series.length === 1 ? note : `${name}: ${note}`],
  );
  const subject = subjectOf(input);
  return [
    ...notes,
    ...(subject === METRIC_WORDS.stars.title ? [] : [subject]),
    ...(scale === "log" && view === "total" ? ["log scale"] : []),
    ...(asOf === null ? [] : [agedDate(asOf, ageDays)]),
  ].join(" · ");
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

/** What happened to a repository, in a sentence: the same on its page, its pictures and its card. */

/** A sentence, whose gain may be coloured. */
export interface Headline {
  /** "+1,878 stars"; empty without a gain. */
  gain: string;
  /** Whether it is one. */
  isRise: boolean;
  /** The rest of the sentence. */
  words: string;
}

/**
 * One gain and at most one comparison; without a gain the last round number, `passed`. undefined: nothing is known. `days`: of its whole
 * life, see `dayGains`.
 */
export function headlineOf(
  trend: Trend | null,
  { days, passed }: { days: readonly DayGain[]; passed: Milestone | undefined },
): Headline | undefined {
  if (trend === null) return undefined;
  const { starsDelta, window } = trend;
  const isRise = starsDelta > 0;
  if (starsDelta !== 0) {
    const words = `in ${WINDOW_LABELS[window]}${comparison(trend, days)}.`;
    return { gain: `${signedNumber(starsDelta)} ${unitOf("stars", Math.abs(starsDelta))}`, isRise, words };
  }
  if (passed === undefined) return undefined;
  return {
    gain: "",
    isRise,
    words: `Passed ${exactNumber(passed.value)} stars on ${dateText(dayOf(passed.point.at))}.`,
  };
}

/** Lower places are not worth a headline. */
const BEST_PLACES = 10;

/** The place in Trending that says most, among all or in a language or topic; undefined if none is among the first ten. */
export function bestPlace(ranks: readonly Rank[], window: Window): Rank | undefined {
  const trending = ranks.filter((rank) => rank.ranking === "trending" && rank.window === window);
  return weightiest(trending).find(({ position }) => position <= BEST_PLACES);
}

const THIS: Readonly<Record<Window, string>> = { "24h": "today", "7d": "this week", "30d": "this month" };

/** "#3 this month", "#1 in Rust today"; "#3 that day" of data that is old. */
export function placeWords({ position, window, scope, name }: Rank, isPast: boolean): string {
  const time = THIS[window ?? "7d"];
  const among = name === null ? "" : ` in ${scope === "provider" ? forgeName(name) : name}`;
  return `#${exactNumber(position)}${among} ${isPast ? time.replace("today", "that day").replace("this", "that") : time}`;
}

/** How a gain compares: its best day, how few days made most of it, or its usual pace. Empty if nothing is unusual. */
function comparison(trend: Trend, days: readonly DayGain[]): string {
  if (trend.starsDelta < 0) return "";
  const record = trend.window === "24h" ? recordWords(days, trend.to) : "";
  if (record !== "") return `, ${record}`;
  const few = fewDays(trend, days);
  if (few !== undefined) return `, ${few.part} of them ${few.when}`;
  const usual = usualWords(trend);
  const times = timesUsual(trend) ?? 1;
  return usual.startsWith("about") || !usual.includes("×")
    ? ""
    : times > 1
      ? `: ${usual}`
      : ", slower than usual";
}

/** The most days that are few, of a week and of a month. */
const FEW: Readonly<Record<Window, number>> = { "24h": 0, "7d": 1, "30d": 3 };
const PARTS = [
  [0.9, "nearly all"],
  [0.72, "three quarters"],
  [0.6, "two thirds"],
  [0.5, "half"],
] as const;
const NUMBERS = ["no", "one", "two", "three"];

/** The few days that made half of a gain or more: "two thirds", "in three days of April", and how much it was. */
export function fewDays({ window, from, to, starsDelta }: Trend, days: readonly DayGain[]) {
  const best = days
    .filter(({ at }) => at > from && at <= to)
    .sort((a, b) => b.change - a.change)
    .slice(0, FEW[window]);
  const sums = best.map((_, i) => best.slice(0, i + 1).reduce((sum, { change }) => sum + change, 0));
  const count = sums.findIndex((sum) => sum >= starsDelta / 2) + 1;
  const [sum = 0, first] = [sums[count - 1], best[0]];
  const part = PARTS.find(([least]) => sum >= least * starsDelta)?.[1];
  if (first === undefined || part === undefined || sum > starsDelta || sum < RECORD.stars) return undefined;
  const months = new Set(best.slice(0, count).map(({ at }) => MONTH.format(dayOf(at))));
  const month = months.size === 1 ? ` of ${[...months][0]}` : "";
  const when = count === 1 ? `on ${dayText(dayOf(first.at))}` : `in ${NUMBERS[count]} days${month}`;
  return { part, when, sum };
}

const MONTH = new Intl.DateTimeFormat("en-US", { month: "long", timeZone: "UTC" });
/** A time within the day that ends at one, which may be midnight. */
export const dayOf = (end: number): number => end - 1;

/** The window with the strongest story, by place and by how unusual the gain is; a week if none has a place. */
export function strongest(trends: Readonly<Record<Window, Trend | null>>, ranks: readonly Rank[]): Window {
  const [best] = WINDOWS.flatMap((window) => {
    const trend = trends[window];
    const place = bestPlace(
      ranks.filter(({ scope }) => scope === "overall"),
      window,
    )?.position;
    const times = trend === null ? null : timesUsual(trend);
    return place === undefined ? [] : [{ window, weight: (times ?? 1) / place }];
  }).sort((a, b) => b.weight - a.weight);
  if (best !== undefined) return best.window;
  return (trends["7d"] === null ? WINDOWS.find((one) => trends[one] !== null) : "7d") ?? "7d";
}

const YEAR_MS = 365 * DAY_MS;
/** Growth below this is given in stars, not as a multiple. */
const LEAST_TIMES = 1.5;

/** The last year of a life, or the last 30 days: "+11,140 in a year, 2.1 times what it had"; undefined without a gain. */
export function lifeWords(points: readonly ChartPoint[]): string | undefined {
  const last = points.at(-1);
  const before = (ms: number) => points.findLast(({ at }) => last !== undefined && at <= last.at - ms);
  const [year, month] = [before(YEAR_MS), before(30 * DAY_MS)];
  const from = year ?? month;
  if (last === undefined || from === undefined || last.value <= from.value) return undefined;
  const gained = signedNumber(last.value - from.value);
  if (year === undefined) return `${gained} in the last 30 days`;
  const times = last.value / Math.max(1, from.value);
  const isTold = times >= LEAST_TIMES && from.value > 0;
  return `${gained} in a year${isTold ? `, ${times >= 10 ? exactNumber(times) : times.toFixed(1)} times what it had` : ""}`;
}

/** Fewer days make no record, nor do fewer stars. */
const RECORD = { days: 7, stars: 20 };

/** "its best day on record" if the last day gained most of all; otherwise empty. */
export function recordWords(days: readonly DayGain[], to: number): string {
  const best = bestDay(days);
  return best === undefined || best !== days.at(-1) || to - best.at > DAY_MS ? "" : "its best day on record";
}

const ORDINALS = ["first", "second", "third", "fourth", "fifth"];

/** "its second day above 7,000 on record", of the last day; empty if more days were above the round number below it, or few are known. */
export function nthWords(days: readonly DayGain[], to: number): string {
  const last = days.at(-1);
  if (
    last === undefined ||
    days.length < 2 * RECORD.days ||
    last.change < RECORD.stars ||
    to - last.at > DAY_MS
  )
    return "";
  const step = 10 ** Math.floor(Math.log10(last.change));
  const round = Math.floor(last.change / step) * step;
  const nth = ORDINALS[days.filter(({ change }) => change > round).length - 1];
  return nth === undefined || last.change === round
    ? ""
    : `its ${nth} day above ${exactNumber(round)} on record`;
}

/** The day that gained most; undefined with too few days or stars. */
export function bestDay(days: readonly DayGain[], least = RECORD.stars): DayGain | undefined {
  const best = days.reduce<DayGain | undefined>(
    (most, day) => (day.change > (most?.change ?? 0) ? day : most),
    undefined,
  );
  return days.length < RECORD.days || (best?.change ?? 0) < least ? undefined : best;
}

/** The stars gained in a day that ends at a time. */
export interface DayGain {
  at: number;
  change: number;
}

/** Tolerance for the two readings of a day. */
const DAY_READINGS = { from: 18 * HOUR_MS, to: 30 * HOUR_MS };

/** The gains of the days of a series, oldest first; days without two comparable readings a day apart are left out. */
export function dayGains(points: readonly ChartPoint[]): DayGain[] {
  return gainsOf(points, DAY_STEP).flatMap(({ since, at, change }) =>
    change !== null && at - since >= DAY_READINGS.from && at - since <= DAY_READINGS.to
      ? [{ at, change }]
      : [],
  );
}

/** In a smaller catalogue pages show no ranks: each repository would be first of something. */
export const LEAST_RANKED = 20;

/** How much less a rank in this scope or ranking says; a step of 1 is a position ten times as good. */
const SCOPE_WEIGHTS: Readonly<Record<Rank["scope"], number>> = {
  overall: 0,
  provider: 0.4,
  language: 1,
  topic: 2,
};
const RANKING_WEIGHTS: Readonly<Partial<Record<Rank["ranking"], number>>> = {
  trending: 0,
  "stars-gained": 0.2,
  stars: 0.2,
  "new-hot": 0.6,
};
const OTHER_RANKINGS = 1.5;

/** How little a rank says. */
export const rankWeight = ({ position, scope, ranking }: Rank): number =>
  Math.log10(position) + SCOPE_WEIGHTS[scope] + (RANKING_WEIGHTS[ranking] ?? OTHER_RANKINGS);

/**
 * The ranks that say most first: by position, the width of their scope, and their ranking. Each ranking and scope has its best
 * window. A rank on a forge that repeats the one among all is left out.
 */
export function weightiest(ranks: readonly Rank[]): Rank[] {
  const placeOf = ({ ranking, window, position }: Rank) => `${ranking} ${window} ${position}`;
  const overall = new Set(ranks.filter(({ scope }) => scope === "overall").map(placeOf));
  const sorted = ranks
    .filter((rank) => rank.scope !== "provider" || !overall.has(placeOf(rank)))
    .sort((a, b) => rankWeight(a) - rankWeight(b));
  const seen = Map.groupBy(sorted, ({ ranking, scope, name }) => `${ranking} ${scope} ${name}`);
  return [...seen.values()].flatMap((same) => same[0] ?? []);
}
