/** Which readings of a repository are believed: those that failed, are not confirmed yet, or were soon taken back are left out. */
import { DAY_MS } from "../lib/clock.js";
import { Readings, SNAPSHOT_SOURCES, UNKNOWN } from "../repositories/repositories.js";
import {
  type Anomaly,
  COUNT_NAMES,
  countText,
  MEASURED_COUNTS,
  type MeasuredCount,
  MIN_MOVEMENT,
  REVERTED,
  type Reading,
  returnOf,
} from "./anomalies.js";

/** Totals that are believed, and why others are not. */
export interface Cleaned {
  /** Without the readings whose stars are not believed. Other counts that are not believed are unknown. */
  believed: Readings;
  /** Oldest first: failed readings, returns, and purges. */
  anomalies: Anomaly[];
}

/** The column of a count. */
const COLUMN: Readonly<Record<MeasuredCount, number>> = { stars: 1, forks: 2, openIssues: 3 };

/** Cleans totals. The verdict on a reading depends on those up to then and on the next ones that confirm or refute it. */
export function clean(totals: Readings): Cleaned {
  if (!hasMoved(totals)) return { believed: totals, anomalies: [] };
  const doubts = MEASURED_COUNTS.map((measure) => findDoubt(totals, measure));
  const confirmed = without(totals, doubts);
  const days = lastOfDays(confirmed);
  const returns = (["stars", "forks"] as const).map((measure) => findReturns(confirmed, days, measure));
  const believed = without(confirmed, returns);
  const purges = findPurges(believed === confirmed ? days : lastOfDays(believed));
  const anomalies = [...[...doubts, ...returns].flatMap((each) => each.anomalies), ...purges];
  return { believed, anomalies: anomalies.sort((a, b) => a.at - b.at) };
}

/** Readings of a count that are not believed, or not yet. */
interface Doubt {
  anomalies: Anomaly[];
  measure: MeasuredCount;
  /** Their indexes. */
  leftOut: ReadonlySet<number>;
}

/** Readings without those whose stars are not believed. Other counts that are not are unknown. */
function without(readings: Readings, doubts: readonly Doubt[]): Readings {
  if (doubts.every(({ leftOut }) => leftOut.size === 0)) return readings;
  const { width } = readings;
  const numbers = readings.numbers.slice();
  for (const { measure, leftOut } of doubts)
    if (measure !== "stars") for (const i of leftOut) numbers[i * width + COLUMN[measure]] = UNKNOWN;
  const ofStars = doubts.find(({ measure }) => measure === "stars");
  return new Readings(numbers).only((i) => ofStars?.leftOut.has(i) !== true);
}

/** The reading at an index that exists. */
export function readingAt(readings: Readings, index: number): Reading {
  return {
    at: readings.at(index),
    stars: readings.stars(index),
    forks: readings.count(index, 2),
    openIssues: readings.count(index, 3),
    watchers: readings.count(index, 4),
    source: SNAPSHOT_SOURCES[readings.value(index, 5)] ?? "OBSERVED",
  };
}

export function readingsOf(rows: readonly Reading[]): Readings {
  const counts = rows.map(({ at, stars, forks, openIssues, watchers, source }) => [
    at,
    stars,
    forks ?? UNKNOWN,
    openIssues ?? UNKNOWN,
    watchers ?? UNKNOWN,
    SNAPSHOT_SOURCES.indexOf(source),
  ]);
  return new Readings(Float64Array.from(counts.flat()));
}

/** Whether the counts have moved enough for an anomaly. Few repositories have, which saves looking closer. */
function hasMoved(readings: Readings): boolean {
  let least = Number.POSITIVE_INFINITY;
  let most = 0;
  let [leastForks, mostForks] = [Number.POSITIVE_INFINITY, 0];
  let [starsBefore, forksBefore, issuesBefore] = [0, 0, 0];
  for (let i = 0; i < readings.length; i++) {
    const [stars, forks, issues] = [readings.stars(i), readings.value(i, 2), readings.value(i, 3)];
    if (stars < least) least = stars;
    if (stars > most) most = stars;
    if (starsBefore >= LEAST_COLLAPSED && stars <= FALLEN_PARTS.stars * starsBefore) return true;
    // Unknown counts are below 0, and show no fall.
    if (forks >= 0 && forksBefore >= LEAST_COLLAPSED && forks <= FALLEN_PARTS.forks * forksBefore)
      return true;
    if (issues >= 0 && issuesBefore >= LEAST_DOUBTED && issues <= FALLEN_PARTS.openIssues * issuesBefore)
      return true;
    starsBefore = stars;
    if (forks >= 0) {
      forksBefore = forks;
      if (forks < leastForks) leastForks = forks;
      if (forks > mostForks) mostForks = forks;
    }
    if (issues >= 0) issuesBefore = issues;
  }
  return most - least >= MIN_MOVEMENT || mostForks - leastForks >= MIN_MOVEMENT;
}

/** Lower counts may fall by a quarter, and the lowest of all to nothing. */
export const LEAST_DOUBTED = 50;
export const LEAST_COLLAPSED = 5;
/** A reading at most this part of the last confirmed one waits for a second reading. */
export const FALLEN_PARTS: Readonly<Record<MeasuredCount, number>> = {
  stars: 0.75,
  forks: 0.75,
  openIssues: 0.1,
};
/** At most this part: a collapse, which takes two more readings. */
const COLLAPSED = 0.1;
const CONFIRMATIONS = { fall: 1, collapse: 2 };
/** A reading confirms one before it if it is higher by at most this part. */
const AGREEING = 0.2;
/** Readings of 0 stars at the beginning failed if the next one has at least this many. */
const FIRST_LEVEL = 500;

/** Stars that rise from more than these by this factor within this time wait for one more reading, if there are fewer new forks for each new star. */
const RISEN_FROM = 1_000;
const RISEN_TO = 1.8;
const RISEN_WITHIN_MS = 2 * DAY_MS;
const FORKS_OF_RISE = 0.02;

interface Fall {
  measure: MeasuredCount;
  before: number;
  after: number;
}

/** Whether stars have risen further than a repository's do in two days, with too few new forks to match. */
export function isRise(
  before: Readonly<Record<"stars" | "forks", number | null>>,
  after: Readonly<Record<"stars" | "forks", number | null>>,
): boolean {
  if (before.stars === null || after.stars === null || before.forks === null || after.forks === null)
    return false;
  if (before.stars <= RISEN_FROM || after.stars < RISEN_TO * before.stars) return false;
  return after.forks - before.forks < FORKS_OF_RISE * (after.stars - before.stars);
}

/**
 * Finds readings of a count that fell against the last confirmed one: by a quarter or more in stars or forks, by nine tenths in
 * open issues; and those of stars that leap, see `isRise`. They count once enough readings after them agree, or fall further. Until then the last confirmed reading is used;
 * if the next ones return to it, the reading failed. A confirmed fall stops counting once the count is back in one step, however
 * long that takes.
 */
function findDoubt(readings: Readings, measure: MeasuredCount): Doubt {
  const column = COLUMN[measure];
  const failed = measure === "stars" ? zerosAtFirst(readings) : null;
  const first = failed?.length ?? 0;
  const leftOut = new Set(Array.from({ length: first }, (_, i) => i));
  const anomalies = failed === null ? [] : [failed.anomaly];
  /** The index of the last reading that counts; -1: none. */
  let last = -1;
  for (let i = first; i < readings.length; ) {
    const after = readings.value(i, column);
    const before = last < 0 ? 0 : readings.value(last, column);
    let [end, isConfirmed] = [i, false];
    // Sources differ in what they report.
    const isKnown = after !== UNKNOWN;
    if (isKnown && isFall(measure, before, after))
      ({ end, isConfirmed } = endOfDoubt(readings, i, { measure, before, after }));
    else if (isKnown && measure === "stars" && isLeap(readings, last, i)) end = i + 1;
    if (end === i) {
      if (isKnown) last = i;
      i++;
      continue;
    }
    const fall = { measure, before, after, at: readings.at(i) };
    anomalies.push(
      isConfirmed
        ? returnOf(fall, { at: readings.at(end), count: readings.value(end, column) })
        : anomalyOf(fall, { until: readings.at(end - 1), isNewest: end === readings.length }),
    );
    for (; i < end; i++) leftOut.add(i);
  }
  return { anomalies, measure, leftOut };
}

/** Whether the newest of these readings is not believed, or not yet. */
export function isNewestDoubted(given: readonly Reading[]): boolean {
  const readings = readingsOf(given);
  return MEASURED_COUNTS.some((measure) => findDoubt(readings, measure).leftOut.has(readings.length - 1));
}

/** The readings at the beginning that failed: zeros before a large count. */
function zerosAtFirst(readings: Readings): { length: number; anomaly: Anomaly } | null {
  let length = 0;
  while (readings.stars(length) === 0) length++;
  const level = readings.stars(length);
  if (length === 0 || !(level >= FIRST_LEVEL)) return null;
  return {
    length,
    anomaly: {
      kind: "FAILED_READING",
      measure: "stars",
      at: readings.at(0),
      until: readings.at(length - 1),
      reason: `0 stars before a reading of ${countText(level)}: a failed reading`,
      before: 0,
      after: level,
    },
  };
}

function isFall(measure: MeasuredCount, before: number, after: number): boolean {
  const least = measure !== "openIssues" && after <= COLLAPSED * before ? LEAST_COLLAPSED : LEAST_DOUBTED;
  return before >= least && after <= FALLEN_PARTS[measure] * before;
}

/**
 * The index after the readings in doubt from `index` on, which is `index` itself for a fall that counts; and whether enough
 * readings have confirmed the fall.
 */
function endOfDoubt(
  readings: Readings,
  index: number,
  { measure, before, after }: Fall,
): { end: number; isConfirmed: boolean } {
  const needed = after <= COLLAPSED * before ? CONFIRMATIONS.collapse : CONFIRMATIONS.fall;
  const most = after + Math.max(2, AGREEING * after);
  let confirming = 0;
  let last = after;
  for (let end = index + 1; end < readings.length; end++) {
    const next = readings.value(end, COLUMN[measure]);
    if (next === UNKNOWN) continue;
    const isConfirmed = confirming >= needed;
    // It has grown back.
    if (isConfirmed && last > FALLEN_PARTS[measure] * before) break;
    if (isConfirmed ? next - last >= REVERTED * (before - last) : next > most) return { end, isConfirmed };
    // A further fall confirms the fall.
    confirming++;
    last = next;
  }
  return { end: confirming >= needed ? index : readings.length, isConfirmed: false };
}

/** Whether a reading leaps from the one at `before`, and the next one goes back or is not there. */
function isLeap(readings: Readings, before: number, index: number): boolean {
  const [from, to] = [readings.stars(before), readings.stars(index)];
  if (!(to >= RISEN_TO * from) || readings.isRetained(index)) return false;
  if (readings.at(index) - readings.at(before) > RISEN_WITHIN_MS) return false;
  const [forksBefore, forks] = [readings.count(before, 2), readings.count(index, 2)];
  if (!isRise({ stars: from, forks: forksBefore }, { stars: to, forks })) return false;
  return index + 1 === readings.length || to - readings.stars(index + 1) >= REVERTED * (to - from);
}

function anomalyOf(
  { measure, at, before, after }: Pick<Anomaly, "measure" | "at" | "before" | "after">,
  { until, isNewest }: { until: number; isNewest: boolean },
): Anomaly {
  const name = COUNT_NAMES[measure];
  return {
    kind: isNewest ? "UNCONFIRMED" : "FAILED_READING",
    measure,
    at,
    until,
    reason: isNewest
      ? `from ${countText(before)} to ${countText(after)} ${name}, not yet confirmed by a second reading; the one before it is used`
      : `${countText(after)} ${name} between readings of ${countText(before)}: a failed reading`,
    before,
    after,
  };
}

/**
 * The last reading of each day (UTC), as hours differ too much from each other to be judged. If its forks are unknown, they are those of an
 * earlier reading of the day, as sources differ in what they report.
 */
function lastOfDays(readings: Readings): Readings {
  const last: number[] = [];
  let day = Math.floor(readings.at(0) / DAY_MS);
  for (let i = 0; i < readings.length; i++) {
    const next = Math.floor(readings.at(i + 1) / DAY_MS);
    if (next !== day) last.push(i);
    day = next;
  }
  if (last.length === readings.length) return readings;
  const days = readings.picked(last);
  for (const [i, end] of last.entries())
    for (let j = end - 1; j > (last[i - 1] ?? -1) && days.value(i, COLUMN.forks) === UNKNOWN; j--)
      days.numbers[i * days.width + COLUMN.forks] = readings.value(j, COLUMN.forks);
  return days;
}

/** A purge is a loss of at least this part of the stars in one step. */
const PURGE_PART = 0.005;

/** A loss is what it is: it counts in full. */
function findPurges(days: Readings): Anomaly[] {
  const purges: Anomaly[] = [];
  for (let i = 1; i < days.length; i++) {
    const [before, after, at] = [days.stars(i - 1), days.stars(i), days.at(i)];
    if (before - after < Math.max(MIN_MOVEMENT, PURGE_PART * before)) continue;
    const reason = `${countText(before - after)} of ${countText(before)} stars fewer in one step`;
    purges.push({ kind: "PURGE", measure: "stars", at, until: at, reason, before, after });
  }
  return purges;
}

/** A return is a jump by this part of the count. REVERTED of the jump is taken back within this many days. */
const JUMP_PART = 0.05;
export const RETURN_DAYS = 10;
/** A step back of at least this part of the jump belongs to the return. */
const STEP_BACK = 0.1;

/** Whether stars that rise by this much within RETURN_DAYS may be back after a fall, of either kind. */
export function mayBeBack(before: number, gained: number): boolean {
  const fallen = 1 - FALLEN_PARTS.stars;
  const isBack = (least: number, part: number) => gained >= REVERTED * Math.max(least, part * before);
  return isBack(MIN_MOVEMENT, JUMP_PART) || isBack(LEAST_DOUBTED * fallen, fallen);
}

/**
 * Finds jumps, up or down, that are reverted, and the readings in between. A jump up is reverted soon after it; a fall may last, as a level
 * that the history already shows is no gain. A step that an earlier one explains begins none of its own.
 */
function findReturns(readings: Readings, days: Readings, measure: "stars" | "forks"): Doubt {
  const column = COLUMN[measure];
  const anomalies: Anomaly[] = [];
  const leftOut = new Set<number>();
  const explained = new Set<number>();
  for (let i = 1; i < days.length; i++) {
    const gained = gainTo(days, i, column);
    const [before, after] = [days.value(i - 1, column), days.value(i, column)];
    if (!(Math.abs(gained) >= Math.max(MIN_MOVEMENT, JUMP_PART * before)) || explained.has(i)) continue;
    const last = indexOfReturn(days, i, column);
    if (last === undefined) continue;
    for (let j = i; j <= last; j++)
      if (j === i || -gainTo(days, j, column) * Math.sign(gained) >= STEP_BACK * Math.abs(gained))
        explained.add(j);
    const jump = { measure, at: days.at(i), before, after };
    anomalies.push(returnOf(jump, { at: days.at(last), count: days.value(last, column) }));
    // Others of the days of the jump and of the return may be in between too.
    for (let j = readings.countBefore(days.at(i - 1) + 1); readings.at(j) < days.at(last); j++) {
      const [at, count] = [readings.at(j), readings.value(j, column)];
      const isNearer = count !== UNKNOWN && Math.abs(count - after) < Math.abs(count - before);
      if (isNearer || (at >= jump.at && at <= days.at(last - 1))) leftOut.add(j);
    }
  }
  return { anomalies, measure, leftOut };
}

/** The gain from one day to the next, at `index`; NaN if either count is unknown. */
function gainTo(days: Readings, index: number, column: number): number {
  const [before, after] = [days.value(index - 1, column), days.value(index, column)];
  return before === UNKNOWN || after === UNKNOWN ? Number.NaN : after - before;
}

/** The day of the step with which most of the jump to the day at `index` is reverted; undefined if that does not happen, or not within days. */
function indexOfReturn(days: Readings, index: number, column: number): number | undefined {
  const after = days.value(index, column);
  const gained = gainTo(days, index, column);
  const isKnown = (day: number) => !Number.isNaN(gainTo(days, day, column));
  const isBackFrom = (count: number, day: number) =>
    (count - days.value(day, column)) * Math.sign(gained) >= REVERTED * Math.abs(gained);
  // The count from which the last days begin.
  let [since, from] = [index + 1, after];
  for (let j = index + 1; j < days.length; j++) {
    if (gained > 0 && days.at(j) - days.at(index) > RETURN_DAYS * DAY_MS) return undefined;
    for (; since < j && days.at(since) < days.at(j) - RETURN_DAYS * DAY_MS; since++)
      if (isKnown(since)) from = days.value(since, column);
    // A fall that small steps have made up for is no return.
    if (isKnown(j) && isBackFrom(after, j)) return isBackFrom(from, j) ? j : undefined;
  }
  return undefined;
}
