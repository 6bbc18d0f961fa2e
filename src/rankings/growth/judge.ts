import { DAY_MS } from "../../clock.js";
import {
  type Anomaly,
  countText,
  MEASURED_COUNTS,
  MIN_MOVEMENT,
  type Reading,
  type Step,
  stepsOf,
} from "./anomalies.js";
import { findBursts } from "./bursts.js";
import { type Doubt, findDoubt } from "./doubt.js";
import { findForkBursts } from "./fork-bursts.js";
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
  /** By index of the reading: whether its stars are in doubt, and it is left out of every comparison. */
  doubtful: readonly boolean[];
  /** Times of readings whose other counts are not believed. Their stars still count, as issues can be switched off. */
  unbelieved: Readonly<Record<OtherCount, ReadonlySet<number>>>;
  /** The gains that do not count. */
  uncounted: readonly Uncounted[];
  /** Times of the last readings of unusual gains that are no anomaly, but not yet supported by forks. */
  pending: readonly number[];
  /** Times of gains far beyond the usual with little to match. */
  jumps: readonly number[];
}

/** Counts beside the stars that can be in doubt by themselves. */
export type OtherCount = "forks" | "openIssues";

/**
 * Judges a series: which readings are believed, which movements are unusual, and what of each gain counts. The judgement at a
 * time depends on the readings up to then alone.
 */
export function judge(readings: readonly Reading[]): Judgement {
  const [stars, forks, issues] = MEASURED_COUNTS.map((measure) => findDoubt(readings, measure));
  const timesOf = (doubt: Doubt | undefined) =>
    new Set(readings.flatMap(({ at }, i) => (doubt?.doubtful[i] === true ? [at] : [])));
  const doubtful = stars?.doubtful ?? [];
  const unbelieved = { forks: timesOf(forks), openIssues: timesOf(issues) };
  const credible = readings.flatMap((reading, i) =>
    doubtful[i] === true ? [] : [believed(reading, unbelieved)],
  );
  const steps = stepsOf(lastOfDays(credible));
  const returns = findReturns(steps, "stars");
  const forkReturns = findReturns(steps, "forks");
  // What a return explains is no burst and no loss; the rest of its steps may be.
  const rest = steps.map((step, i) => ({ ...step, gained: step.gained - (returns.uncounted.get(i) ?? 0) }));
  const bursts = findBursts(rest);
  const forkBursts = findForkBursts(steps);
  const losses = findLosses(rest, bursts.uncounted);
  const uncounted = steps.flatMap((step, i): Uncounted[] => {
    const sum = (...found: ReadonlyMap<number, number>[]) =>
      found.reduce((total, one) => total + (one.get(i) ?? 0), 0);
    const doubted = {
      stars: sum(returns.uncounted, bursts.uncounted, losses.uncounted),
      forks: forkReturns.uncounted.get(i) ?? forkBursts.uncounted.get(i) ?? 0,
    };
    return doubted.stars === 0 && doubted.forks === 0 ? [] : [{ step, ...doubted }];
  });
  const all = [stars, forks, issues, returns, forkReturns, bursts, forkBursts, losses];
  return {
    anomalies: all.flatMap((found) => found?.anomalies ?? []).sort((a, b) => a.at - b.at),
    doubtful,
    unbelieved,
    uncounted,
    pending: bursts.pending,
    jumps: bursts.jumps,
  };
}

/** A reading without the counts that are not believed. */
export function believed(reading: Reading, { forks, openIssues }: Judgement["unbelieved"]): Reading {
  return {
    ...reading,
    forks: forks.has(reading.at) ? null : reading.forks,
    openIssues: openIssues.has(reading.at) ? null : reading.openIssues,
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

/** Losses in one step. Stars that did not count when they came do not count when they go, all together or one by one. */
function findLosses(
  steps: readonly Step[],
  doubted: ReadonlyMap<number, number>,
): { anomalies: Anomaly[]; uncounted: ReadonlyMap<number, number> } {
  const anomalies: Anomaly[] = [];
  const uncounted = new Map<number, number>();
  let outstanding = 0;
  for (const [i, { from, to, gained }] of steps.entries()) {
    outstanding += doubted.get(i) ?? 0;
    if (gained >= 0) continue;
    const written = Math.min(-gained, outstanding);
    if (written > 0) uncounted.set(i, -written);
    outstanding -= written;
    if (-gained < Math.max(MIN_MOVEMENT, PURGE_PART * from.stars)) continue;
    anomalies.push({
      kind: "PURGE",
      measure: "stars",
      at: to.at,
      until: to.at,
      reason: `${countText(-gained)} of ${countText(from.stars)} stars fewer in one step`,
      before: from.stars,
      after: to.stars,
    });
  }
  return { anomalies, uncounted };
}
