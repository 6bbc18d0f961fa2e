/** Bursts: gains of stars far beyond the usual that forks and watchers did not follow, and of forks without stars. */
import { DAY_MS } from "../lib/clock.js";
import {
  type Anomaly,
  countText,
  difference,
  MIN_MOVEMENT,
  type Movements,
  type Reading,
  type Step,
} from "./anomalies.js";
import { describeBurst, Surge, UNUSUAL_MORE, unusualFrom } from "./surge.js";
import { usualDay } from "./usual.js";

/** Steps from which the usual pace of forks is taken. */
const TRUSTED_STEPS = 30;
/** A surge that pauses longer has ended. */
const PAUSE_DAYS = 7;
/**
 * An unusual surge is a burst if a real leap would bring so few forks less often than this. The more it exceeds the usual day, the
 * more must follow it: `least` at five times the usual, growing with that multiple, up to `most` on its first step and
 * `mostLater` after more.
 */
const BURST_CHANCE = { least: 0.006, multiple: 5, power: 1.5, most: 0.2, mostLater: 0.1 };
/** From this chance on, a surge is real, and becomes part of the usual days. */
const TRUSTED_CHANCE = 0.4;
/** From this chance on, the readings after a surge support it. One that is no burst waits for that. */
const SUPPORTED_CHANCE = 0.3;
/** If no forks are known, a surge is a burst from this multiple of the usual day, which real ones reach once in fifty times. */
const UNKNOWN_MULTIPLE = 55;
/**
 * Attention fades over days: after a real leap, the next day brings less than this part of it once in twenty times (measured).
 * A surge that ends so abruptly is a burst below this chance, or from this multiple of the usual day if no forks are known.
 */
const ABRUPT = { part: 0.1, days: 2, chance: 0.3, multiple: 15 };

interface Bursts extends Movements {
  /** Times of the last readings of surges that are no anomaly, but not yet supported by forks. */
  pending: readonly number[];
}

/**
 * Finds surges of unusual gains that forks and watchers did not follow. The usual day and pace are taken from before the surge, and
 * no step of a surge is learned from unless its breadth shows that it is real.
 */
export function findBursts(steps: readonly Step[]): Bursts {
  const surges: Surge[] = [];
  let trusted: Step[] = [];
  let surge: Surge | undefined;
  let leap: Surge | undefined;
  for (const [i, step] of steps.entries()) {
    if (surge !== undefined && step.from.at - surge.end.at > PAUSE_DAYS * DAY_MS) surge = undefined;
    // Most gains are too small to be unusual, whatever the usual day, which takes long to find.
    const isSmall = step.gained / step.days < UNUSUAL_MORE;
    const usual = surge?.usual ?? (isSmall ? 0 : usualDay(step.from.stars, pacesOf(trusted)));
    if (isSmall || step.gained / step.days < unusualFrom(usual)) {
      // Days that may belong to a pause of a campaign teach nothing.
      if (surge === undefined && step.gained > -MIN_MOVEMENT) trusted = learn(trusted, [step]);
      if (surge !== undefined && !surge.isBurst && endsAbruptly(surge, steps, i)) {
        surge.raise(ABRUPT.chance);
        surge.endedAbruptly = true;
      }
      continue;
    }
    if (surge === undefined) {
      if (leap !== undefined && step.from.at - leap.end.at > PAUSE_DAYS * DAY_MS) leap = undefined;
      surge = new Surge(steps, step.from, { usual, trusted, leap });
      surges.push(surge);
    }
    surge.add(i, step);
    const { chance } = surge.breadthAt(step.to);
    if (isBurst(surge, chance)) surge.raise(burstChance(surge));
    if (surge.isBurst || chance === null || chance < TRUSTED_CHANCE) continue;
    trusted = learn(trusted, surge.steps);
    leap = surge;
    surge = undefined;
  }
  const uncounted = new Map<number, number>();
  const anomalies: Anomaly[] = [];
  const pending: number[] = [];
  for (const found of surges) {
    if (!found.isBurst) {
      if (isPending(found)) pending.push(found.end.at);
      continue;
    }
    const { anomaly, doubted } = describeBurst(found);
    anomalies.push(anomaly);
    for (const index of found.indexes) {
      const { gained, days } = steps[index] ?? { gained: 0, days: 0 };
      if (doubted > 0) uncounted.set(index, ((gained - found.usual * days) / found.excess) * doubted);
    }
  }
  return { anomalies, uncounted, pending };
}

function learn(trusted: readonly Step[], more: readonly Step[]): Step[] {
  return [...trusted, ...more].slice(-TRUSTED_STEPS);
}

function pacesOf(trusted: readonly Step[]): number[] {
  return trusted.map(({ gained, days }) => gained / days);
}

function isBurst(surge: Surge, chance: number | null): boolean {
  if (surge.excess < MIN_MOVEMENT) return false;
  if (chance !== null) return chance < burstChance(surge) && !isPartOfLeap(surge, surge.end);
  return surge.isShift || (surge.isKnown && surge.multiple >= UNKNOWN_MULTIPLE);
}

/** The chance below which a surge is a burst. */
function burstChance({ multiple, indexes }: Surge): number {
  const { least, power, most, mostLater } = BURST_CHANCE;
  const highest = indexes.length > 1 ? mostLater : most;
  return Math.min(highest, least * (multiple / BURST_CHANCE.multiple) ** power);
}

/** Whether a surge that is no burst is not yet supported by forks. Support that was seen once is enough. */
function isPending(surge: Surge): boolean {
  // The same for all repositories: most that have moved less in all are not judged.
  if (surge.excess < MIN_MOVEMENT) return false;
  const { seen } = surge;
  if (seen[0] === undefined) return surge.isKnown && surge.multiple >= ABRUPT.multiple;
  return seen.every(({ chance }) => chance < SUPPORTED_CHANCE) && !isPartOfLeap(surge, seen[0].reading);
}

/** Whether the step at `index`, the first after a surge of little breadth, brings almost nothing. */
function endsAbruptly(surge: Surge, steps: readonly Step[], index: number): boolean {
  const [last, next] = [steps[index - 1], steps[index]];
  if (last === undefined || next === undefined || surge.indexes.at(-1) !== index - 1) return false;
  if (Math.max(last.days, next.days) > ABRUPT.days) return false;
  if (last.gained < MIN_MOVEMENT || surge.multiple < BURST_CHANCE.multiple) return false;
  const beyond = (step: Step) => step.gained / step.days - surge.usual;
  if (beyond(next) >= ABRUPT.part * beyond(last)) return false;
  const { chance } = surge.breadthAt(next.to);
  if (chance === null) return surge.isKnown && surge.multiple >= ABRUPT.multiple;
  return chance < ABRUPT.chance && !isPartOfLeap(surge, next.to);
}

/** Whether later readings support the surge together with the real one just before it: forks are spread unevenly over the days of a leap. */
function isPartOfLeap(surge: Surge, after: Reading): boolean {
  return (surge.chanceAsOneLeap(after) ?? 0) >= SUPPORTED_CHANCE;
}

/**
 * A step is unusual from this multiple of the usual forks a day, and this many a day more. People who fork often star as well:
 * more forks than this multiple of the stars gained need an explanation.
 */
const UNUSUAL_FORKS = { factor: 5, more: 10, perStar: 2 };

/**
 * Finds steps that gained forks far beyond the usual day, and more than twice as many as stars. Course work, which is forked
 * without stars every day, is as usual. The forks that count are as many as the stars, or those of the usual day.
 */
export function findForkBursts(steps: readonly Step[]): Movements {
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
      forks / days > UNUSUAL_FORKS.factor * usual + UNUSUAL_FORKS.more &&
      forks > UNUSUAL_FORKS.perStar * stars;
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
