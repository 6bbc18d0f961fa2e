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
  type Step,
  stepsOf,
} from "./anomalies.js";

/** Totals that are believed, and why others are not. */
export interface Cleaned {
  /** Without the readings whose stars are not believed. Other counts that are not believed are unknown. */
  believed: Readings;
  /** Oldest first: failed readings, returns, and purges. */
  anomalies: Anomaly[];
}

/**
 * Cleans totals. The verdict on a reading depends on those up to then and on the next ones that confirm or refute it. `peak`: the highest
 * reading before them, if they may be back at its level.
 */
export function clean(totals: Readings, peak: Reading | null): Cleaned {
  if (!hasMoved(totals)) return { believed: totals, anomalies: [] };
  const readings = Array.from({ length: totals.length }, (_, index) => readingAt(totals, index));
  const doubts = MEASURED_COUNTS.map((measure) => findDoubt(readings, measure, peak?.[measure] ?? null));
  const [ofStars, ofForks, ofIssues] = doubts.map(({ doubtful }) => doubtful);
  const confirmed = readings.flatMap((reading, i) => {
    if (ofStars?.[i] === true) return [];
    const { forks, openIssues } = reading;
    return [
      { ...reading, forks: ofForks?.[i] ? null : forks, openIssues: ofIssues?.[i] ? null : openIssues },
    ];
  });
  const steps = stepsOf(lastOfDays(confirmed));
  const [starReturns, forkReturns] = [findReturns(steps, "stars"), findReturns(steps, "forks")];
  const believed = confirmed.flatMap((reading) => {
    if (isWithin(starReturns, reading, "stars")) return [];
    return [isWithin(forkReturns, reading, "forks") ? { ...reading, forks: null } : reading];
  });
  const returns = [...starReturns, ...forkReturns].map(({ anomaly }) => anomaly);
  const anomalies = [...doubts.flatMap((doubt) => doubt.anomalies), ...returns, ...findPurges(believed)];
  return { believed: readingsOf(believed), anomalies: anomalies.sort((a, b) => a.at - b.at) };
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
export function hasMoved(readings: Readings): boolean {
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

/** Readings that are not believed, or not yet. */
export interface Doubt {
  anomalies: Anomaly[];
  /** By index of the reading: whether it is left out of every comparison. */
  doubtful: readonly boolean[];
}

interface Fall {
  measure: MeasuredCount;
  before: number;
  after: number;
  /** Whether earlier readings have confirmed it. */
  isOld: boolean;
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
 * long that takes. `earlier`: a count long before the readings, to which they may be back; null: unknown.
 */
export function findDoubt(
  readings: readonly Reading[],
  measure: MeasuredCount,
  earlier: number | null,
): Doubt {
  const doubtful = readings.map(() => false);
  const anomalies: Anomaly[] = [];
  let confirmed: number | null = null;
  /** The index of the last reading that counts; -1: none. */
  let last = -1;
  const first = measure === "stars" ? firstCredible(readings, doubtful, anomalies) : 0;
  for (let i = first; i < readings.length; ) {
    const [reading, after] = [readings[i], readings[i]?.[measure] ?? null];
    // Sources differ in what they report.
    if (reading === undefined || after === null) {
      i++;
      continue;
    }
    const fall = { measure, before: confirmed ?? earlier ?? 0, after, isOld: confirmed === null };
    const doubted = isFall(fall)
      ? endOfDoubt(readings, i, fall)
      : { end: measure === "stars" ? endOfRise(readings, last, i) : i, isConfirmed: false };
    const { end, isConfirmed }: { end: number; isConfirmed: boolean } = doubted;
    if (end === i) {
      confirmed = after;
      last = i;
      i++;
      continue;
    }
    for (let j = i; j < end; j++) doubtful[j] = true;
    const back = readings[end];
    anomalies.push(
      isConfirmed && back !== undefined
        ? returnOf({ ...fall, at: reading.at }, { at: back.at, count: back[measure] ?? after })
        : anomalyOf(fall, {
            at: reading.at,
            until: readings[end - 1]?.at ?? reading.at,
            isNewest: back === undefined,
          }),
    );
    i = end;
  }
  return { anomalies, doubtful };
}

/** Whether the newest of these readings is not believed, or not yet. */
export function isNewestDoubted(readings: readonly Reading[]): boolean {
  return MEASURED_COUNTS.some((measure) => findDoubt(readings, measure, null).doubtful.at(-1) === true);
}

/** The index of the first reading that may be believed: a zero before a large count is a failed reading. */
function firstCredible(readings: readonly Reading[], doubtful: boolean[], anomalies: Anomaly[]): number {
  const first = readings.findIndex(({ stars }) => stars > 0);
  const [zero, last, level] = [readings[0], readings[first - 1], readings[first]?.stars ?? 0];
  if (zero === undefined || last === undefined || level < FIRST_LEVEL) return 0;
  for (let i = 0; i < first; i++) doubtful[i] = true;
  anomalies.push({
    kind: "FAILED_READING",
    measure: "stars",
    at: zero.at,
    until: last.at,
    reason: `0 stars before a reading of ${countText(level)}: a failed reading`,
    before: 0,
    after: level,
  });
  return first;
}

function isFall({ measure, before, after }: Fall): boolean {
  const least = measure !== "openIssues" && after <= COLLAPSED * before ? LEAST_COLLAPSED : LEAST_DOUBTED;
  return before >= least && after <= FALLEN_PARTS[measure] * before;
}

/**
 * The index after the readings in doubt from `index` on, which is `index` itself for a fall that counts; and whether enough
 * readings have confirmed the fall.
 */
function endOfDoubt(
  readings: readonly Reading[],
  index: number,
  { measure, before, after, isOld }: Fall,
): { end: number; isConfirmed: boolean } {
  const needed = after <= COLLAPSED * before ? CONFIRMATIONS.collapse : CONFIRMATIONS.fall;
  const most = after + Math.max(2, AGREEING * after);
  let confirming = isOld ? needed : 0;
  let last = after;
  for (let end = index + 1; end < readings.length; end++) {
    const next = readings[end]?.[measure] ?? null;
    if (next === null) continue;
    const isConfirmed = confirming >= needed;
    // It has grown back.
    if (isConfirmed && last > FALLEN_PARTS[measure] * before) break;
    if (isConfirmed ? next - last >= REVERTED * (before - last) : next > most) return { end, isConfirmed };
    // A further fall confirms the fall.
    confirming++;
    last = next;
  }
  const isConfirmed = confirming >= needed;
  return { end: isConfirmed ? index : readings.length, isConfirmed };
}

/** The index after a reading that leaps from the one at `before`; `index` itself if it does not, or the next one has not gone back. */
function endOfRise(readings: readonly Reading[], before: number, index: number): number {
  const [from, to, next] = [readings[before], readings[index], readings[index + 1]];
  if (from === undefined || to === undefined || to.source === "BACKFILLED") return index;
  if (to.at - from.at > RISEN_WITHIN_MS || !isRise(from, to)) return index;
  const isBack = next === undefined || to.stars - next.stars >= REVERTED * (to.stars - from.stars);
  return isBack ? index + 1 : index;
}

function anomalyOf(
  { measure, before, after }: Fall,
  { at, until, isNewest }: { at: number; until: number; isNewest: boolean },
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
 * The last reading of each day (UTC), as hours differ too much from each other to be judged. A count that it does not have is
 * that of an earlier reading of the day: sources differ in what they report.
 */
export function lastOfDays(readings: readonly Reading[]): Reading[] {
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

/** A purge is a loss of at least this part of the stars in one step. */
const PURGE_PART = 0.005;

/** A loss is what it is: it counts in full. */
function findPurges(believed: readonly Reading[]): Anomaly[] {
  return stepsOf(lastOfDays(believed)).flatMap(({ from, to, gained }): Anomaly[] => {
    if (-gained < Math.max(MIN_MOVEMENT, PURGE_PART * from.stars)) return [];
    const reason = `${countText(-gained)} of ${countText(from.stars)} stars fewer in one step`;
    const moved = { at: to.at, until: to.at, reason, before: from.stars, after: to.stars };
    return [{ kind: "PURGE", measure: "stars", ...moved }];
  });
}

/** A return is a jump by this part of the count. REVERTED of the jump is taken back within this many days. */
const JUMP_PART = 0.05;
const RETURN_DAYS = 10;
/** A step back of at least this part of the jump belongs to the return. */
const STEP_BACK = 0.1;

/** A known count before and after a step. */
interface Move {
  since: number;
  at: number;
  before: number;
  after: number;
}

/** A jump that was reverted. */
interface Return {
  anomaly: Anomaly;
  jump: Move;
  back: Move;
}

/**
 * Finds jumps, up or down, that are reverted. A jump up is reverted soon after it; a fall may last, as a level that the history already
 * shows is no gain. A step that an earlier one explains begins none of its own.
 */
function findReturns(steps: readonly Step[], measure: MeasuredCount): Return[] {
  const moves = steps.map(({ from, to }): Move | undefined => {
    const [before, after] = [from[measure], to[measure]];
    return before === null || after === null ? undefined : { since: from.at, at: to.at, before, after };
  });
  const returns: Return[] = [];
  const explained = new Set<number>();
  for (const [i, jump] of moves.entries()) {
    if (jump === undefined || explained.has(i)) continue;
    const gained = jump.after - jump.before;
    if (Math.abs(gained) < Math.max(MIN_MOVEMENT, JUMP_PART * jump.before)) continue;
    const last = indexOfReturn(moves, i);
    const back = last === undefined ? undefined : moves[last];
    if (last === undefined || back === undefined) continue;
    returns.push({ anomaly: returnOf({ measure, ...jump }, { at: back.at, count: back.after }), jump, back });
    for (let j = i; j <= last; j++) {
      const { before, after } = moves[j] ?? { before: 0, after: 0 };
      if (j === i || (before - after) * Math.sign(gained) >= STEP_BACK * Math.abs(gained)) explained.add(j);
    }
  }
  return returns;
}

/** Whether a reading is one of those between a jump and its return. Others of the same days may be. */
function isWithin(returns: readonly Return[], reading: Reading, measure: "stars" | "forks"): boolean {
  return returns.some(({ jump, back }) => {
    if (reading.at <= jump.since || reading.at >= back.at) return false;
    if (reading.at >= jump.at && reading.at <= back.since) return true;
    const count = reading[measure];
    return count !== null && Math.abs(count - jump.after) < Math.abs(count - jump.before);
  });
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
