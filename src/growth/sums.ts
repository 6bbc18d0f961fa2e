/**
 * The counts of several repositories, summed over time: of a list, or of a language or topic. All points of a sum are of the same
 * repositories, those that are known at both of its ends and those created in between, from 0. So no step of it is one that joins.
 */
import type { Database } from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";
import {
  isRecent,
  median,
  type Recency,
  type Repository,
  readSnapshotRanges,
} from "../repositories/repositories.js";
import { windowMs } from "./definitions.js";
import { COUNTS, countsOver } from "./gains.js";
import { HISTORY_MS } from "./history.js";
import { readSeveralSeries } from "./reader.js";

export interface SumPoint {
  at: number;
  stars: number;
  /** null if one of the repositories has an unknown count. */
  forks: number | null;
  openIssues: number | null;
  watchers: number | null;
}

export interface Sum {
  /** Oldest first, `stepDays` apart, up to the median of the newest counts. Each repository ends with its own newest count. */
  points: SumPoint[];
  stepDays: number;
  /** Repositories requested, and how many of them are summed. */
  repositories: number;
  measured: number;
}

/** Days between points: the fewest that give at most MAX_POINTS points, and MAX_COUNTS counts of all repositories. */
const STEPS = [1, 3, 7, 14, 30, 61];
const MAX_POINTS = 400;
const MAX_COUNTS = 15_000;

/** For longer spans, whole histories are read. */
const RECENT_MS = windowMs("30d");

/** A sum begins when this part of the repositories with recent counts is known; of fewer than ten, all but one. */
const KNOWN_PART = 0.8;
const FEW = 10;

/** What is read of a repository to sum its counts. */
type Summed = Pick<
  Repository,
  "id" | "provider" | "createdAt" | "importSource" | "refreshInterval" | "nextRefreshAt"
>;

/**
 * Sums the counts of repositories over the time until their newest ones: `lengthMs`, or all of it; shorter if too few are known for so
 * long. Costs the decoding of their snapshots, some repositories in each turn of the event loop.
 */
export async function sumCounts(
  database: Database,
  repositories: readonly Summed[],
  { recency, lengthMs = Number.POSITIVE_INFINITY }: { recency: Recency; lengthMs?: number | undefined },
): Promise<Sum> {
  const known = await readKnown(database, repositories, recency);
  const { stepDays, steps } = spanOf([...known.values()], lengthMs);
  const stepMs = stepDays * DAY_MS;
  const length = steps * stepMs;
  const sums = new Float64Array((steps + 1) * COUNTS.length);
  const ends: number[] = [];
  const summed = [...known].filter(([, one]) => isKnown(one, length, stepMs)).map(([id]) => id);
  const recentMs = length <= RECENT_MS ? HISTORY_MS : undefined;
  for await (const [, { series }] of readSeveralSeries(database, summed, recentMs)) {
    const countsAt = countsOver(series, length);
    if (countsAt === undefined) continue;
    const end = series.points.at(series.points.length - 1);
    ends.push(end);
    for (let i = 0; i < sums.length; i++) {
      const step = Math.floor(i / COUNTS.length);
      const count = countsAt(end - (steps - step) * stepMs, i % COUNTS.length);
      sums[i] = (sums[i] ?? 0) + (count === null ? Number.NaN : Math.round(count));
    }
  }
  const end = Math.round(median(ends));
  const points = Array.from({ length: ends.length === 0 ? 0 : steps + 1 }, (_, step): SumPoint => {
    const [stars = 0, ...others] = sums.subarray(step * COUNTS.length, (step + 1) * COUNTS.length);
    const [forks = null, openIssues = null, watchers = null] = others.map((sum) =>
      Number.isNaN(sum) ? null : sum,
    );
    return { at: end - (steps - step) * stepMs, stars, forks, openIssues, watchers };
  });
  return { points, stepDays, repositories: repositories.length, measured: ends.length };
}

/** Since when a repository is known, up to when, and its creation. */
interface Known {
  firstAt: number;
  lastAt: number;
  createdAt: number | null;
}

/** Those of the repositories whose newest counts are recent. */
async function readKnown(
  { slowReads: { read }, dialect }: Database,
  repositories: readonly Summed[],
  recency: Recency,
): Promise<Map<number, Known>> {
  if (repositories.length === 0) return new Map();
  const ids = repositories.map(({ id }) => id);
  const ranges = await readSnapshotRanges(read, dialect, ids);
  return new Map(
    repositories.flatMap((one): [number, Known][] => {
      const { firstSnapshotAt: firstAt = null, lastSnapshotAt: lastAt = null } = ranges.get(one.id) ?? {};
      return firstAt !== null && lastAt !== null && isRecent({ ...one, at: lastAt }, recency)
        ? [[one.id, { firstAt, lastAt, createdAt: one.createdAt }]]
        : [];
    }),
  );
}

/** Whether a repository is known so long before its newest counts, give or take half a step, or was created since. */
function isKnown({ firstAt, lastAt, createdAt }: Known, length: number, stepMs: number): boolean {
  const start = lastAt - length;
  return firstAt <= start + stepMs / 2 || (createdAt !== null && createdAt >= start - stepMs / 2);
}

/** The longest span over which enough of the repositories are known, in steps. */
function spanOf(known: readonly Known[], lengthMs: number): { stepDays: number; steps: number } {
  const oldest = Math.max(0, ...known.map(({ firstAt, lastAt }) => lastAt - firstAt));
  const days = Math.floor(Math.min(lengthMs, oldest + DAY_MS / 2) / DAY_MS);
  const fits = (step: number) => days / step <= Math.min(MAX_POINTS, MAX_COUNTS / known.length);
  const stepDays = STEPS.find(fits) ?? Math.max(...STEPS);
  const needed = known.length < FEW ? Math.max(1, known.length - 1) : Math.ceil(KNOWN_PART * known.length);
  for (let steps = Math.floor(days / stepDays); steps > 0; steps--) {
    const [length, stepMs] = [steps * stepDays * DAY_MS, stepDays * DAY_MS];
    if (known.filter((one) => isKnown(one, length, stepMs)).length >= needed) return { stepDays, steps };
  }
  return { stepDays, steps: 0 };
}
