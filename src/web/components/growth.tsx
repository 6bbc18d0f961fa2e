import type { FunctionComponent as FC } from "preact";
import { type ChartPoint, DAY_STEP, dayText, gainsOf, type Milestone } from "../../charts/charts.js";
import { forgeName } from "../../config/config.js";
import type { Rank } from "../../discovery/discovery.js";
import {
  countAgo,
  type Explanation,
  gainWords,
  growthFrom,
  SCORE_LABELS,
  type Series,
  type Trend,
  timesUsual,
  usualWords,
  WINDOW_LABELS,
  WINDOWS,
  type Window,
  whyWords,
  windowMs,
} from "../../growth/growth.js";
import { DAY_MS, HOUR_MS } from "../../lib/clock.js";
import type { SnapshotRange } from "../../repositories/repositories.js";
import type { RenderContext } from "../page-request.js";
import { Link, withQuery } from "./elements.js";
import {
  capital,
  Delta,
  formatCount,
  formatDate,
  formatDelta,
  formatRate,
  formatTime,
  isOld,
} from "./numbers.js";
import { weightiest } from "./ranks.js";
import { Bars } from "./small-charts.js";

/** The growth of a repository on its page: in words, as tiles, and as a table with the reasons why it is missing or doubtful. */

interface HeadlineProps {
  window: Window;
  trend: Trend | null;
  /** The present ranks; none in a catalogue that is too small for them. */
  ranks: readonly Rank[];
  days: readonly DayGain[];
  /** The last round number, for a repository without a gain. */
  passed: Milestone | undefined;
  facts: NoGrowthFacts;
}

/** What happened in a sentence: one gain, at most one comparison, and at most one place. Without a gain, the last event. */
export const Headline: FC<HeadlineProps> = (
  { window, trend, ranks, days, passed, facts },
  { now }: RenderContext,
) => {
  if (trend === null || trend.starsDelta === 0)
    return (
      <p class="headline">
        {passed === undefined || trend === null
          ? noGrowthText([window], facts)
          : `Passed ${formatCount(passed.value)} stars on ${formatDate(dayOf(passed.point.at))}.`}
      </p>
    );
  const counted = gainWords(trend);
  const place = bestPlace(ranks, window);
  return (
    <p class="headline">
      <span class={trend.starsDelta > 0 ? "rise" : "fall"}>{formatDelta(trend.starsDelta)} stars</span> in{" "}
      {WINDOW_LABELS[window]}
      {comparison(trend, days)}.
      {place === undefined ? null : (
        <span class="soft"> {placeWords(place, now !== undefined && isOld(trend.to, now))}.</span>
      )}
      {counted === undefined ? null : <small class="soft"> {capital(counted.full)}.</small>}
    </p>
  );
};

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
  return `#${formatCount(position)}${among} ${isPast ? time.replace("today", "that day").replace("this", "that") : time}`;
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

/** The last year of a life, or the last 30 days: "+11,140 in a year, 2.1 times what it had". */
export const LifeWords: FC<{ points: readonly ChartPoint[] }> = ({ points }) => {
  const last = points.at(-1);
  const before = (ms: number) => points.findLast(({ at }) => last !== undefined && at <= last.at - ms);
  const [year, month] = [before(YEAR_MS), before(30 * DAY_MS)];
  const from = year ?? month;
  if (last === undefined || from === undefined || last.value <= from.value) return null;
  const times = last.value / Math.max(1, from.value);
  return (
    <span class="rise">
      {formatDelta(last.value - from.value)} in {year === undefined ? "the last 30 days" : "a year"}
      {year !== undefined && times >= LEAST_TIMES && from.value > 0
        ? `, ${formatRate(times)} times what it had`
        : ""}
    </span>
  );
};

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
    : `its ${nth} day above ${formatCount(round)} on record`;
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

/** The number of bars in a tile. */
const BARS: Readonly<Record<Window, number>> = { "24h": 14, "7d": 12, "30d": 12 };

interface TilesProps {
  url: URL;
  window: Window;
  trends: Readonly<Record<Window, Trend | null>>;
  series: Series;
  days: readonly DayGain[];
}

/** The gain in each window with the last ones as bars, and the best day; a tile selects the window of the page. */
export const Tiles: FC<TilesProps> = ({ url, window, trends, series, days }) => {
  const best = bestDay(days);
  return (
    <nav class="tiles" aria-label="Window">
      {WINDOWS.map((one) => (
        <Link
          class="tile card"
          href={withQuery(url, { window: one })}
          aria-current={one === window ? "true" : undefined}
        >
          <span>{WINDOW_LABELS[one]}</span>
          <strong>
            <Delta value={trends[one]?.starsDelta} />
          </strong>
          <Bars values={lastGains(series, BARS[one], windowMs(one))} height={36} />
        </Link>
      ))}
      <div class="tile card">
        <span>Best day</span>
        <strong class="record">{best === undefined ? "–" : formatDelta(best.change)}</strong>
        <small>{best === undefined ? "" : formatDate(dayOf(best.at))}</small>
      </div>
    </nav>
  );
};

/** The gains of the last windows of a length, oldest first, each as the trend of the last one is measured; null: unknown. */
function lastGains(series: Series, count: number, lengthMs: number): (number | null)[] {
  const { points } = series;
  const gains: (number | null)[] = [];
  let [at, stars] = [points.at(points.length - 1), Math.round(points.stars(points.length - 1))];
  while (gains.length < count && at > points.at(0)) {
    const from = countAgo(series, lengthMs, at);
    if (from === undefined || from.at >= at) break;
    gains.push(stars - from.stars);
    [at, stars] = [from.at, from.stars];
  }
  return [...new Array<null>(count - gains.length).fill(null), ...gains.reverse()];
}

interface ProofProps {
  trend: Trend | null;
  trends: Readonly<Record<Window, Trend | null>>;
  facts: NoGrowthFacts;
}

/** The evidence for the headline: the two counts compared, how far they can be trusted, and what is to say about other windows. */
export const Proof: FC<ProofProps> = ({ trend, trends, facts }) => (
  <>
    {trend === null ? null : (
      <p>
        <a href="#snapshots">{whyWords(trend, "stars").compared}</a>, confidence {trend.confidence.toFixed(2)}
        {trend.reliable ? "" : `: ${trend.confidenceReasons.join(", ") || "too low"}`}
        {partsText(trend)}
      </p>
    )}
    <GainNotes trends={trends} facts={facts} />
  </>
);

/** Of a gain that begins in the star history and ends in our own counts: the part of each. */
function partsText({ parts }: Trend): string {
  const [held, own] = parts;
  if (held === undefined || own === undefined) return "";
  return `; ${formatDelta(held.starsDelta)} from the star history until ${formatDate(held.to)}, ${formatDelta(own.starsDelta)} from our own counts since then`;
}

/**
 * One line for each window whose gains need words: why there are none, the compared counts, how much of them counts ("7 days: +12,400
 * stars, none counted: dropped and recovered"), and why they are not reliable. Windows without growth for the same reason share a line.
 */
const GainNotes: FC<Omit<ProofProps, "trend">> = ({ trends, facts }) => {
  const missing = WINDOWS.filter((window) => trends[window] === null);
  const reasons = Map.groupBy(missing, (window) => noGrowthReason(window, facts));
  const notes = WINDOWS.flatMap((window) => {
    const trend = trends[window];
    if (trend === null) return [];
    const counted = gainWords(trend);
    const stars = counted && [`${formatDelta(trend.starsDelta)} stars, ${counted.full}`];
    const parts = [...(stars ?? []), ...doubtsOf(trend)];
    return parts.length === 0 ? [] : [`${WINDOW_LABELS[window]}: ${parts.join("; ")}`];
  });
  if (notes.length + reasons.size === 0) return null;
  return (
    <ul class="plain small">
      {[...notes, ...[...reasons.values()].map((windows) => noGrowthText(windows, facts))].map((note) => (
        <li>{note}</li>
      ))}
    </ul>
  );
};

function doubtsOf({ reliable, confidenceReasons }: Trend): string[] {
  return reliable || confidenceReasons.length === 0 ? [] : [`not reliable: ${confidenceReasons.join(", ")}`];
}

interface NoGrowthFacts {
  stored: SnapshotRange;
  /** Time of its counts. */
  asOf: number | null;
  isStale: boolean;
}

/** Why a repository has no growth in these windows, in a sentence. */
function noGrowthText(windows: readonly Window[], facts: NoGrowthFacts): string {
  const { snapshots, firstSnapshotAt } = facts.stored;
  if (snapshots === 1) return `Seen once, on ${formatDate(firstSnapshotAt)}.`;
  const names = windows.map((window) => WINDOW_LABELS[window]).join(" and ");
  return `No growth over ${names}${noGrowthReason(windows[0] ?? "24h", facts)}.`;
}

/** The end of the sentence "No growth over 7 days …". */
function noGrowthReason(window: Window, { stored, asOf, isStale }: NoGrowthFacts): string {
  const { firstSnapshotAt: first, lastSnapshotAt: last } = stored;
  if (first === null || last === null) return ": no snapshot of it is stored";
  const from = `a count after ${formatTime(growthFrom(window, first))}`;
  const half = windowMs(window) / 2;
  if (isStale || last < (asOf ?? last) - half) return `: last update ${formatDate(last)}`;
  if (last - first < half) return ` yet: first snapshot ${formatDate(first)}, and growth needs ${from}`;
  return ": no snapshot is near enough to the start of that time";
}

/** The meanings of the values in the formulas. */
const VALUES = {
  gained: "Stars gained that count",
  usualDay: "Stars on a usual day",
  pace: "Stars a day",
} as const satisfies Record<keyof Explanation["trending"]["values"], string>;

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });

/** The trending score with its formula and the values in it. */
export const ScoreTable: FC<{ explanation: Explanation; window: Window }> = ({ explanation, window }) => {
  const { score, formula, values } = explanation.trending;
  const { label, description } = SCORE_LABELS.trending;
  return (
    <table class="terms">
      <caption>
        <strong>{label}</strong>, {WINDOW_LABELS[window]}: {score?.toFixed(2)} = {formula}{" "}
        <span class="small">({description})</span>
      </caption>
      <tbody>
        {Object.entries(values).map(([value, number]) => (
          <tr>
            <th scope="row">{VALUES[value as keyof typeof VALUES]}</th>
            <td class="number">{whole.format(number)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};
