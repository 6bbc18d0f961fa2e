import { type Anomaly, countText, difference, MIN_MOVEMENT, type Step } from "./anomalies.js";
import { usualDay } from "./usual.js";

/** A step is unusual from this multiple of the usual forks a day, and this many a day more. */
const UNUSUAL_FACTOR = 5;
const UNUSUAL_MORE = 10;
/** People who fork often star as well: more forks than this multiple of the stars gained need an explanation. */
const MOST_FORKS_PER_STAR = 2;

/** What is found of bursts of forks. */
export interface ForkBursts {
  anomalies: Anomaly[];
  /** Forks that do not count, by index of the step. */
  uncounted: ReadonlyMap<number, number>;
}

/**
 * Finds steps that gained forks far beyond the usual day, and more than twice as many as stars. Course work, which is forked
 * without stars every day, is as usual. As many forks as stars count, or those of the usual day.
 */
export function findForkBursts(steps: readonly Step[]): ForkBursts {
  const anomalies: Anomaly[] = [];
  const uncounted = new Map<number, number>();
  const paces: number[] = [];
  for (const [i, { from, to, gained, days }] of steps.entries()) {
    const forks = difference(to.forks, from.forks);
    if (from.forks === null || to.forks === null || forks === null) continue;
    const usual = usualDay(from.forks, paces);
    const stars = Math.max(0, gained);
    const isUnusual =
      forks >= MIN_MOVEMENT &&
      forks / days > UNUSUAL_FACTOR * usual + UNUSUAL_MORE &&
      forks > MOST_FORKS_PER_STAR * stars;
    if (!isUnusual) {
      paces.push(forks / days);
      continue;
    }
    const counted = Math.round(Math.min(forks, Math.max(stars, usual * days)));
    uncounted.set(i, forks - counted);
    anomalies.push({
      kind: "BURST",
      measure: "forks",
      at: to.at,
      until: to.at,
      reason: `${countText(forks)} forks in one step against about ${countText(Math.round(usual))} a day, with ${countText(stars)} stars; ${countText(counted)} of them count`,
      before: from.forks,
      after: to.forks,
      counted,
    });
  }
  return { anomalies, uncounted };
}
