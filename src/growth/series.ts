/**
 * One series of a repository: its readings and its star history, joined and cleaned once. Everything that speaks of its past reads this.
 *
 * Up to the first total the star history speaks, fitted to that total; from then on the totals, and the history where none was read for
 * longer than a day and a half. Readings that failed, are not confirmed yet or were soon taken back are left out. A gain between two points
 * is one that a source shows. What is stored in which order makes no difference, and a later reading changes nothing before the one
 * before it, except that a doubted reading which it confirms appears, that readings which it refutes disappear, and that a first total which
 * it refutes fits the history again.
 */
import { DAY_MS } from "../lib/clock.js";
import { joined, median, merged, Readings, SNAPSHOT_SOURCES, UNKNOWN } from "../repositories/repositories.js";
import type { Anomaly } from "./anomalies.js";
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

export function seriesOf({ readings, createdAt, isHistoryWhole }: Stored): Series {
  const retained = readings.countRetained();
  const totals = retained === 0 ? readings : readings.only((i) => !readings.isRetained(i));
  const { believed, anomalies } = clean(totals);
  const history = retained === 0 ? null : historyIn(readings, retained);
  const past = pastOf(believed, history, { createdAt, isHistoryWhole });
  const fills = history === null ? NONE : fillsOf(believed, history);
  const rest = fills.length === 0 ? believed : merged(believed, fills).all;
  const points = past.points.length === 0 ? rest : joined([past.points, rest]);
  const { fit, unseen, isFromCreation } = past;
  return { points, firstTotal: past.points.length, isFromCreation, unseen, fit, anomalies };
}

const NONE = Readings.ofLength(0);

/** The star history as it is stored: times, and the stars given until each. Never less than before, as it has no losses. */
function historyIn(readings: Readings, length: number): Pick<Series, "points" | "isFromCreation"> {
  const points = Readings.ofLength(length, 2);
  let [given, end] = [0, 0];
  for (let i = 0; i < readings.length; i++) {
    if (!readings.isRetained(i)) continue;
    // Days of two histories of it may alternate, such as one that was imported.
    given = Math.max(given, readings.stars(i));
    points.numbers[end++] = readings.at(i);
    points.numbers[end++] = given;
  }
  return { points, isFromCreation: false };
}
type StarHistory = ReturnType<typeof historyIn>;

export const BACKFILLED = SNAPSHOT_SOURCES.indexOf("BACKFILLED");

/** Points of the history, of their times and stars, one after the other. */
function historyPoints(counts: readonly number[]): Readings {
  const points = Readings.ofLength(counts.length / 2);
  const { numbers, width } = points;
  numbers.fill(UNKNOWN);
  for (let i = 0; i < points.length; i++) {
    numbers[i * width] = counts[2 * i] ?? 0;
    numbers[i * width + STARS] = counts[2 * i + 1] ?? 0;
    numbers[i * width + 5] = BACKFILLED;
  }
  return points;
}

interface Past extends Pick<Series, "fit" | "unseen" | "isFromCreation"> {
  points: Readings;
}

/** The points before the first total, backwards from it. */
function pastOf(
  totals: Readings,
  history: StarHistory | null,
  { createdAt, isHistoryWhole }: Pick<Stored, "createdAt" | "isHistoryWhole">,
): Past {
  const firstAt = totals.length > 0 ? totals.at(0) : Number.POSITIVE_INFINITY;
  const given = history?.points ?? NONE;
  const days = given.countBefore(firstAt);
  if (history === null || days === 0) return fromCreation(totals, createdAt);
  const [endAt, end] = [given.at(days - 1), given.stars(days - 1)];
  const total = totals.length > 0 ? totals.stars(0) : end;
  // A history that ends earlier says nothing about the time until then, unless it has more stars than the total.
  const until = valueAt(history, firstAt, STARS) ?? Math.max(end, total);
  const isApart = until > end && given.length === days && firstAt - endAt > DAY_MS;
  // Stars that are given for the time of the creation have no day.
  const isBegun = isHistoryWhole && createdAt !== null && createdAt < endAt;
  const begin = isBegun ? given.countBefore(createdAt + 1) : 0;
  const before = isBegun && begin === 0 ? 0 : given.stars(Math.max(0, begin - 1));
  const sum = until - before;
  const rest = total - sum;
  const isScaled = isHistoryWhole && (rest < 0 || (isBegun && rest <= FITTED * sum));
  const factor = isScaled && sum > 0 ? total / sum : 1;
  const points = isBegun ? [createdAt, isScaled ? 0 : rest] : [];
  for (let i = begin; i < days; i++) {
    const at = given.at(i);
    // The last one may stand for the total itself, a millisecond later.
    if (at < firstAt - 1) points.push(at, Math.max(0, total - factor * (until - given.stars(i))));
  }
  return {
    points: historyPoints(points),
    fit: { sum, total, undated: isBegun && !isScaled ? rest : 0 },
    unseen: isApart ? { from: endAt, to: firstAt } : null,
    isFromCreation: isBegun,
  };
}

/** Without a history, a known creation is a count of 0. */
function fromCreation(totals: Readings, createdAt: number | null): Past {
  const [firstAt, source] = [totals.at(0), totals.value(0, 5)];
  if (createdAt === null || !(createdAt < firstAt))
    return { points: NONE, fit: null, unseen: null, isFromCreation: false };
  const unseen = firstAt - createdAt > HOLE_MS ? { from: createdAt, to: firstAt } : null;
  return {
    points: new Readings(Float64Array.of(createdAt, 0, 0, UNKNOWN, UNKNOWN, source)),
    fit: null,
    unseen,
    isFromCreation: true,
  };
}

/**
 * Days of the history between totals that are far apart, in its shape and scaled to their difference. Where more was lost than given, the
 * days cannot tell when. After the last total nothing is filled, so that a series ends with the count that is shown.
 */
function fillsOf(totals: Readings, history: StarHistory): Readings {
  const { points: given } = history;
  const points: number[] = [];
  for (let i = 0; i + 1 < totals.length; i++) {
    const [from, to] = [totals.at(i), totals.at(i + 1)];
    if (to - from <= FILLED_MS) continue;
    const [before, after] = [valueAt(history, from, STARS), valueAt(history, to, STARS)];
    if (before === null || after === null) continue;
    const stars = totals.stars(i);
    const gained = totals.stars(i + 1) - stars;
    if (gained < 0 || (after === before && gained > 0)) continue;
    const factor = after === before ? 0 : gained / (after - before);
    for (let j = given.countBefore(from + 1); given.at(j) < to; j++)
      points.push(given.at(j), stars + factor * (given.stars(j) - before));
  }
  return historyPoints(points);
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
export function valueAt(
  { points, isFromCreation }: Pick<Series, "points" | "isFromCreation">,
  time: number,
  column: number,
): number | null {
  const next = points.countBefore(time);
  if (points.at(next) === time) return points.count(next, column);
  if (next === 0) return isFromCreation ? 0 : null;
  if (next === points.length) return null;
  const [before, after] = [points.count(next - 1, column), points.count(next, column)];
  if (before === null || after === null) return null;
  const from = points.at(next - 1);
  return before + ((after - before) * (time - from)) / (points.at(next) - from);
}
