import { DAY_MS } from "../../clock.js";
import { type Anomaly, MIN_MOVEMENT, type Reading, type Step, stepsOf } from "./anomalies.js";
import { findBursts } from "./bursts.js";
import { findDoubt } from "./doubt.js";
import { findReturns } from "./returns.js";

/** A purge is a loss of at least this part of the stars in one step. */
const PURGE_PART = 0.005;

/** What does not count of the step between two readings. Losses that do not count are negative. */
export interface Uncounted {
  step: Step;
  stars: number;
  forks: number;
}

/** What a series of readings is worth. */
export interface Judgement {
  /** Oldest first. */
  anomalies: Anomaly[];
  /** By index of the reading: whether it is left out of every comparison. */
  doubtful: readonly boolean[];
  /** Times of readings whose open issues are not believed. Issues are switched off, so the other counts stand. */
  doubtedIssues: ReadonlySet<number>;
  uncounted: readonly Uncounted[];
  /** Times of gains far beyond the usual with little to match. */
  jumps: readonly number[];
}

/**
 * Judges a series: which readings are believed, which movements are unusual, and what of each gain counts. The judgement at a
 * time depends on the readings up to then alone.
 */
export function judge(readings: readonly Reading[]): Judgement {
  const doubt = findDoubt(readings, ["stars", "forks"]);
  const issues = findDoubt(readings, ["openIssues"]);
  const steps = stepsOf(lastOfDays(readings.filter((_, i) => doubt.doubtful[i] !== true)));
  const stars = findReturns(steps, "stars");
  const forks = findReturns(steps, "forks");
  const bursts = findBursts(steps, stars.uncounted);
  const losses = findLosses(steps, stars.uncounted, bursts.uncounted);
  const uncounted = steps.flatMap((step, i): Uncounted[] => {
    const ofStars = stars.uncounted.get(i) ?? bursts.uncounted.get(i) ?? losses.uncounted.get(i) ?? 0;
    const ofForks = forks.uncounted.get(i) ?? 0;
    return ofStars === 0 && ofForks === 0 ? [] : [{ step, stars: ofStars, forks: ofForks }];
  });
  const anomalies = [doubt, issues, stars, forks, bursts, losses].flatMap((found) => found.anomalies);
  return {
    anomalies: anomalies.sort((a, b) => a.at - b.at),
    doubtful: doubt.doubtful,
    doubtedIssues: new Set(readings.flatMap(({ at }, i) => (issues.doubtful[i] === true ? [at] : []))),
    uncounted,
    jumps: bursts.jumps,
  };
}

/**
 * The last reading of each day (UTC), as hours differ too much from each other to be judged. A count that it does not have is
 * that of an earlier reading of the day: sources differ in what they report.
 */
function lastOfDays(readings: readonly Reading[]): Reading[] {
  const last: Reading[] = [];
  let day = Number.NaN;
  for (const reading of readings) {
    const earlier = Math.floor(reading.at / DAY_MS) === day ? last.pop() : undefined;
    day = Math.floor(reading.at / DAY_MS);
    last.push({
      ...reading,
      forks: reading.forks ?? earlier?.forks ?? null,
      openIssues: reading.openIssues ?? earlier?.openIssues ?? null,
      watchers: reading.watchers ?? earlier?.watchers ?? null,
    });
  }
  return last;
}

/** Losses in one step. Stars that did not count when they came do not count when they go. */
function findLosses(
  steps: readonly Step[],
  explained: ReadonlyMap<number, number>,
  doubted: ReadonlyMap<number, number>,
): { anomalies: Anomaly[]; uncounted: ReadonlyMap<number, number> } {
  const anomalies: Anomaly[] = [];
  const uncounted = new Map<number, number>();
  let outstanding = 0;
  for (const [i, { from, to, gained }] of steps.entries()) {
    outstanding += doubted.get(i) ?? 0;
    if (explained.has(i) || -gained < Math.max(MIN_MOVEMENT, PURGE_PART * from.stars)) continue;
    anomalies.push({
      kind: "PURGE",
      measure: "stars",
      at: to.at,
      until: to.at,
      reason: `${-gained} of ${from.stars} stars fewer in one step`,
      before: from.stars,
      after: to.stars,
    });
    const written = Math.min(-gained, outstanding);
    if (written <= 0) continue;
    uncounted.set(i, -written);
    outstanding -= written;
  }
  return { anomalies, uncounted };
}
