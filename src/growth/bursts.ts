/** Bursts: days of far more stars than usual and hardly a fork, such as campaigns bring. They count as usual days. */
import { DAY_MS } from "../lib/clock.js";
import { type Anomaly, countText } from "./anomalies.js";
import { FORKS, type Series, STARS, valueAt } from "./series.js";
import { usualStarsBefore } from "./usual.js";

/** A burst has at least this many stars in a day and this many times the usual day, and more than this many stars for each new fork. */
const LEAST_STARS = 100;
const TIMES_USUAL = 5;
const STARS_PER_FORK = 100;

interface Day {
  from: number;
  to: number;
  stars: number;
  /** Stars of a usual day before. */
  usual: number;
  /** New forks; null where nobody counted them. */
  forks: number | null;
}

export interface Bursts {
  /** Oldest first. */
  anomalies: Anomaly[];
  /** Stars beyond the usual days. */
  excess: number;
}

/**
 * The bursts between two times, by days of 24 hours back from the end: readings may be hours or days apart. Nothing clears one, as a famous name
 * is forked anyway. Where nobody counted forks at the beginning of a day, even all forks of the repository must be too few, for all such days
 * together. `since`: see `usualStarsBefore`.
 */
export function burstsBetween(
  series: Series,
  { from, to, since }: { from: number; to: number; since: number },
): Bursts {
  if (!hasRisen(series, from)) return { anomalies: [], excess: 0 };
  const days: Day[] = [];
  let after = valueAt(series, to, STARS) ?? 0;
  for (let end = to, stars = 0; end > from; end -= DAY_MS, after -= stars) {
    const begin = Math.max(from, end - DAY_MS);
    const before = valueAt(series, begin, STARS) ?? 0;
    stars = after - before;
    if (stars < LEAST_STARS) continue;
    const usual = usualStarsBefore(series, { at: begin, stars: before }, since) ?? 0;
    if (stars < TIMES_USUAL * usual) continue;
    const [forksBefore, forksAfter] = [valueAt(series, begin, FORKS), valueAt(series, end, FORKS)];
    const forks = forksBefore === null || forksAfter === null ? null : forksAfter - forksBefore;
    days.push({ from: begin, to: end, stars, usual, forks });
  }
  if (days.length === 0) return { anomalies: [], excess: 0 };
  const unknown = days.reduce((sum, { stars, forks }) => sum + (forks === null ? stars : 0), 0);
  const areAllTooFew = STARS_PER_FORK * lastForks(series, to) < unknown;
  const bursts = days.filter(({ stars, forks }) =>
    forks === null ? areAllTooFew : STARS_PER_FORK * forks < stars,
  );
  return {
    anomalies: bursts.reverse().map((day) => anomalyOf(series, day)),
    excess: bursts.reduce((sum, { stars, usual, from: begin, to: end }) => {
      return sum + stars - (usual * (end - begin)) / DAY_MS;
    }, 0),
  };
}

/** Whether a day since a time can have stars enough. Few repositories have, which saves looking closer. */
function hasRisen({ points }: Series, from: number): boolean {
  let [least, most] = [Number.POSITIVE_INFINITY, 0];
  for (let i = points.length - 1; i >= 0; i--) {
    const stars = points.stars(i);
    if (stars < least) least = stars;
    if (stars > most) most = stars;
    if (points.at(i) <= from) break;
  }
  return most - least >= LEAST_STARS;
}

/** The newest count of forks until a time. Where none was taken, there may be any number. */
function lastForks({ points, firstTotal }: Series, time: number): number {
  for (let i = points.countBefore(time + 1) - 1; i >= firstTotal; i--) {
    const forks = points.count(i, FORKS);
    if (forks !== null) return forks;
  }
  return Number.POSITIVE_INFINITY;
}

function anomalyOf(series: Series, { from, to, stars, usual, forks }: Day): Anomaly {
  const { points } = series;
  const counted = Math.round((usual * (to - from)) / DAY_MS);
  const followed = forks === null ? "hardly any forks" : `${countText(Math.round(forks))} forks`;
  return {
    kind: "BURST",
    measure: "stars",
    at: points.at(points.countBefore(from + 1)),
    until: to,
    reason: `${countText(Math.round(stars))} stars in a day against about ${countText(Math.round(usual))}, with ${followed}; ${countText(counted)} of them count`,
    before: Math.round(valueAt(series, from, STARS) ?? 0),
    after: Math.round(valueAt(series, to, STARS) ?? 0),
    counted,
  };
}
