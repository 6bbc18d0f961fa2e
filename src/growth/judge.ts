/** Judges series of readings, and finds the returns and losses in them. */
import { DAY_MS } from "../lib/clock.js";
import {
  type Anomaly,
  countText,
  MEASURED_COUNTS,
  type MeasuredCount,
  MIN_MOVEMENT,
  type Movements,
  REVERTED,
  type Reading,
  returnOf,
  type Step,
  stepsOf,
} from "./anomalies.js";
import { findBursts, findForkBursts } from "./bursts.js";
import { type Doubt, findDoubt } from "./doubt.js";

/** A purge is a loss of at least this part of the stars in one step. */
const PURGE_PART = 0.005;

/** The part of a step between two readings that does not count. Losses that do not count are negative. */
interface Uncounted {
  step: Step;
  stars: number;
  forks: number;
}

/** The verdict on a series of readings. */
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
}

/** Counts beside the stars that can be in doubt by themselves. */
type OtherCount = "forks" | "openIssues";

/**
 * Judges a series: which readings are believed, which movements are unusual, and which part of each gain counts. The judgement at
 * a time depends on the readings up to then alone. `peak`: the highest reading before them, if they may be back at its level.
 */
export function judge(readings: readonly Reading[], peak: Reading | null = null): Judgement {
  const [stars, forks, issues] = MEASURED_COUNTS.map((measure) =>
    findDoubt(readings, measure, peak?.[measure] ?? null),
  );
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
function findLosses(steps: readonly Step[], doubted: ReadonlyMap<number, number>): Movements {
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

/** A return is a jump by this part of the count, of which REVERTED is taken back within this many days. */
const JUMP_PART = 0.05;
const RETURN_DAYS = 10;
/** A step back of at least this part of the jump belongs to the return. */
const STEP_BACK = 0.1;

/** A known count before and after a step. */
interface Move {
  at: number;
  before: number;
  after: number;
}

/**
 * Finds jumps, up or down, that are reverted: one anomaly each, whose steps do not count. A jump up is reverted soon after it; a
 * fall may last, as a level that the history already shows is no gain. A step that an earlier one explains begins none of its own.
 */
function findReturns(steps: readonly Step[], measure: MeasuredCount): Movements {
  const moves = steps.map(({ from, to }): Move | undefined => {
    const [before, after] = [from[measure], to[measure]];
    return before === null || after === null ? undefined : { at: to.at, before, after };
  });
  const anomalies: Anomaly[] = [];
  const uncounted = new Map<number, number>();
  for (const [i, move] of moves.entries()) {
    if (move === undefined) continue;
    const jump = move.after - move.before;
    if (uncounted.has(i) || Math.abs(jump) < Math.max(MIN_MOVEMENT, JUMP_PART * move.before)) continue;
    const last = indexOfReturn(moves, i);
    const back = last === undefined ? undefined : moves[last];
    if (last === undefined || back === undefined) continue;
    anomalies.push(returnOf({ measure, ...move }, { at: back.at, count: back.after }));
    let returned = 0;
    for (let j = i + 1; j <= last; j++) {
      const { before, after } = moves[j] ?? { before: 0, after: 0 };
      // At most to the level before the jump: the rest is a movement of its own.
      const end = jump < 0 ? Math.min(after, move.before) : Math.max(after, move.before);
      const reverted = (before - end) * Math.sign(jump);
      if (reverted < STEP_BACK * Math.abs(jump)) continue;
      returned += reverted;
      // The same step may take back another jump, from a higher level.
      if (reverted > Math.abs(uncounted.get(j) ?? 0)) uncounted.set(j, -Math.sign(jump) * reverted);
    }
    // What of a fall has not come back is lost.
    uncounted.set(i, Math.max(jump, -returned));
  }
  return { anomalies, uncounted };
}

/** The step with which most of the jump at `index` is reverted; undefined if that does not happen, or not within days. */
function indexOfReturn(moves: readonly (Move | undefined)[], index: number): number | undefined {
  const jump = moves[index];
  if (jump === undefined) return undefined;
  const gained = jump.after - jump.before;
  const backFrom = (count: number, move: Move) => (count - move.after) * Math.sign(gained);
  const most = REVERTED * Math.abs(gained);
  // The count from which the last days begin.
  let [since, from] = [index + 1, jump.after];
  for (let j = index + 1; j < moves.length; j++) {
    const move = moves[j];
    if (move === undefined) continue;
    for (; since < j && (moves[since]?.at ?? 0) < move.at - RETURN_DAYS * DAY_MS; since++)
      from = moves[since]?.after ?? from;
    if (gained > 0 && move.at - jump.at > RETURN_DAYS * DAY_MS) return undefined;
    // A fall that small steps have made up for is no return.
    if (backFrom(jump.after, move) >= most) return backFrom(from, move) >= most ? j : undefined;
  }
  return undefined;
}
