import { DAY_MS } from "../lib/clock.js";
import { median, type Readings } from "../repositories/repositories.js";

/** Steps from which the usual day is taken. */
const USUAL_STEPS = 30;
/** With fewer, it is not known, and taken for at least this part of the count. */
export const FEW_STEPS = 3;
const NEW_PART = 1 / 100;

/** What a count gains on a usual day. `level`: the count now; `paces`: its gains a day, of the steps before, oldest first. */
export function usualDay(level: number, paces: readonly number[]): number {
  const known = paces.length === 0 ? 0 : median(paces.slice(-USUAL_STEPS));
  return Math.max(0, known, paces.length < FEW_STEPS ? NEW_PART * level : 0);
}

/** Shorter steps say little about a day. */
const SHORTEST_STEP_DAYS = 0.5;

/** The paces of one repository, as a rebuild finds them for millions. */
const PACES = new Float64Array(USUAL_STEPS);

/**
 * Stars gained on a usual day before the reading at an index: the median of the gains a day of up to 30 steps that end there,
 * each from an earlier day (UTC). null with fewer than three steps. The readings must all be totals. Reads as far back as it
 * needs to and no further.
 */
export function usualStarsBefore(readings: Readings, index: number): number | null {
  let count = 0;
  let [at, stars] = [readings.at(index), readings.stars(index)];
  let dayBegan = startOfDay(at);
  for (let i = index - 1; i >= 0 && count < USUAL_STEPS; i--) {
    const earlier = readings.at(i);
    const days = (at - earlier) / DAY_MS;
    if (days < SHORTEST_STEP_DAYS || earlier >= dayBegan) continue;
    const before = readings.stars(i);
    PACES[count++] = (stars - before) / days;
    [at, stars, dayBegan] = [earlier, before, startOfDay(earlier)];
  }
  return count < FEW_STEPS ? null : Math.max(0, median(PACES.subarray(0, count)));
}

function startOfDay(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS;
}
