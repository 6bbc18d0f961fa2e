import { forgeName } from "../config/config.js";
import type { Rank } from "../discovery/discovery.js";
import { type Trend, timesUsual, usualWords, WINDOW_LABELS, WINDOWS, type Window } from "../growth/growth.js";
import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import { DAY_STEP, gainsOf } from "./lines.js";
import { dateText, dayText, exactNumber, signedNumber } from "./numbers.js";
import type { ChartPoint, Milestone } from "./series.js";

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
    return { gain: `${signedNumber(starsDelta)} stars`, isRise, words };
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
