/** Growth in words, for pages, feeds and the command line. No other file has these words. */

import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import type { Anomaly } from "./anomalies.js";
import { isUnsure } from "./confidence.js";
import type { Trend } from "./trend.js";

const whole = new Intl.NumberFormat("en-US");
const signed = new Intl.NumberFormat("en-US", { signDisplay: "exceptZero" });
const tenths = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });
const rounded = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 2 });

/** The counts whose gains lists show. */
export type GainedMeasure = "stars" | "forks";

/** Why a part of the stars gained does not count, by the kind of the anomaly; the other kinds leave nothing out. */
const REASONS: Readonly<Partial<Record<Anomaly["kind"], string>>> = {
  RETURN: "dropped and recovered",
  BURST: "far more than usual without forks to match",
  PURGE: "what is gone had not counted when it came",
};

/** The part of a gain that counts, in words. */
interface GainWords {
  /** "none counted", "240 counted". */
  short: string;
  /** The same with the reasons: "none counted: dropped and recovered". */
  full: string;
}

type CountedTrend = Pick<Trend, "starsDelta" | "starsCounted" | "anomalies">;

/** The part of the stars gained that counts, with the reason; undefined if all of it counts. */
export function gainWords({ starsDelta, starsCounted, anomalies }: CountedTrend): GainWords | undefined {
  if (starsDelta === starsCounted) return undefined;
  const format = starsCounted < 0 ? signed : whole;
  const short = starsCounted === 0 ? "none counted" : `${format.format(starsCounted)} counted`;
  const cause = anomalies.findLast(({ measure, kind }) => measure === "stars" && REASONS[kind] !== undefined);
  const reason = cause === undefined ? "" : `: ${REASONS[cause.kind]}`;
  return { short, full: short + reason };
}

/** A usual day with fewer stars is given in days per star. */
const LEAST_USUAL = 0.5;
/** The least stars for naming a multiple: on a usual day, and in the gain. Multiples of 1 say nothing. */
const TELLING = { usual: 2, gained: 20 };
/** Multiples in this range are as usual. */
const ABOUT = { from: 0.75, to: 1.5 };
const MOST = 100;

type UsualTrend = Pick<Trend, "window" | "from" | "to" | "starsDelta" | "usualPerDay">;

/** How many times the usual pace a gain was; null without a gain, or if the usual day is unknown or too small to name a multiple. */
export function timesUsual({ from, to, starsDelta, usualPerDay: usual }: UsualTrend): number | null {
  if (usual === null || starsDelta <= 0 || usual < LEAST_USUAL) return null;
  if (usual < TELLING.usual && starsDelta < TELLING.gained) return null;
  return (starsDelta * DAY_MS) / (to - from) / usual;
}

/** "7×", "over 100×". */
export function timesWords(times: number): string {
  return times > MOST ? `over ${MOST}×` : `${rounded.format(times)}×`;
}

/**
 * How a gain compares with the repository's usual day: "7× its usual day", "cooling off: 0.4× its usual day",
 * "about its usual pace" (in windows of several days), "usually 1 in 5 days", "usual day unknown".
 */
export function usualWords(trend: UsualTrend): string {
  if (trend.usualPerDay === null) return "usual day unknown";
  const times = timesUsual(trend);
  if (times === null) return `usually ${usualText(trend.usualPerDay)}`;
  const pace = `its usual ${trend.window === "24h" ? "day" : "pace"}`;
  if (times >= ABOUT.from && times < ABOUT.to) return `about ${pace}`;
  return `${times < ABOUT.from ? "cooling off: " : ""}${timesWords(times)} ${pace}`;
}

/** "40 a day", "1 in 5 days", "0 a day". */
function usualText(usual: number): string {
  if (usual >= LEAST_USUAL) return `${whole.format(Math.max(1, Math.round(usual)))} a day`;
  return usual < 1 / 60 ? "0 a day" : `1 in ${Math.round(1 / usual)} days`;
}

/** Spans of at least this many hours are given in days. */
const DAYS_FROM_HOURS = 72;

/** Why a repository is where it is in a list: the facts behind its gain, as phrases. */
interface WhyWords {
  /** The counts compared: "108,659 → 111,568", or "+120 forks". */
  counts: string;
  /** The same with the time between: "108,659 → 111,568 in 24.0 h". */
  compared: string;
  /** "7× its usual day"; absent if it is about that, if the usual day is unknown, and for forks. */
  usual?: string;
  /** "low confidence"; absent for others. */
  doubt?: string;
}

type WhyTrend = UsualTrend & Pick<Trend, "starsFrom" | "forksDelta" | "confidence">;

/** The facts behind a gain. Forks are given as a gain, since a trend does not keep their count at its start. */
export function whyWords(trend: WhyTrend, measure: GainedMeasure): WhyWords {
  const { from, to, starsFrom, starsDelta, forksDelta, confidence } = trend;
  const usual = usualWords(trend);
  const hours = (to - from) / HOUR_MS;
  const span = hours < DAYS_FROM_HOURS ? `${tenths.format(hours)} h` : `${tenths.format(hours / 24)} days`;
  const isForks = measure === "forks" && forksDelta !== null;
  const counts = isForks
    ? `${signed.format(forksDelta)} forks`
    : `${whole.format(starsFrom)} → ${whole.format(starsFrom + starsDelta)}`;
  return {
    counts,
    compared: `${counts} in ${span}`,
    ...(isForks || trend.usualPerDay === null || usual.startsWith("about") ? {} : { usual }),
    ...(isUnsure({ confidence }) ? { doubt: "low confidence" } : {}),
  };
}

/** The same in one line, for feeds. */
export function whySentence(trend: WhyTrend): string {
  const { compared, usual, doubt } = whyWords(trend, "stars");
  return [compared, usual, doubt].filter((words) => words !== undefined).join(" · ");
}
