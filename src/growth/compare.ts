import { DAY_MS } from "../lib/clock.js";
import { byBasis, isRecent, type Readings, type Recency, windowStart } from "../repositories/repositories.js";
import { type Anomaly, difference, MIN_MOVEMENT, type Reading, type Step } from "./anomalies.js";
import { WINDOWS, type Window, windowMs } from "./definitions.js";
import { FALLEN_PARTS, LEAST_COLLAPSED, LEAST_DOUBTED } from "./doubt.js";
import { type History, readingAt } from "./history.js";
import { believed, type Judgement, judge } from "./judge.js";
import { usualStarsBefore } from "./usual.js";

/** The stars gained before our first total, by the star history of the forge. */
interface HeldPart {
  /** The last reading of the history in the window, and the first total after it. */
  until: number;
  totalsFrom: number;
  starsDelta: number;
}

/** How a repository has grown in one window: the two snapshots compared, and the anomalies between them. */
export interface Growth {
  window: Window;
  from: Reading;
  to: Reading;
  starsDelta: number;
  /** The part of the stars that is still held, if `to` is a total and `from` is none; otherwise null. */
  held: HeldPart | null;
  /** Snapshots from `from` to `to`, both included. */
  snapshots: number;
  /** The part of the deltas that counts; null: unknown. */
  starsCounted: number;
  forksCounted: number | null;
  /** Stars gained on a usual day before `from`; null: unknown. */
  usualPerDay: number | null;
  /** Where its youth counts from, if it seems new and its date of creation is unknown. */
  firstSeenAt: number | null;
  anomalies: Anomaly[];
  /** Whether it holds an unusual gain that is no anomaly, but not yet supported by forks. */
  isPending: boolean;
}

/**
 * Compares the newest confirmed snapshot of a repository, at which its windows end, with the one nearest to a window before. Only
 * counts of one basis are subtracted: a window that begins before the first total adds the stars gained in the star history until
 * then, and the difference of totals from then on. There is no trend if the newest reading is not recent, or the newest confirmed one
 * is half a window older than it.
 */
export function growthOf(history: History, recency: Recency): Growth[] {
  const { readings, peak } = history;
  const { TOTAL: totals, RETAINED: retained } = byBasis(readings);
  const whole = judged(totals, peak);
  // Readings of the star history after the first total add nothing.
  const firstTotal = whole.credible.at(0);
  const earlier = Number.isNaN(firstTotal) ? retained : retained.slice(0, retained.countBefore(firstTotal));
  const held = judged(earlier, null);
  const last = whole.credible.length > 0 ? whole : held;
  const newestAt = readings.at(readings.length - 1);
  if (last.credible.length === 0) return [];
  const to = last.read(last.credible.length - 1);
  const firstSeenAt = firstSeen(history, recency);
  return WINDOWS.flatMap((window): Growth[] => {
    const length = windowMs(window);
    if (newestAt - to.at > length / 2 || !isRecent({ ...history, at: newestAt }, recency, length / 2))
      return [];
    const start = windowStart(whole.credible, held.credible, { target: to.at - length, to: to.at });
    if (start === undefined) return [];
    const part = { to, firstSeenAt, window };
    if (start.basis === "TOTAL")
      return [
        {
          ...part,
          ...gainOf(whole, start.index, to),
          held: null,
          usualPerDay: usualStarsBefore(whole.credible, start.index),
        },
      ];
    const past = held.read(held.credible.length - 1);
    const before = gainOf(held, start.index, past);
    if (last === held) return [{ ...part, ...before, held: null, usualPerDay: null }];
    const after = gainOf(whole, 0, to);
    return [
      {
        ...part,
        from: before.from,
        starsDelta: before.starsDelta + after.starsDelta,
        held: { until: past.at, totalsFrom: after.from.at, starsDelta: before.starsDelta },
        snapshots: before.snapshots + after.snapshots,
        starsCounted: before.starsCounted + after.starsCounted,
        forksCounted: null,
        usualPerDay: null,
        anomalies: [...before.anomalies, ...after.anomalies],
        isPending: before.isPending || after.isPending,
      },
    ];
  });
}

/** Readings of one basis that may be compared. */
interface Judged {
  /** Those that are not in doubt. */
  credible: Readings;
  judgement: Judgement | undefined;
  /** One of them; other counts of it that are in doubt are unknown. */
  read(index: number): Reading;
}

function judged(readings: Readings, peak: Reading | null): Judged {
  const judgement = mayHaveAnomalies(readings) ? judge(allOf(readings), peak) : undefined;
  const credible = judgement === undefined ? readings : readings.only((i) => judgement.doubtful[i] !== true);
  return {
    credible,
    judgement,
    read(index) {
      const reading = readingAt(credible, index);
      return judgement === undefined ? reading : believed(reading, judgement.unbelieved);
    },
  };
}

/** The gains from a credible reading to the last one, and their anomalies. */
function gainOf(
  { credible, judgement, read }: Judged,
  index: number,
  to: Reading,
): Pick<
  Growth,
  "from" | "starsDelta" | "snapshots" | "starsCounted" | "forksCounted" | "anomalies" | "isPending"
> {
  const from = read(index);
  const starsDelta = to.stars - from.stars;
  const forksDelta = difference(to.forks, from.forks);
  const doubted = doubtedBetween(judgement, from, to);
  return {
    from,
    starsDelta,
    snapshots: credible.length - index,
    starsCounted: countedOf(starsDelta, doubted.stars),
    forksCounted: forksDelta === null ? null : countedOf(forksDelta, doubted.forks),
    anomalies: judgement?.anomalies.filter(({ until: end }) => end > from.at) ?? [],
    isPending: judgement?.pending.some((end) => end > from.at) ?? false,
  };
}

/** Repositories that were first seen longer ago than this are not new. */
const NEW_MS = 90 * DAY_MS;
/** What a source shows in this time after its first data need not be new. */
const SETTLED_MS = 7 * DAY_MS;

/**
 * When a repository of unknown age was first seen by any source, if that was recently; null otherwise, and if a source began in the
 * week before, as everything is seen for the first time then.
 */
function firstSeen(
  { readings, createdAt, discoveredAt, provider }: History,
  { since, firstFiles }: Recency,
): number | null {
  if (createdAt !== null || readings.at(readings.length - 1) - discoveredAt >= NEW_MS) return null;
  const begun = [since.get(provider) ?? discoveredAt, ...firstFiles];
  const isSettled = begun.every((at) => discoveredAt < at || discoveredAt >= at + SETTLED_MS);
  return isSettled ? discoveredAt : null;
}

/** The part of a delta that counts: never more than was gained. */
function countedOf(delta: number, doubted: number): number {
  return Math.min(Math.max(0, delta), Math.round(delta - doubted));
}

/** The gains between two readings that do not count. */
function doubtedBetween(
  judgement: Judgement | undefined,
  from: Reading,
  to: Reading,
): { stars: number; forks: number } {
  const sum = { stars: 0, forks: 0 };
  for (const { step, stars, forks } of judgement?.uncounted ?? []) {
    if (step.to.at <= from.at || step.to.at > to.at) continue;
    const part = step.from.at < from.at ? partAfter(step, from) : 1;
    sum.stars += part * stars;
    sum.forks += part * forks;
  }
  return { stars: sum.stars, forks: Math.round(sum.forks) };
}

/** The part of the gain of a step that came after a reading within it. */
function partAfter({ to, gained }: Step, reading: Reading): number {
  return gained === 0 ? 0 : Math.min(1, Math.max(0, (to.stars - reading.stars) / gained));
}

function allOf(readings: Readings): Reading[] {
  return Array.from({ length: readings.length }, (_, index) => readingAt(readings, index));
}

/** Whether the counts have moved enough for an anomaly. Few repositories have, which saves looking closer. */
function mayHaveAnomalies(readings: Readings): boolean {
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
