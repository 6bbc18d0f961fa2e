/** What a repository gains on a usual day. */
import { DAY_MS } from "../lib/clock.js";
import { median } from "../repositories/repositories.js";
import type { Series } from "./series.js";

/** Steps from which the usual day is taken, and the fewest from which it is known. */
const USUAL_STEPS = 30;
const FEW_STEPS = 3;
/** Shorter steps say little about a day. */
const SHORTEST_STEP_DAYS = 0.5;

/** The paces of one repository, as a pass over all finds them for millions. */
const PACES = new Float64Array(USUAL_STEPS);

/**
 * Stars gained on a usual day before a count: the median of the gains a day of up to 30 steps that end there, each from an earlier day
 * (UTC). What was gained while nobody looked is no step. null with fewer than three steps after `since`.
 */
export function usualStarsBefore(
  { points, unseen }: Series,
  from: { at: number; stars: number },
  since: number,
): number | null {
  let count = 0;
  let { at, stars } = from;
  let dayBegan = startOfDay(at);
  for (let i = points.countBefore(at) - 1; i >= 0 && count < USUAL_STEPS; i--) {
    const earlier = points.at(i);
    if (earlier < since) break;
    const days = (at - earlier) / DAY_MS;
    if (days < SHORTEST_STEP_DAYS || earlier >= dayBegan) continue;
    const before = points.stars(i);
    if (unseen === null || earlier > unseen.from || at < unseen.to) PACES[count++] = (stars - before) / days;
    [at, stars, dayBegan] = [earlier, before, startOfDay(earlier)];
  }
  return count < FEW_STEPS ? null : Math.max(0, median(PACES.subarray(0, count)));
}

function startOfDay(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS;
}
