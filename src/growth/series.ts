/**
 * One series of a repository: its readings and its star history, joined and cleaned once. Everything that speaks of its past reads this.
 *
 * Up to the first total the star history speaks, fitted to that total; from then on the totals, and the history where none was read for
 * longer than a day and a half. Readings that failed, wait for confirmation or were soon taken back are left out. A gain between two points
 * is one that a source shows. What is stored in which order makes no difference, and a later reading changes nothing before the one
 * before it, except that a doubted reading which it confirms appears, that readings which it refutes disappear, and that a first total which
 * it refutes fits the history again.
 */
import { DAY_MS } from "../lib/clock.js";
import { median, Readings, SNAPSHOT_SOURCES, UNKNOWN } from "../repositories/repositories.js";
import type { Anomaly, Reading } from "./anomalies.js";
import { clean } from "./cleaning.js";

/** A time in which nobody looked: when in it something was gained is unknown. */
export interface Hole {
  from: number;
  to: number;
}

/** How a star history was fitted to the first total. */
export interface Fit {
  /** Stars that the history has from its beginning to the first total, and that total. */
  sum: number;
  total: number;
  /** Those that it has no day for, if it is whole. They are in the first point, and no gain. */
  undated: number;
}

export interface Series {
  /**
   * Counts in order of time. Their stars are fractions where the history speaks; round counts, not gains, to show them. Points of the
   * history are BACKFILLED, and have no other counts.
   */
  points: Readings;
  /** Index of the first total: points before it are of the history, or the creation. */
  firstTotal: number;
  /** Whether the first point is the creation: no stars and forks, or the stars of unknown days. */
  isFromCreation: boolean;
  /** Between the history, or the creation, and the first total, if they are too far apart. */
  unseen: Hole | null;
  /** null without a history before the first total. */
  fit: Fit | null;
  /** Anomalies of the totals, oldest first. */
  anomalies: readonly Anomaly[];
}

/** The stored data that a series is made of. */
export interface Stored {
  /** All of them, or those from some time on. */
  readings: Readings;
  /** null: unknown, or before the readings given here. */
  createdAt: number | null;
  /** Whether its star history was read to its beginning. */
  isHistoryWhole: boolean;
  /** The highest total before the readings given here, if the first of these may be back at its level. */
  peak?: Reading | null;
}

/** A whole history that sums to this much less than the total is scaled up to it; with more, something is missing in it. */
const FITTED = 0.02;
/** Totals this far apart are filled from the history, if it covers the time. */
export const FILLED_MS = 1.5 * DAY_MS;
/** A creation further from the first total, and totals further apart that are not usually so, have a hole between them. */
const HOLE_MS = 2.25 * DAY_MS;
/** Between two and three times, so that a minute more or less decides nothing. */
const HOLE_FACTOR = 2.5;
const NEARBY = 5;

export function seriesOf({ readings, createdAt, isHistoryWhole, peak = null }: Stored): Series {
  const retained = readings.countRetained();
  const totals = retained === 0 ? readings : readings.only((i) => !readings.isRetained(i));
  const { believed, anomalies } = clean(totals, peak);
  const history = retained === 0 ? null : new StarHistory(readings);
  const past = pastOf(believed, history, { createdAt, isHistoryWhole });
  const fills = history === null || believed.length === 0 ? [] : fillsOf(believed, history);
  const points =
    past.points.length + fills.length === 0 ? believed : joinedInTime(past.points, believed, fills);
  const { fit, unseen, isFromCreation } = past;
  return { points, firstTotal: past.points.length, isFromCreation, unseen, fit, anomalies };
}

/** The star history as it is stored. */
class StarHistory {
  readonly times: Float64Array;
  /** Stars given until each time. Never less than before: the history has no losses. */
  readonly given: Float64Array;

  constructor(readings: Readings) {
    const own = readings.only((i) => readings.isRetained(i));
    this.times = Float64Array.from({ length: own.length }, (_, i) => own.at(i));
    this.given = new Float64Array(own.length);
    let given = 0;
    for (let i = 0; i < own.length; i++) {
      // Days of two histories of it may alternate, such as one that was imported.
      given = Math.max(given, own.stars(i));
      this.given[i] = given;
    }
  }

  get length(): number {
    return this.times.length;
  }

  /** The number of its times before a time. */
  countBefore(time: number): number {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.times[middle] ?? 0) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Stars given until a time, evenly within its days; undefined where it does not reach. */
  givenAt(time: number): number | undefined {
    const next = this.countBefore(time);
    const [to, after] = [this.times[next], this.given[next]];
    if (to === undefined || after === undefined || to === time) return after;
    const [from, before] = [this.times[next - 1], this.given[next - 1]];
    if (from === undefined || before === undefined) return undefined;
    return before + ((after - before) * (time - from)) / (to - from);
  }
}

/** A point: the columns of a reading. */
type Row = [at: number, stars: number, forks: number, openIssues: number, watchers: number, source: number];

export const BACKFILLED = SNAPSHOT_SOURCES.indexOf("BACKFILLED");
const historyPoint = (at: number, stars: number): Row => [at, stars, UNKNOWN, UNKNOWN, UNKNOWN, BACKFILLED];

interface Past extends Pick<Series, "fit" | "unseen" | "isFromCreation"> {
  points: Row[];
}

/** The points before the first total, backwards from it. */
function pastOf(
  totals: Readings,
  history: StarHistory | null,
  { createdAt, isHistoryWhole }: Pick<Stored, "createdAt" | "isHistoryWhole">,
): Past {
  const firstAt = totals.length > 0 ? totals.at(0) : Number.POSITIVE_INFINITY;
  const days = history?.countBefore(firstAt) ?? 0;
  if (history === null || days === 0) return fromCreation(totals, createdAt);
  const endAt = history.times[days - 1] ?? Number.NaN;
  const end = history.given[days - 1] ?? 0;
  const total = totals.length > 0 ? totals.stars(0) : end;
  // A history that ends earlier says nothing about the time until then, unless it has more stars than the total.
  const until = history.givenAt(firstAt) ?? Math.max(end, total);
  const isApart = until > end && history.length === days && firstAt - endAt > DAY_MS;
  // Stars that are given for the time of the creation have no day.
  const isBegun = isHistoryWhole && createdAt !== null && createdAt < endAt;
  const begin = isBegun ? history.countBefore(createdAt + 1) : 0;
  const before = isBegun ? (history.given[begin - 1] ?? 0) : (history.given[0] ?? 0);
  const sum = until - before;
  const rest = total - sum;
  const isScaled = isHistoryWhole && (rest < 0 || (isBegun && rest <= FITTED * sum));
  const factor = isScaled && sum > 0 ? total / sum : 1;
  const points: Row[] = [];
  if (isBegun) points.push(historyPoint(createdAt, isScaled ? 0 : rest));
  for (let i = begin; i < days; i++) {
    const [at, given] = [history.times[i] ?? 0, history.given[i] ?? 0];
    // The last one may stand for the total itself, a millisecond later.
    if (at < firstAt - 1) points.push(historyPoint(at, Math.max(0, total - factor * (until - given))));
  }
  return {
    points,
    fit: { sum, total, undated: isBegun && !isScaled ? rest : 0 },
    unseen: isApart ? { from: endAt, to: firstAt } : null,
    isFromCreation: isBegun,
  };
}

/** Without a history, a known creation is a count of 0. */
function fromCreation(totals: Readings, createdAt: number | null): Past {
  const [firstAt, source] = [totals.at(0), totals.value(0, 5)];
  if (createdAt === null || !(createdAt < firstAt))
    return { points: [], fit: null, unseen: null, isFromCreation: false };
  const unseen = firstAt - createdAt > HOLE_MS ? { from: createdAt, to: firstAt } : null;
  return {
    points: [[createdAt, 0, 0, UNKNOWN, UNKNOWN, source]],
    fit: null,
    unseen,
    isFromCreation: true,
  };
}

/**
 * Days of the history between totals that are far apart, in its shape and scaled to their difference. Where more was lost than given, the
 * days cannot tell when. After the last total nothing is filled, so that a series ends with the count that is shown.
 */
function fillsOf(totals: Readings, history: StarHistory): Row[] {
  const points: Row[] = [];
  for (let i = 0; i + 1 < totals.length; i++) {
    const [from, to] = [totals.at(i), totals.at(i + 1)];
    if (to - from <= FILLED_MS) continue;
    const [before, after] = [history.givenAt(from), history.givenAt(to)];
    if (before === undefined || after === undefined) continue;
    const stars = totals.stars(i);
    const gained = totals.stars(i + 1) - stars;
    const given = after - before;
    if (gained < 0 || (given === 0 && gained > 0)) continue;
    const factor = given === 0 ? 0 : gained / given;
    for (let j = history.countBefore(from + 1); j < history.countBefore(to); j++)
      points.push(historyPoint(history.times[j] ?? 0, stars + factor * ((history.given[j] ?? 0) - before)));
  }
  return points;
}

/** Points in order of time. */
function joinedInTime(past: readonly Row[], totals: Readings, fills: readonly Row[]): Readings {
  const all = Readings.ofLength(past.length + totals.length + fills.length);
  const { numbers, width } = all;
  let end = 0;
  const take = (columns: ArrayLike<number>) => numbers.set(columns, width * end++);
  for (const row of past) take(row);
  let next = 0;
  for (const row of fills) {
    for (; next < totals.length && totals.at(next) < row[0]; next++)
      take(totals.slice(next, next + 1).numbers);
    take(row);
  }
  numbers.set(totals.slice(next).numbers, width * end);
  return all;
}

/** The times of a series in which nobody looked, oldest first. */
export function holesOf({ points, firstTotal, unseen }: Series): Hole[] {
  const holes = unseen === null ? [] : [unseen];
  const lately: number[] = [];
  for (let i = firstTotal + 1; i < points.length; i++) {
    const [from, to] = [points.at(i - 1), points.at(i)];
    const isFilled = points.isRetained(i) || points.isRetained(i - 1);
    const usual = lately.length === 0 ? DAY_MS : median(lately);
    if (!isFilled && to - from > Math.max(HOLE_MS, HOLE_FACTOR * usual)) holes.push({ from, to });
    lately.push(to - from);
    if (lately.length > NEARBY) lately.shift();
  }
  return holes;
}

/** Columns of a point. */
export const STARS = 1;
export const FORKS = 2;

/**
 * A count at a time, which may be a fraction: evenly between the points around it, 0 before the creation. null where nothing is known.
 */
export function valueAt({ points, isFromCreation }: Series, time: number, column: number): number | null {
  const next = points.countBefore(time);
  if (points.at(next) === time) return points.count(next, column);
  if (next === 0) return isFromCreation ? 0 : null;
  if (next === points.length) return null;
  const [before, after] = [points.count(next - 1, column), points.count(next, column)];
  if (before === null || after === null) return null;
  const from = points.at(next - 1);
  return before + ((after - before) * (time - from)) / (points.at(next) - from);
}
