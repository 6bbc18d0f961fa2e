/**
 * Tracking: asks forges what is new and what has changed, on a schedule that follows how much happens, and records what
 * they say. It never asks within a request. What a forge is and how it is spoken to is the business of `providers`; what
 * is kept, that of `catalog`.
 */

import type { Clock } from "../clock.js";
import { DAY_MS } from "../clock.js";
import { type Provider, type Refreshed, UpstreamFailure } from "../providers/providers.js";
import type { TrackingModules } from "./context.js";
import { observationOf } from "./observe.js";
import { RefreshLane } from "./refresh.js";
import { Reporter } from "./report.js";
import { type Claim, historyOf, schedule } from "./schedule.js";

export { HEAT_CLASSES, type HeatClass, heatClass, intervalOf } from "./cadence.js";
export type { TrackingModules } from "./context.js";
export { type Metrics, serveMetrics } from "./metrics.js";
export type { WorkerReport } from "./report.js";
export { DEFAULT_RETENTION, type Retention, thinSnapshots } from "./retention.js";
export { type ProviderStatus, readStatus } from "./status.js";
export { Worker, type WorkerOptions } from "./worker.js";

/**
 * Takes up one repository by its name, at once. Returns its id, and whether it is new. Throws UpstreamFailure where the forge
 * does not give it.
 */
export async function track(
  modules: TrackingModules,
  provider: Provider,
  clock: Clock,
  fullName: string,
  signal: AbortSignal,
): Promise<{ repositoryId: number; isNew: boolean }> {
  const told = await provider.refreshOne(fullName, signal);
  const at = clock.now();
  let repositoryId = 0;
  const { repositoriesAdded } = await modules.catalog.record(
    [observationOf(provider.name, told, at)],
    async (tx, ids) => {
      repositoryId = ids[0] ?? 0;
      await schedule(tx, modules.database.dialect, [
        {
          repositoryId,
          provider: provider.name,
          dueAt: at + DAY_MS,
          nodeId: told.nodeId,
          etag: null,
          failures: 0,
          ...historyOf(provider.kind, 1_000_000, at),
        },
      ]);
    },
  );
  return { repositoryId, isNew: repositoriesAdded > 0 };
}

/** Refreshes a repository that is known, at once. Returns what was found out. Throws UpstreamFailure. */
export async function refreshNow(
  modules: TrackingModules,
  provider: Provider,
  clock: Clock,
  repositoryId: number,
  signal: AbortSignal,
): Promise<Refreshed> {
  const { read } = modules.database;
  const row = await read
    .selectFrom("repositories")
    .selectAll()
    .where("id", "=", repositoryId)
    .executeTakeFirstOrThrow();
  const kept = await read
    .selectFrom("tracking")
    .selectAll()
    .where("repository_id", "=", repositoryId)
    .executeTakeFirst();
  const claim: Claim = {
    repositoryId,
    providerId: row.provider_id,
    nodeId: kept?.node_id ?? null,
    etag: null,
    owner: row.owner,
    name: row.name,
    failures: kept?.failures ?? 0,
    stars: row.stars,
    countedAt: row.counted_at,
  };
  const reporter = new Reporter(clock.now());
  const lane = new RefreshLane({ modules, provider, clock, reporter, chance: Math.random, signal });
  const outcomes = await lane.ask([claim]);
  await lane.keep(outcomes);
  const outcome = outcomes[0]?.[1];
  if (outcome?.kind === "failed" && ["quota", "clock", "unreachable"].includes(outcome.failure.kind))
    throw outcome.failure;
  if (outcome === undefined) throw new UpstreamFailure("malformed", "the forge said nothing of it");
  return outcome;
}
