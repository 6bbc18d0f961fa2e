/** Gains between two points of a series: of the windows, and on a usual day. */
import { DAY_MS } from "../lib/clock.js";
import { chooseFrom, isRecent, Readings, type Recency, UNKNOWN } from "../repositories/repositories.js";
import type { Anomaly, Reading } from "./anomalies.js";
import { burstsBetween } from "./bursts.js";
import { readingAt } from "./cleaning.js";
import { WINDOWS, type Window, windowMs } from "./definitions.js";
import { HISTORY_MS, type History, NEW_MS } from "./history.js";
import { BACKFILLED, type Series, STARS, seriesOf, valueAt } from "./series.js";
import { usualStarsBefore } from "./usual.js";

/** The stars gained before our first total, by the star history of the forge. */
interface HeldPart {
  /** The first total. */
  until: number;
  starsDelta: number;
}

/** How a repository has grown in one window: the two counts compared, and the anomalies between them. */
export interface Growth {
  window: Window;
  /** Of an interpolated count, or that of the creation, the time is that of the count. */
  from: Reading;
  to: Reading;
  starsDelta: number;
  /** The part of the stars that the star history shows, if `to` is a total and `from` is none; otherwise null. */
  held: HeldPart | null;
  /** Counts from `from` to `to`, both included. */
  snapshots: number;
  /** The part of the stars gained that counts. */
  starsCounted: number;
  /** Stars gained on a usual day before `from`; null: unknown. */
  usualPerDay: number | null;
  /** Hours within the window that nobody looked at. */
  unseenMs: number;
  /** Where its youth counts from, if it seems new and its date of creation is unknown. */
  firstSeenAt: number | null;
  anomalies: Anomaly[];
  /** Of the longest window: the stars gained in each of its days, oldest first. */
  days?: readonly number[] | undefined;
}

/**
 * The gains of the windows, which end at the newest point. There is no trend if the newest reading is not recent, or the newest point is
 * half a window older than it, as then that reading is not believed.
 */
export function growthOf(history: History, recency: Recency): Growth[] {
  const { readings } = history;
  const newestAt = readings.at(readings.length - 1);
  const series = seriesOfHistory(history);
  const { points, anomalies, unseen } = series;
  if (points.length === 0) return [];
  const last = points.length - 1;
  const to = countAt(series, last);
  const firstSeenAt = firstSeen(history, series);
  return WINDOWS.flatMap((window): Growth[] => {
    const length = windowMs(window);
    if (newestAt - to.at > length / 2 || !isRecent({ ...history, at: newestAt }, recency, length / 2))
      return [];
    const from = countAgo(series, length);
    if (from === undefined) return [];
    const starsDelta = to.stars - from.stars;
    const since = newestAt - HISTORY_MS;
    const bursts = burstsBetween(series, { from: from.at, to: to.at, since });
    const found = [...anomalies.filter(({ until }) => until > from.at), ...bursts.anomalies];
    return [
      {
        window,
        from,
        to,
        starsDelta,
        held: heldPart(series, from),
        snapshots: last - points.countBefore(from.at + 1) + 2,
        starsCounted: countedOf(starsDelta, bursts.excess),
        usualPerDay: usualStarsBefore(series, from, since),
        unseenMs: unseen === null ? 0 : Math.max(0, unseen.to - Math.max(unseen.from, from.at)),
        firstSeenAt,
        anomalies: found.sort((a, b) => a.at - b.at),
        ...(length === LONGEST_MS && { days: daysOf(series, from) }),
      },
    ];
  });
}

/** The series of readings. `isWhole`: whether these are all; otherwise they may begin after an older creation. */
export function seriesOfHistory(history: History, isWhole = false): Series {
  const { readings, createdAt } = history;
  const newestAt = readings.at(readings.length - 1);
  const isKnown = isWhole || readings.isRetained(0) || (createdAt ?? 0) > newestAt - HISTORY_MS;
  return seriesOf({ ...history, createdAt: isKnown ? createdAt : null });
}

/** A window begins evenly within a step of the star history that is at most this part of it. */
const WITHIN_PART = 1.1;

/**
 * The count at which a window begins that ends at `end`; default: at the newest point. What is younger than the window begins with its creation. Inside a day of the star history it
 * begins at its time, evenly within that day; otherwise at the nearest count, half a window to 2.25 windows back, and not before a time
 * that nobody looked at. undefined if there is none.
 */
export function countAgo(series: Series, length: number, end?: number): Reading | undefined {
  const { points, isFromCreation, unseen } = series;
  const last = points.length - 1;
  const to = end ?? points.at(last);
  const target = to - length;
  const next = points.countBefore(target + 1);
  const [before, after] = [points.at(next - 1), points.at(next)];
  if (before === target) return countAt(series, next - 1);
  if (next === 0 && isFromCreation) return countAt(series, 0);
  const isOfHistory = next > 0 && (points.isRetained(next - 1) || points.isRetained(next));
  const isUnseen = unseen !== null && before >= unseen.from && before < unseen.to && isOfHistory;
  if (isOfHistory && !isUnseen && next < last && after - before <= WITHIN_PART * length) {
    const part = (target - before) / (after - before);
    const stars = points.stars(next - 1) + part * (points.stars(next) - points.stars(next - 1));
    const unknown = { forks: null, openIssues: null, watchers: null };
    return { at: target, stars: Math.round(stars), ...unknown, source: "BACKFILLED" };
  }
  const nearest = chooseFrom(to, length, {
    before: next === 0 || isUnseen ? null : before,
    after: next <= last ? after : null,
  });
  return nearest === undefined ? undefined : countAt(series, nearest === before ? next - 1 : next);
}

/**
 * The stars gained since a time: since the last count up to it, evenly within a step of the star history. null where nobody had looked yet,
 * or looked for long.
 */
export function gainSince(series: Series, since: number): number | null {
  const { points, isFromCreation, unseen } = series;
  const last = points.length - 1;
  const next = points.countBefore(since + 1);
  const isUnseen = unseen !== null && since > unseen.from && since < unseen.to;
  if (last < 0 || isUnseen || (next === 0 && !isFromCreation)) return null;
  const isOfHistory = next > 0 && next <= last && (points.isRetained(next - 1) || points.isRetained(next));
  const before = isOfHistory ? valueAt(series, since, STARS) : points.stars(Math.max(0, next - 1));
  return before === null ? null : Math.round(points.stars(last)) - Math.round(before);
}

/** Growth is known of no longer window. */
const LONGEST_MS = Math.max(...WINDOWS.map(windowMs));

/**
 * The points that show the past of a repository: all, or those of a window, which begins with the count that its gain does, or without one
 * with the last point before it. If nobody looked for most of the time since the creation, that is left out, unless growth begins with it.
 */
export function shownPoints(whole: Series, length?: number): Readings {
  const { points, isFromCreation, unseen } = whole;
  const [begin, end] = [points.at(0), points.at(points.length - 1)];
  const isApart = isFromCreation && unseen?.from === begin && unseen.to - begin > end - unseen.to;
  const seen = isApart ? { ...whole, points: points.slice(1), isFromCreation: false, unseen: null } : whole;
  if (length === undefined || points.length === 0) return seen.points;
  const first = countAgo(length > LONGEST_MS ? seen : whole, length);
  if (first === undefined)
    return seen.points.slice(Math.max(0, seen.points.countBefore(end - length + 1) - 1));
  const rest = points.slice(points.countBefore(first.at));
  if (rest.at(0) === first.at) return rest;
  // Inside a day of the star history.
  const begun = Readings.ofLength(rest.length + 1);
  begun.numbers.set([first.at, first.stars, UNKNOWN, UNKNOWN, UNKNOWN, BACKFILLED]);
  begun.numbers.set(rest.numbers, begun.width);
  return begun;
}

/** In the order of the columns of a point. */
export const COUNTS = ["stars", "forks", "openIssues", "watchers"] as const;

/**
 * The counts of a series over a window that ends with it. It begins with the count that its gain does, so that the sum gains what its
 * repositories do. undefined if there is none.
 */
export function countsOver(
  series: Series,
  length: number,
): ((time: number, count: number) => number | null) | undefined {
  const { points } = series;
  const begin: Reading | undefined = countAgo(series, length);
  if (begin === undefined) return undefined;
  // Up to the next point it goes evenly from there.
  const from = Math.max(begin.at, points.at(points.length - 1) - length);
  const next = points.countBefore(from + 1);
  const to = points.at(next);
  return (time, count) => {
    const first = begin[COUNTS[count] ?? "stars"];
    if (time <= from) return first;
    if (time >= to) return valueAt(series, time, count + 1);
    const after = points.count(next, count + 1);
    return first === null || after === null ? null : first + ((after - first) * (time - from)) / (to - from);
  };
}

/** The stars gained in each day of the longest window, oldest first; undefined if nobody looked at its beginning, or for a part of it. */
function daysOf(series: Series, from: Reading): number[] | undefined {
  const { points, unseen, isFromCreation } = series;
  const days = LONGEST_MS / DAY_MS;
  const end = points.at(points.length - 1);
  const isSeen = from.at <= end - LONGEST_MS + DAY_MS || (isFromCreation && from.at === points.at(0));
  const countsAt =
    isSeen && (unseen?.to ?? 0) <= end - LONGEST_MS ? countsOver(series, LONGEST_MS) : undefined;
  const starsAt = (day: number) => Math.round(countsAt?.(end - (days - day) * DAY_MS, 0) ?? 0);
  return countsAt && Array.from({ length: days }, (_, day) => starsAt(day + 1) - starsAt(day));
}

/** The count of a point, as it is shown. */
function countAt({ points }: Series, index: number): Reading {
  const reading = readingAt(points, index);
  return { ...reading, stars: Math.round(reading.stars) };
}

/** The part of a gain that comes before the first total after its beginning. */
function heldPart({ points }: Series, { at, stars, source }: Reading): HeldPart | null {
  if (source !== "BACKFILLED") return null;
  let index = points.countBefore(at + 1);
  while (index < points.length && points.isRetained(index)) index++;
  return index === points.length
    ? null
    : { until: points.at(index), starsDelta: points.stars(index) - stars };
}

/** The pace of a new repository is that of its first days here. */
const FIRST_DAYS_MS = 14 * DAY_MS;

/**
 * When a repository of unknown creation was first seen by any source, if it seems to be new: its days here, and those in which it would have
 * gained the stars that it came with, at the pace of its first two weeks here. Otherwise null, and if it continues another name or may do so.
 */
function firstSeen(
  { createdAt, discoveredAt, isContinued }: History,
  { points, firstTotal }: Series,
): number | null {
  const [firstAt, stars] = [points.at(firstTotal), points.stars(firstTotal)];
  const here = points.at(points.length - 1) - Math.min(discoveredAt, firstAt);
  if (isContinued || createdAt !== null || !(here <= NEW_MS)) return null;
  const until = points.countBefore(firstAt + FIRST_DAYS_MS + 1) - 1;
  const gained = points.stars(until) - stars;
  if (stars > 0 && gained <= 0) return null;
  const before = stars === 0 ? 0 : (stars / gained) * (points.at(until) - firstAt);
  return here + before <= NEW_MS ? discoveredAt : null;
}

/** The part of a delta that counts. Of a burst that was purged in the same window, neither does. */
function countedOf(delta: number, excess: number): number {
  return Math.round(Math.max(Math.min(0, delta), delta - excess));
}
