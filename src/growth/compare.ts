import { DAY_MS } from "../lib/clock.js";
import {
  type Basis,
  byBasis,
  type Readings,
  type Recency,
  recentUntil,
  trendStart,
} from "../repositories/repositories.js";
import { type Anomaly, difference, MIN_MOVEMENT, type Reading, type Step } from "./anomalies.js";
import { WINDOWS, type Window, windowMs } from "./definitions.js";
import { FALLEN_PARTS, LEAST_COLLAPSED, LEAST_DOUBTED } from "./doubt.js";
import { type History, readingAt } from "./history.js";
import { believed, type Judgement, judge } from "./judge.js";
import { usualStarsBefore } from "./usual.js";

/** How a repository has grown in one window: the two snapshots compared, and the anomalies between them. */
export interface Growth {
  window: Window;
  from: Reading;
  to: Reading;
  /** Snapshots from `from` to `to`, both included. */
  snapshots: number;
  /** The part of the deltas that counts; null: unknown. */
  starsCounted: number;
  forksCounted: number | null;
  /** Stars gained on a usual day before `from`; null: unknown. */
  usualPerDay: number | null;
  /** Until when it counts: it leaves all rankings once the provider's newest snapshot is later. */
  freshUntil: number;
  /** Where its youth counts from, if it seems new and its date of creation is unknown. */
  firstSeenAt: number | null;
  anomalies: Anomaly[];
  /** Whether it holds an unusual gain that is no anomaly, but not yet supported by forks. */
  isPending: boolean;
}

/** The growth of a history, with its readings as judged. */
interface Grown {
  /** One for each window in which the repository has a trend. */
  growth: Growth[];
  /** The readings that are totals. */
  totals: Readings;
  /** Times at which these gained far beyond the usual with little to match. */
  jumps: readonly number[];
}

/** The growth of a repository in each window in which it has a trend; see `grow`. */
export function growthOf(history: History, recency: Recency): Growth[] {
  return grow(history, recency).growth;
}

/**
 * Compares snapshots, both of the same basis: totals, or counts of stars still held in a window without two totals to compare. All
 * windows end at the provider's newest snapshot: a repository has no trend in a window if its own newest confirmed snapshot of that
 * basis is too old for it (LASTING), or its newest one of all no longer recent. Doubtful readings are never compared.
 */
export function grow(history: History, recency: Recency): Grown {
  const { readings } = history;
  const { TOTAL: totals, RETAINED: retained } = byBasis(readings);
  const newest = readingAt(readings, readings.length - 1);
  const recent: Recent = {
    asOf: recency.asOf.get(history.provider) ?? 0,
    until: recentUntil({ ...history, at: newest.at, source: newest.source }, recency),
    firstSeenAt: firstSeen(history, recency),
  };
  const { growth, jumps } = compare(totals, WINDOWS, { ...recent, basis: "TOTAL", peak: history.peak });
  if (retained.length === 0 || growth.length === WINDOWS.length) return { growth, totals, jumps };
  const missing = WINDOWS.filter((window) => growth.every((one) => one.window !== window));
  const later = compare(retained, missing, { ...recent, basis: "RETAINED", peak: null }).growth;
  return { growth: [...growth, ...later], totals, jumps };
}

/**
 * The part of a window for which the newest snapshot of a basis is recent. Stars still held end with our first total, and two
 * totals far enough apart to be compared take half a window and the time until the next reading.
 */
const LASTING = { TOTAL: 0.5, RETAINED: 1 } as const;

/** The facts about a history and its provider that decide whether growth counts. */
interface Recent {
  /** The provider's newest snapshot. */
  asOf: number;
  /** Until when the repository's newest snapshot is recent. */
  until: number;
  firstSeenAt: number | null;
}

/** Growth between readings of one basis. */
function compare(
  readings: Readings,
  windows: readonly Window[],
  { asOf, until, firstSeenAt, basis, peak }: Recent & { basis: Basis; peak: Reading | null },
): Omit<Grown, "totals"> {
  const judgement = mayHaveAnomalies(readings) ? judge(allOf(readings), peak) : undefined;
  const credible = judgement === undefined ? readings : readings.only((i) => judgement.doubtful[i] !== true);
  const jumps = judgement?.jumps ?? [];
  if (credible.length === 0) return { growth: [], jumps };
  // Other counts in doubt are unknown.
  const believedAt = (index: number): Reading => {
    const reading = readingAt(credible, index);
    return judgement === undefined ? reading : believed(reading, judgement.unbelieved);
  };
  const to = believedAt(credible.length - 1);
  const growth = windows.flatMap((window): Growth[] => {
    const length = windowMs(window);
    const freshUntil = Math.min(until, to.at + LASTING[basis] * length);
    if (freshUntil < asOf) return [];
    const index = trendStart(credible, length);
    if (index === undefined) return [];
    const from = believedAt(index);
    const starsDelta = to.stars - from.stars;
    const forksDelta = difference(to.forks, from.forks);
    const doubted = doubtedBetween(judgement, from, to);
    return [
      {
        window,
        from,
        to,
        snapshots: credible.length - index,
        starsCounted: countedOf(starsDelta, doubted.stars),
        forksCounted: forksDelta === null ? null : countedOf(forksDelta, doubted.forks),
        usualPerDay: basis === "TOTAL" ? usualStarsBefore(credible, index) : null,
        freshUntil,
        firstSeenAt,
        anomalies: judgement?.anomalies.filter(({ until: end }) => end > from.at) ?? [],
        isPending: judgement?.pending.some((end) => end > from.at) ?? false,
      },
    ];
  });
  return { growth, jumps };
}

/** A repository seen first with fewer stars than this may be new. */
const FEW_STARS = 2_000;
/** A source must have been read for this long before what it shows for the first time can be new. */
const SETTLED_MS = 7 * DAY_MS;

/**
 * When a repository of unknown age was first seen, if that was recently and with few stars; null otherwise, as in the first days
 * of a source, when everything is seen for the first time.
 */
function firstSeen(
  { readings, createdAt, discoveredAt, provider }: History,
  { since }: Recency,
): number | null {
  if (createdAt !== null || readings.at(0) > discoveredAt + DAY_MS || firstStars(readings) >= FEW_STARS)
    return null;
  return discoveredAt >= (since.get(provider) ?? discoveredAt) + SETTLED_MS ? discoveredAt : null;
}

/** The first stars above 0: zeros before FEW_STARS or more are readings that failed (see doubt.ts). */
function firstStars(readings: Readings): number {
  let first = 0;
  while (first < readings.length - 1 && readings.stars(first) === 0) first++;
  return readings.stars(first);
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
