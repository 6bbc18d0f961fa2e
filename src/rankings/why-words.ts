import { HOUR_MS } from "../clock.js";
import type { CountedMeasure } from "./gain-words.js";
import type { Trend } from "./growth/growth.js";
import { usualWords } from "./usual-words.js";

/** Spans from here on are given in days. */
const DAYS_FROM_HOURS = 72;

const whole = new Intl.NumberFormat("en-US");
const signed = new Intl.NumberFormat("en-US", { signDisplay: "exceptZero" });

/** Why a repository is where it is in a list: the facts behind its gain, as phrases. */
export interface WhyWords {
  /** What was compared: "108,659 → 111,568", or "+120 forks". */
  counts: string;
  /** The same with the time between: "108,659 → 111,568 in 24.0 h". */
  compared: string;
  /** "7× its usual day"; absent where the usual day is unknown, and for forks. */
  usual?: string;
  /** "confidence 1.00" */
  confidence: string;
}

type WhyTrend = Parameters<typeof usualWords>[0] & Pick<Trend, "starsFrom" | "forksDelta" | "confidence">;

/** The only place with these words. Forks are given as a gain, since a trend does not keep their count at its start. */
export function whyWords(trend: WhyTrend, measure: CountedMeasure): WhyWords {
  const { from, to, starsFrom, starsDelta, forksDelta, confidence } = trend;
  const hours = (to - from) / HOUR_MS;
  const span = hours < DAYS_FROM_HOURS ? `${hours.toFixed(1)} h` : `${(hours / 24).toFixed(1)} days`;
  const isForks = measure === "forks" && forksDelta !== null;
  const counts = isForks
    ? `${signed.format(forksDelta)} forks`
    : `${whole.format(starsFrom)} → ${whole.format(starsFrom + starsDelta)}`;
  return {
    counts,
    compared: `${counts} in ${span}`,
    ...(isForks || trend.usualPerDay === null ? {} : { usual: usualWords(trend) }),
    confidence: `confidence ${confidence.toFixed(2)}`,
  };
}

/** The same in one line, for feeds. */
export function whySentence(trend: WhyTrend, measure: CountedMeasure): string {
  const { compared, usual, confidence } = whyWords(trend, measure);
  return [compared, usual, confidence].filter((words) => words !== undefined).join(" · ");
}
