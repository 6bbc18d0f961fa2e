import { DAY_MS } from "../../lib/clock.js";

/** What comes next for a repository: the round number of stars that it passes, and in which month. */

export interface Next {
  stars: number;
  at: number;
}

/** Round numbers, by size: below the first, multiples of the second. */
const ROUND = [
  [100, 25],
  [500, 100],
  [1_000, 250],
  [10_000, 500],
  [100_000, 1_000],
  [Number.POSITIVE_INFINITY, 10_000],
] as const;

/** Nothing is said about what is further ahead. */
const LONGEST_MS = 2 * 365 * DAY_MS;

/** Days whose pace is expected to last. */
export const PACE_DAYS = 90;

/** The step from one number with a single digit to the next: 80,469 is followed by 90,000. */
export const leadingStep = (stars: number): number => 10 ** Math.floor(Math.log10(Math.max(1, stars)));

/**
 * The next round number of stars, at the pace of the last 90 days or as many as are known. `days`: totals at the ends of days up to `at`,
 * the last one its stars. undefined: none within two years.
 */
export function nextRound(
  days: readonly (number | null)[],
  at: number,
  stepOf = (stars: number): number => ROUND.find(([below]) => stars < below)?.[1] ?? 1,
): Next | undefined {
  const known = days.slice(-PACE_DAYS - 1);
  const first = known.findIndex((total) => total !== null);
  const [from, stars] = [known[first] ?? null, known.at(-1) ?? null];
  if (from === null || stars === null || stars <= from) return undefined;
  const step = stepOf(stars);
  const next = (Math.floor(stars / step) + 1) * step;
  const ahead = ((next - stars) / (stars - from)) * (known.length - 1 - first) * DAY_MS;
  return ahead > LONGEST_MS ? undefined : { stars: next, at: at + ahead };
}

const month = new Intl.DateTimeFormat("en-US", { month: "long", timeZone: "UTC" });
const monthOfYear = new Intl.DateTimeFormat("en-US", { month: "short", year: "numeric", timeZone: "UTC" });

/** "this month", "in November", "in Jan 2028". */
export function monthWords(at: number, now: number): string {
  const isYear = new Date(at).getUTCFullYear() === new Date(now).getUTCFullYear();
  if (isYear && month.format(at) === month.format(now)) return "this month";
  return `in ${(isYear ? month : monthOfYear).format(at)}`;
}

/** "in 6 days", "in a day". */
export function daysWords(at: number, now: number): string {
  const days = Math.max(1, Math.ceil((at - now) / DAY_MS));
  return days === 1 ? "in a day" : `in ${days} days`;
}
