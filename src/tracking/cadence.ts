import { DAY_MS, HOUR_MS, WEEK_MS } from "../clock.js";

/** What decides how soon a repository is looked at again. */
export interface Heat {
  stars: number;
  /** Stars gained a day of late; the greatest of what is known. null: nothing is known yet. */
  starsPerDay: number | null;
  /** Days since the last push; null where it is not known. */
  idleDays: number | null;
}

export const SOONEST_MS = HOUR_MS;
export const LATEST_MS = WEEK_MS;

/** Classes of heat, by the interval: what the operator is shown. */
export const HEAT_CLASSES = ["hot", "warm", "cool", "cold"] as const;
export type HeatClass = (typeof HEAT_CLASSES)[number];

/**
 * How long to wait before a repository is refreshed again, in ms: from an hour to a week. The hotter, the sooner: about
 * as long as it takes to gain so many stars that it is worth a look, which is a tenth of the root of its stars, and two
 * at least. One whose pace is not known yet is looked at daily, one that is worked on every three days.
 */
export function intervalOf({ stars, starsPerDay, idleDays }: Heat): number {
  if (starsPerDay === null) return DAY_MS;
  const worthALook = Math.max(2, Math.sqrt(Math.max(0, stars)) / 10);
  const wait = starsPerDay > 0 ? (worthALook / starsPerDay) * DAY_MS : LATEST_MS;
  const longest = idleDays !== null && idleDays < 7 ? 3 * DAY_MS : LATEST_MS;
  return Math.round(Math.min(longest, Math.max(SOONEST_MS, wait)));
}

export function heatClass(intervalMs: number): HeatClass {
  if (intervalMs <= 6 * HOUR_MS) return "hot";
  if (intervalMs <= DAY_MS) return "warm";
  return intervalMs <= 3 * DAY_MS ? "cool" : "cold";
}

/** How long after a failure in a row a repository that is not available, or told badly, is asked for again. */
export function retryAfter(failures: number): number {
  return Math.min(LATEST_MS, HOUR_MS * 2 ** Math.min(20, Math.max(0, failures - 1)));
}

/** How long a whole instance rests after so many calls in a row that got no answer: from half a minute to an hour. */
export function restAfter(failures: number, chance: number): number {
  return spread(Math.min(HOUR_MS, 30_000 * 2 ** Math.min(20, Math.max(0, failures - 1))), chance);
}

/** Within a tenth to both sides, so that what began together does not stay together. `chance`: from 0 to 1. */
export function spread(ms: number, chance: number): number {
  return Math.round(ms * (0.9 + 0.2 * chance));
}

/** The longest that intervals are stretched: from an hour to two days. */
const MAX_STRETCH = 48;
const LATE_MS = HOUR_MS;
const EARLY_MS = 10 * 60_000;
/** It doubles in about two and a half hours: a pause that is made up for within minutes changes next to nothing. */
const GROWTH_PER_HOUR = 1.32;

/**
 * The factor by which all intervals are longer than wished, where the allowance of a forge is too small for all of them.
 * It follows how late the one is that has waited longest: grows with the time that passes while that is over an hour, and
 * shrinks again. So the hot ones stay hotter than the cold ones, and none is starved.
 */
export function nextStretch(stretch: number, latenessMs: number, passedMs: number): number {
  const factor = GROWTH_PER_HOUR ** (Math.min(HOUR_MS, Math.max(0, passedMs)) / HOUR_MS);
  if (latenessMs > LATE_MS) return Math.min(MAX_STRETCH, stretch * factor);
  if (latenessMs < EARLY_MS) return Math.max(1, stretch / factor);
  return stretch;
}
