/** Shared by the lanes of a worker: their context, the result of a step, and the quota of lookups. */
import type { Database, DeletionClock } from "../database/database.js";
import type { Provider } from "../forges/forges.js";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import type { Catalog } from "../repositories/repositories.js";
import type { Watchlists } from "../watchlists/watchlists.js";
import type { Avatars } from "./avatars.js";
import type { Stretch } from "./cadence.js";
import type { WorkerLease } from "./lease.js";
import type { Reporter } from "./report.js";
import type { Pace } from "./requests/request.js";
import type { TrackRequests } from "./requests/requests.js";

export interface TrackingModules {
  database: Database;
  catalog: Catalog;
  watchlists: Watchlists;
  avatars: Avatars;
  trackRequests: TrackRequests;
  deletionClock: DeletionClock;
}

/** Shared by the lanes of one provider. A lane is one kind of work, such as refreshing or discovering. */
export interface Lane {
  modules: TrackingModules;
  lease: WorkerLease;
  provider: Provider;
  clock: Clock;
  log: Logger;
  reporter: Reporter;
  stretch: Stretch;
  /** Owners of the repositories whose star histories have failed since the last one that was read. */
  failedHistories: Set<string>;
  /** A random number from 0 to 1, for spreading due times; injected so that tests are repeatable. */
  chance: () => number;
  signal: AbortSignal;
}

export interface Step {
  waitMs: number;
  /**
   * Whether a request was sent and got a response from the forge; default: no. Lanes do not pause between requests: the provider keeps
   * their pace.
   */
  hasResponse?: boolean;
  /** The shortest wait if the loop is woken; default: none. */
  leastMs?: number;
}

/** Requests of the quota that reading star histories leaves to other work: a share of a small quota, less while somebody waits. */
const RESERVED = 500;
const SHARE = 1 / 2;
const WAITED_SHARE = 1 / 6;
const UNKNOWN_RESET_MS = 60_000;

/** The quota of lookups, all tokens together; null: not known. */
export function lookupQuota(
  provider: Pick<Provider, "quota">,
): Pick<Pace, "remaining" | "quota" | "resetAt"> {
  const known = provider
    .quota()
    .filter(({ resource, blockReason }) => resource === "core" && blockReason !== "no_access");
  const sum = (values: readonly (number | null)[]) =>
    values.length === 0 ? null : values.reduce((a, b) => (a === null || b === null ? null : a + b), 0);
  return {
    remaining: sum(known.map(({ remaining }) => remaining)),
    quota: sum(known.map(({ limit }) => limit)),
    resetAt: known.reduce<number | null>(
      (last, { resetAt }) => ((resetAt ?? 0) > (last ?? 0) ? resetAt : last),
      null,
    ),
  };
}

/**
 * When reading star histories leaves enough of the quota to refreshes and lookups, in ms since 1970; in the past if it does now.
 * `isWaitedFor`: somebody waits for the history, so that only lookups come first.
 */
export function spareAt(
  provider: Pick<Provider, "quota">,
  now: number,
  { isWaitedFor = false } = {},
): number {
  const { remaining, quota, resetAt } = lookupQuota(provider);
  if (remaining === null || quota === null) return now;
  const isSpare = remaining > Math.min(RESERVED, quota * (isWaitedFor ? WAITED_SHARE : SHARE));
  return isSpare ? now : (resetAt ?? now + UNKNOWN_RESET_MS);
}
