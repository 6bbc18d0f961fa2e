import { type Anomaly, COUNT_NAMES, type MeasuredCount, type Reading } from "./anomalies.js";

/** Lower counts are never doubted: a repository with 40 stars may lose a quarter of them. */
const LEAST_LEVEL = 50;
/** A reading at most this part of the last confirmed one waits for a second reading. */
const FALLEN: Readonly<Record<MeasuredCount, number>> = { stars: 0.75, forks: 0.75, openIssues: 0.1 };
/** At most this part: a collapse, which takes two more readings. */
const COLLAPSED = 0.1;
const CONFIRMATIONS = { fall: 1, collapse: 2 };
/** Readings confirm each other if they differ by at most this part. */
const AGREEING = 0.2;
/** A first reading of 0 stars failed if the next one has at least this many. */
const FIRST_LEVEL = 1_000;

/** Readings that are not believed, or not yet. */
export interface Doubt {
  anomalies: Anomaly[];
  /** By index of the reading: whether it is left out of every comparison. */
  doubtful: readonly boolean[];
}

type Counts = Pick<Reading, MeasuredCount>;

interface Fall {
  measure: MeasuredCount;
  before: number;
  after: number;
  /** Further readings that it takes to believe it. */
  confirmations: number;
}

/**
 * Finds readings that fell against the last confirmed one in one of the measures: by a quarter or more in stars or forks, by nine
 * tenths in open issues. They count once enough readings after them agree. Until then the last confirmed reading stands; if the
 * next ones return to it, the reading failed.
 */
export function findDoubt(readings: readonly Reading[], measures: readonly MeasuredCount[]): Doubt {
  const doubtful = readings.map(() => false);
  const anomalies: Anomaly[] = [];
  /** The last confirmed counts; sources differ in what they report. */
  let confirmed: Counts = { stars: 0, forks: null, openIssues: null };
  const first = measures.includes("stars") ? firstCredible(readings, doubtful, anomalies) : 0;
  for (let i = first; i < readings.length; ) {
    const reading = readings[i];
    if (reading === undefined) break;
    const fall = fallOf(confirmed, reading, measures);
    const { length, confirming } = agreeing(readings, i, fall?.measure ?? "stars");
    if (fall === undefined || confirming >= fall.confirmations) {
      const { stars, forks, openIssues } = reading;
      confirmed = { stars, forks: forks ?? confirmed.forks, openIssues: openIssues ?? confirmed.openIssues };
      i++;
      continue;
    }
    const end = i + length;
    const isNewest = end === readings.length;
    for (let j = i; j < end; j++) doubtful[j] = true;
    anomalies.push(anomalyOf(fall, { at: reading.at, until: readings[end - 1]?.at ?? reading.at, isNewest }));
    i = end;
  }
  return { anomalies, doubtful };
}

/** The index of the first reading that may be believed. */
function firstCredible(readings: readonly Reading[], doubtful: boolean[], anomalies: Anomaly[]): number {
  const [first, second] = readings;
  if (first === undefined || second === undefined || first.stars > 0 || second.stars < FIRST_LEVEL) return 0;
  doubtful[0] = true;
  anomalies.push({
    kind: "FAILED_READING",
    measure: "stars",
    at: first.at,
    until: first.at,
    reason: `0 stars before a reading of ${second.stars}: a reading that failed`,
    before: 0,
    after: second.stars,
  });
  return 1;
}

/** The first count that has fallen doubtfully; undefined if all are credible. */
function fallOf(last: Counts, reading: Reading, measures: readonly MeasuredCount[]): Fall | undefined {
  for (const measure of measures) {
    const [before, after] = [last[measure], reading[measure]];
    if (before === null || after === null || before < LEAST_LEVEL || after > FALLEN[measure] * before)
      continue;
    const confirmations = after <= COLLAPSED * before ? CONFIRMATIONS.collapse : CONFIRMATIONS.fall;
    return { measure, before, after, confirmations };
  }
  return undefined;
}

/**
 * The readings from `index` on that do not contradict the one there, itself included, and how many of those after it confirm it:
 * one without the count does neither.
 */
function agreeing(
  readings: readonly Reading[],
  index: number,
  measure: MeasuredCount,
): { length: number; confirming: number } {
  const level = readings[index]?.[measure] ?? 0;
  let [length, confirming] = [1, 0];
  // More than enough to confirm anything; a long history is not read again for each of its readings.
  for (; index + length < readings.length && confirming <= CONFIRMATIONS.collapse; length++) {
    const next = readings[index + length]?.[measure] ?? null;
    if (next === null) continue;
    if (Math.abs(next - level) > Math.max(2, AGREEING * level)) break;
    confirming++;
  }
  return { length, confirming };
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
      ? `from ${before} to ${after} ${name}, which no second reading confirms yet; the reading before it stands`
      : `${after} ${name} between readings of about ${before}: a reading that failed`,
    before,
    after,
  };
}
