/**
 * Tracking: finds new and changed repositories on the forges and records them, on a schedule that follows how active each
 * repository is. Runs only in workers and commands, never within an HTTP request. `providers` talks to the forges; `catalog`
 * decides how observations are stored.
 */

import type { Database } from "../database/database.js";
import { type Found, isTemporary, type Provider, UpstreamFailure } from "../forges/forges.js";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { cursorOf, type HistoryCursor } from "../repositories/repositories.js";
import { Stretch } from "./cadence.js";
import type { Lane, TrackingModules } from "./lane.js";
import type { WorkerLease } from "./lease.js";
import type { Outcome } from "./outcomes.js";
import { Recorder } from "./recorder.js";
import { RefreshLane } from "./refresh-lane.js";
import { Reporter } from "./report.js";
import { enroll, readTracked, saveTracked, type Tracked } from "./schedule.js";
import {
  hasUnreadHistory,
  MAX_HISTORY_PAGES,
  postponeHistory,
  recordHistoryPage,
  retryLater,
} from "./star-history.js";

export { Avatars } from "./avatars.js";
export { WorkerLease } from "./lease.js";
export { addTracking } from "./metrics.js";
export { type Plan, type PlannedWork, readPlan } from "./plan.js";
export type { Reporter } from "./report.js";
export {
  type Candidate,
  type ForgeAnswer,
  failureOf as trackFailureOf,
  type Question,
  TRACK_FAILURES,
  TRACK_STATES,
  type TrackList,
  type TrackRequest,
} from "./requests/request.js";
export { type AskOutcome, type Requester, type TrackPolicy, TrackRequests } from "./requests/requests.js";
export { MAX_BATCH_OPEN, readOpenRequests } from "./requests/wanted.js";
export { refusalOf } from "./star-history.js";
export {
  type Ages,
  missingHistories,
  type PreparedStatus,
  type ProviderStatus,
  readPreparedStatus,
  readReports,
  readStatus,
  reportQuota,
} from "./status.js";
export { findAny, type Holding, readHolding, untrack } from "./untrack.js";
export { Worker } from "./worker.js";

/** The needs of a request to one forge outside of a worker. */
export interface TrackingContext {
  modules: TrackingModules;
  /** Must be held. */
  lease: WorkerLease;
  provider: Provider;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
}

const laneOf = (context: TrackingContext): Lane => ({
  ...context,
  reporter: new Reporter(context.clock.now()),
  stretch: new Stretch(),
  failedHistories: new Set(),
  chance: Math.random,
});

/** Looks up a repository by name, records it and puts it on the schedule. Throws UpstreamFailure. */
export async function track(
  context: TrackingContext,
  fullName: string,
): Promise<{ repositoryId: number; isNew: boolean }> {
  const { provider, clock, signal, lease } = context;
  const found = await provider.refreshOne(fullName, signal);
  const recorder = new Recorder(laneOf(context));
  const recorded = await lease.write((tx) =>
    recorder.recordNamed(tx, found, { at: clock.now(), requested: fullName }),
  );
  if (recorded === undefined) throw new UpstreamFailure("gone", `${fullName} is hidden here`);
  return recorded;
}

/** Refreshes a known repository now. Records the result, then throws it if it is an UpstreamFailure. */
export async function refreshNow(context: TrackingContext, repositoryId: number): Promise<Found["kind"]> {
  const result = (await refreshTogether(context, [repositoryId])).get(repositoryId);
  if (result === undefined) throw new UpstreamFailure("malformed", "the response does not include it");
  if (result.kind === "failed") throw result.failure;
  return result.kind;
}

/** Refreshes at most `batchSize` repositories. One that took too long has no result. Throws UpstreamFailure if all failed. */
export async function refreshTogether(
  context: TrackingContext,
  ids: readonly number[],
): Promise<Map<number, Outcome["result"]>> {
  const { read, dialect } = context.modules.database;
  const lane = laneOf(context);
  // Without an ETag the whole record is requested.
  const batch = (await readTracked(read, dialect, { ids })).map((row) => ({ ...row, etag: null }));
  const outcomes = await new RefreshLane(lane).request(batch);
  await new Recorder(lane).record(outcomes);
  return new Map(outcomes.map(({ asked, result }) => [asked.repositoryId, result]));
}

/** Facts about the repositories of a forge besides the catalogue, by the forge's other id of each. It only saves requests. */
export interface KnownOfForge {
  /** With them, GitHub sends a hundred by one request. */
  nodeIds: Readonly<Record<string, string>>;
  /** How far the star histories were read. */
  cursors: Readonly<Record<string, HistoryCursor | "WHOLE">>;
}

/**
 * Schedules all imported repositories of a forge, so that they are refreshed and their histories read, except those that are `whole`, by
 * the forge's ids.
 */
export async function enrollImported(
  context: TrackingContext,
  { nodeIds, cursors }: KnownOfForge,
  whole: ReadonlySet<string>,
): Promise<void> {
  const { modules, lease, provider, clock } = context;
  const { database } = modules;
  await enroll({ lease, database }, provider, { now: clock.now(), spreadMs: 0, limit: MAX_ENROLLED });
  const historyOf = (providerId: string) => {
    const cursor = whole.has(providerId) ? "WHOLE" : cursors[providerId];
    if (cursor === "WHOLE") return { historyDue: null, historyCursor: "" };
    return cursor === undefined ? {} : { historyCursor: JSON.stringify(cursor) };
  };
  await lease.write(async (tx) => {
    const providerIds = [...new Set([...Object.keys(nodeIds), ...Object.keys(cursors), ...whole])];
    const rows = await readTracked(tx, database.dialect, { provider: provider.name, providerIds });
    const known = rows.flatMap(({ providerId, ...row }) =>
      providerId === null
        ? []
        : { ...row, providerId, nodeId: nodeIds[providerId] ?? null, ...historyOf(providerId) },
    );
    await saveTracked(tx, database.dialect, known);
  });
}

/** The present facts of all repositories of a forge. */
export async function readKnown(
  { modules: { database } }: TrackingContext,
  ids: readonly number[],
): Promise<KnownOfForge> {
  const rows = await readTracked(database.read, database.dialect, { ids });
  const byId = <T>(known: (row: Tracked) => T | false | null | undefined): Record<string, T> =>
    Object.fromEntries(
      rows
        .flatMap((row): [string, T][] => {
          const value = known(row);
          return row.providerId && value ? [[row.providerId, value]] : [];
        })
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  return {
    nodeIds: byId(({ nodeId }) => nodeId),
    cursors: byId(({ historyDue, historyCursor }) =>
      historyDue === null ? historyCursor !== null && ("WHOLE" as const) : cursorOf(historyCursor),
    ),
  };
}

const MAX_ENROLLED = 100_000;

/** The public repositories of an owner with the most stars, at most 100. Throws UpstreamFailure. */
export async function listOwner(
  { provider, signal }: TrackingContext,
  owner: string,
): Promise<{ provider: string; fullName: string }[]> {
  const { repositories } = await provider.seek({ owner }, signal);
  return repositories.map((one) => ({ provider: provider.name, fullName: `${one.owner}/${one.name}` }));
}

/** The text of a repository's README. Throws UpstreamFailure. */
export function readReadme({ provider, signal }: TrackingContext, fullName: string): Promise<string> {
  return provider.readme(fullName, signal);
}

/** Reads the missing part of a star history, page by page. Throws UpstreamFailure; it and the pages before it are recorded. */
export async function completeHistory(context: TrackingContext, repositoryId: number): Promise<void> {
  const { read, dialect } = context.modules.database;
  const lane = laneOf(context);
  for (let pages = 0; pages < MAX_HISTORY_PAGES; pages++) {
    const [row] = await readTracked(read, dialect, { ids: [repositoryId] });
    if (row === undefined || !hasUnreadHistory(row)) return;
    const page = await recordHistoryPage(lane, row).catch(async (error: unknown) => {
      // Without one, nothing of it is missing.
      const hasNone = error instanceof UpstreamFailure && error.kind === "gone";
      if (hasNone && row.historyCursor === null) await postponeHistory(lane, row, null);
      else if (error instanceof UpstreamFailure && !isTemporary(error.kind))
        await retryLater(lane, row, error);
      throw error;
    });
    if (page.kind !== "recorded" || !page.hasMore) return;
  }
}

/** Makes a repository due now. Returns a function that reads its failures in a row once that is done; undefined before. */
export async function makeDue(
  { dialect, write, read }: Database,
  repositoryId: number,
  now: number,
): Promise<() => Promise<number | undefined>> {
  const ids = [repositoryId];
  await dialect.exclusively(write, "catalogue", async (tx) => {
    const rows = await readTracked(tx, dialect, { ids });
    await saveTracked(
      tx,
      dialect,
      rows.map((row) => ({ ...row, dueAt: now, etag: null })),
    );
  });
  return async () => {
    const [row] = await readTracked(read, dialect, { ids });
    return row === undefined || row.dueAt === now ? undefined : row.failures;
  };
}
