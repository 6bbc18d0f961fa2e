import { median, type Readings } from "../../catalog/catalog.js";
import { DAY_MS } from "../../clock.js";

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

/**
 * Stars gained on a usual day before the reading at an index: the median of the gains a day of up to 30 steps that end there,
 * each from an earlier day (UTC). null with fewer than three steps. The readings must all be totals. Reads as far back as it
 * needs to and no further.
 */
export function usualStarsBefore(readings: Readings, index: number): number | null {
  const paces: number[] = [];
  let [at, stars] = [readings.at(index), readings.stars(index)];
  let day = dayOf(at);
  for (let i = index - 1; i >= 0 && paces.length < USUAL_STEPS; i--) {
    const earlier = readings.at(i);
    const days = (at - earlier) / DAY_MS;
    const earlierDay = dayOf(earlier);
    if (days < SHORTEST_STEP_DAYS || earlierDay === day) continue;
    const before = readings.stars(i);
    paces.push((stars - before) / days);
    [at, stars, day] = [earlier, before, earlierDay];
  }
  return paces.length < FEW_STEPS ? null : usualDay(0, paces);
}

function dayOf(at: number): number {
  return Math.floor(at / DAY_MS);
}
