/**
 * Tracking: finds new and changed repositories on the forges and records them, on a schedule that follows how active each
 * repository is. Runs only in workers and commands, never within an HTTP request. `providers` talks to the forges; `catalog`
 * decides how observations are stored.
 */

import { type Found, type Provider, UpstreamFailure } from "../forges/forges.js";
import type { Clock } from "../lib/clock.js";
import { Stretch } from "./cadence.js";
import { toClaim } from "./claims.js";
import { Reporter, type TrackingModules } from "./lane.js";
import { Recorder } from "./recorder.js";
import { RefreshLane } from "./refresh-lane.js";
import { recordTracked } from "./request-lane.js";
import { historyOf } from "./schedule.js";

export { Avatars } from "./avatars.js";
export { HEAT_CLASSES, type HeatClass, heatClass, intervalOf } from "./cadence.js";
export type { Reporter, TrackingModules, WorkerReport } from "./lane.js";
export { type Metrics, serveMetrics } from "./metrics.js";
export { type Plan, type PlannedWork, readPlan } from "./plan.js";
export { MAX_BATCH_OPEN, MAX_PASTED } from "./requests/lists.js";
export { type OpenRequests, readOpenRequests } from "./requests/open-requests.js";
export { TRACK_FAILURES, TRACK_STATES, type TrackList, type TrackRequest } from "./requests/request.js";
export { type Requester, type TrackPolicy, TrackRequests } from "./requests/track-requests.js";
export { type Retention, thinSnapshots } from "./retention.js";
export {
  type Ages,
  type PreparedStatus,
  type ProviderStatus,
  readPreparedStatus,
  readStatus,
} from "./status.js";
export { Worker, type WorkerOptions } from "./worker.js";

/** Context of a single refresh outside the worker. */
export interface TrackingContext {
  modules: TrackingModules;
  provider: Provider;
  clock: Clock;
  signal: AbortSignal;
}

/** Looks up a repository by name, records it and puts it on the schedule. Throws UpstreamFailure. */
export async function track(
  { modules, provider, clock, signal }: TrackingContext,
  fullName: string,
): Promise<{ repositoryId: number; isNew: boolean }> {
  const found = await provider.refreshOne(fullName, signal);
  const at = clock.now();
  const { dialect, write } = modules.database;
  const history = historyOf(provider.kind, 1_000_000, at);
  return dialect.exclusively(write, "catalogue", (tx) =>
    recordTracked(tx, { modules, provider, chance: Math.random }, { found, at, history }),
  );
}

/** Refreshes a known repository now. Records the result, then throws it if it is an UpstreamFailure. */
export async function refreshNow(context: TrackingContext, repositoryId: number): Promise<Found["kind"]> {
  const { modules, clock } = context;
  const row = await modules.database.read
    .selectFrom("repositories")
    .leftJoin("tracking", "tracking.repository_id", "repositories.id")
    .select(["id", "provider_id", "node_id", "owner", "name", "failures", "stars", "counted_at"])
    .where("id", "=", repositoryId)
    .executeTakeFirstOrThrow();
  // Without an ETag the whole record is requested.
  const claim = toClaim({ ...row, failures: row.failures ?? 0, etag: null });
  const lane = {
    ...context,
    reporter: new Reporter(clock.now()),
    stretch: new Stretch(),
    chance: Math.random,
  };
  const outcomes = await new RefreshLane(lane).request([claim]);
  await new Recorder(lane).record(outcomes);
  const result = outcomes[0]?.result;
  if (result === undefined) throw new UpstreamFailure("malformed", "the response does not include it");
  if (result.kind === "failed") throw result.failure;
  return result.kind;
}
