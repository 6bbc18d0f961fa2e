/** Judges the gains of a series: which part of each counts. */
import { type Anomaly, type Movements, type Reading, type Step, stepsOf } from "./anomalies.js";
import { findBursts, findForkBursts } from "./bursts.js";
import { hasMoved, lastOfDays, readingAt } from "./cleaning.js";
import type { Series } from "./series.js";

/** The part of a step between two readings that does not count. Losses that do not count are negative. */
interface Uncounted {
  step: Step;
  stars: number;
  forks: number;
}

/** The verdict on the gains of a series. */
export interface Judgement {
  anomalies: readonly Anomaly[];
  /** The gains that do not count. */
  uncounted: readonly Uncounted[];
  /** Times of the last readings of unusual gains that are no anomaly, but not yet supported by forks. */
  pending: readonly number[];
}

const NOTHING: Judgement = { anomalies: [], uncounted: [], pending: [] };

/** Judges the totals of a series. The judgement at a time depends on the readings up to then alone. */
export function judge({ points, firstTotal }: Series): Judgement {
  const totals = points.slice(firstTotal);
  if (!hasMoved(totals)) return NOTHING;
  const indexes = Array.from({ length: totals.length }, (_, index) => index);
  const readings = indexes.filter((i) => !totals.isRetained(i)).map((i) => readingAt(totals, i));
  const steps = stepsOf(lastOfDays(readings));
  const bursts = findBursts(steps);
  const forkBursts = findForkBursts(steps);
  const losses = findLosses(steps, bursts.uncounted);
  const uncounted = steps.flatMap((step, i): Uncounted[] => {
    const stars = (bursts.uncounted.get(i) ?? 0) + (losses.get(i) ?? 0);
    const forks = forkBursts.uncounted.get(i) ?? 0;
    return stars === 0 && forks === 0 ? [] : [{ step, stars, forks }];
  });
  const anomalies = [...bursts.anomalies, ...forkBursts.anomalies];
  return { anomalies, uncounted, pending: bursts.pending };
}

/** Stars that did not count when they came do not count when they go, all together or one by one. */
function findLosses(steps: readonly Step[], doubted: Movements["uncounted"]): Map<number, number> {
  const uncounted = new Map<number, number>();
  let outstanding = 0;
  for (const [i, { gained }] of steps.entries()) {
    outstanding += doubted.get(i) ?? 0;
    const written = Math.min(-gained, outstanding);
    if (gained >= 0 || written <= 0) continue;
    uncounted.set(i, -written);
    outstanding -= written;
  }
  return uncounted;
}

/** The gains between two counts that do not count. */
export function uncountedBetween(
  { uncounted }: Judgement,
  from: Reading,
  to: Reading,
): { stars: number; forks: number } {
  const sum = { stars: 0, forks: 0 };
  for (const { step, stars, forks } of uncounted) {
    if (step.to.at <= from.at || step.to.at > to.at) continue;
    const part = step.from.at < from.at ? partAfter(step, from) : 1;
    sum.stars += part * stars;
    sum.forks += part * forks;
  }
  return { stars: sum.stars, forks: Math.round(sum.forks) };
}

/** The part of the gain of a step that came after a reading within it. */
function partAfter({ to, gained }: Step, reading: Reading): number {
  return gained === 0 ? 0 : Math.min(1, Math.max(0, (to.stars - reading.stars) / gained));
}
