import { difference, type Reading, type Step } from "./anomalies.js";

/**
 * Breadth: whether the other counts moved as they do when that many people look at a repository. Stars that are bought or
 * given by scripts come alone.
 */

/** Stars and forks (or watchers) added to both sides of a ratio, so that a few of them do not decide. */
const PRIOR_STARS = 60;
/** Repositories with few of both have about this many forks, and watchers, for a star. */
const USUAL_RATIO = 0.1;
const SMALL = 20;
/** A ratio above this is that of course work, whose forks come without stars. */
const MOST_RATIO = 0.5;
/** Real leaps bring this part of the usual ratio on average (measured in bench/judge/jumps.ts: median 0.7, twentieth 0.16). */
const LEAP_PART = 0.75;

/** The counts that follow stars. Open issues go up and down, so they can excuse a gain but not accuse it. */
const FOLLOWING = ["forks", "watchers"] as const;
type Following = (typeof FOLLOWING)[number];

/** A surge: days with gains beyond the usual. */
interface Leap {
  /** The reading before it, and the last one that may still show its effects. */
  before: Reading;
  after: Reading;
  /** Days of the leap, and days after it up to `after`. */
  days: number;
  daysAfter: number;
  /** Stars beyond the usual. */
  excess: number;
  /** Unusual steps in it. */
  steps: number;
}

/** How often a count grew together with stars, per star, and per day. */
interface Pace {
  ratio: number;
  aDay: number;
}

/** The usual pace of each count, null where it is unknown, and of open issues. */
export interface UsualPaces extends Record<Following, Pace | null> {
  issuesADay: number;
}

/**
 * The paces before a leap: per star the lower of the ratio of its whole history and that of the trusted days, since old
 * repositories are starred more than forked.
 */
export function usualPaces(before: Reading, trusted: readonly Step[]): UsualPaces {
  let [stars, days, issues] = [0, 0, 0];
  for (const { from, to, gained, days: length } of trusted) {
    stars += Math.max(0, gained);
    days += length;
    issues += Math.abs(difference(to.openIssues, from.openIssues) ?? 0);
  }
  const paceOf = (count: Following): Pace | null => {
    const level = before[count];
    if (level === null) return null;
    let gained = 0;
    for (const { from, to } of trusted) gained += Math.max(0, difference(to[count], from[count]) ?? 0);
    const own = (level + USUAL_RATIO * SMALL) / (before.stars + SMALL);
    const recent = (gained + PRIOR_STARS * own) / (stars + PRIOR_STARS);
    return { ratio: Math.min(own, recent, MOST_RATIO), aDay: days === 0 ? 0 : gained / days };
  };
  return {
    forks: paceOf("forks"),
    watchers: paceOf("watchers"),
    issuesADay: days === 0 ? 0 : issues / days,
  };
}

/** How well the counts that followed a leap support it. */
export interface Breadth {
  /** From 0 to 1: the chance that a real leap brings no more than this. null: no count is known that follows stars. */
  chance: number | null;
  /** The stars that the other counts can explain; null as `chance`. */
  supported: number | null;
}

/** Compares a leap with the forks, watchers and issues that followed. */
export function breadthOf(
  { before, after, days, daysAfter, excess, steps }: Leap,
  usual: UsualPaces,
): Breadth {
  let [expected, seen, supported] = [0, 0, 0];
  let isKnown = false;
  for (const count of FOLLOWING) {
    const [pace, from, to] = [usual[count], before[count], after[count]];
    if (pace === null || from === null || to === null) continue;
    isKnown = true;
    const gained = Math.max(0, to - from);
    // Gains of usual days must not excuse the leap; while it lasts, its absence must not accuse it either.
    expected += pace.aDay * (0.5 * days + daysAfter) + LEAP_PART * pace.ratio * excess;
    seen += gained;
    supported = Math.max(supported, (gained - pace.aDay * (days + daysAfter)) / pace.ratio);
  }
  if (!isKnown) return { chance: null, supported: null };
  seen += issuesBeyond(usual, { before, after, days: days + daysAfter, most: expected / 4 });
  return {
    chance: atMost(Math.round(seen), expected, shapeOf(steps)),
    supported: Math.min(excess, Math.max(0, supported)),
  };
}

/** Issues opened beyond the usual; at most `most`, as a handful is quickly opened. */
function issuesBeyond(
  { issuesADay }: UsualPaces,
  { before, after, days, most }: Pick<Leap, "before" | "after" | "days"> & { most: number },
): number {
  if (before.openIssues === null || after.openIssues === null) return 0;
  const opened = after.openIssues - before.openIssues - issuesADay * days;
  return Math.min(most, Math.max(0, opened));
}

/**
 * How little the ratio of real leaps varies: the shape of a gamma distribution with the mean `LEAP_PART`. A leap that goes on
 * varies less, as its days even out (measured: the twentieth with the fewest forks has 0.16 of the usual ratio after one step,
 * 0.27 after two, 0.30 after three).
 */
const LEAP_SHAPE = { first: 2, most: 5 };

function shapeOf(steps: number): number {
  return Math.min(LEAP_SHAPE.most, LEAP_SHAPE.first + steps - 1);
}

/**
 * The chance of at most `count` events instead of `mean`, if the mean itself varies from leap to leap by a gamma
 * distribution of this shape: the negative binomial distribution, summed from 0.
 */
function atMost(count: number, mean: number, shape: number): number {
  if (mean <= 0) return 1;
  const rest = mean / (mean + shape);
  let term = (1 - rest) ** shape;
  let sum = term;
  for (let i = 1; i <= count && sum < ENOUGH; i++) {
    term *= ((i - 1 + shape) / i) * rest;
    sum += term;
  }
  return Math.min(1, sum);
}

/** No decision depends on a chance above this. */
const ENOUGH = 0.9;
