import { DAY_MS } from "../lib/clock.js";
import {
  type Anomaly,
  COUNT_NAMES,
  countText,
  MEASURED_COUNTS,
  type MeasuredCount,
  REVERTED,
  type Reading,
  returnOf,
} from "./anomalies.js";

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
    // What falls further confirms the fall.
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
