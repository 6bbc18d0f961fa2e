/** The lane of requests to track: lookups by name, and the star histories that people wait for. */

import type { Tx } from "../database/database.js";
import { concernsForge, isTemporary, UpstreamFailure, type UpstreamRepository } from "../forges/forges.js";
import { DAY_MS } from "../lib/clock.js";
import { spread } from "./cadence.js";
import { findKnown, keptNodeId } from "./claims.js";
import { hasSpare, type Lane, LEASE_MS, lookupQuota, responded, type Step, waiting } from "./lane.js";
import { observationOf } from "./outcomes.js";
import { type ClaimedRequest, TrackQueue } from "./requests/queue.js";
import { afterOwnRecord, FIRST_INTERVAL_MS, historyOf, schedule } from "./schedule.js";
import { claimHistory, type HistoryPage, postponeHistory, recordHistoryPage } from "./star-history.js";

/** How often to look for new requests: people wait for them, and a check reads one row of an index. */
const IDLE_MS = 500;
/** Longest wait while requests are open, so that the reported pace stays recent. */
const OPEN_MS = 10_000;
/** Attempts until a lookup fails, or a history is left to the backfill; and the first pause between them, which doubles. */
const MAX_ATTEMPTS = { lookup: 2, history: 5 } as const;
const RETRY_MS = 5_000;
/** Longest pause of the lane, and of one request, while the forge fails as a whole. */
const MAX_REST_MS = 60_000;
const MAX_PAUSE_MS = 10 * 60_000;
/** How long the forge may fail as a whole until a lookup does. */
const PATIENCE_MS = DAY_MS;
/** Pages of one history; GitHub has 100. */
const MAX_PAGES = 150;

export interface RequestLaneOptions {
  /** Called when something was recorded that people wait for. */
  onRecorded: () => void;
  /** How often to look for new requests; default half a second. */
  idleMs?: number | undefined;
}

/**
 * Works off the requests to track repositories of one provider: looks each one up by name, records it, and reads its star history page
 * by page. Every request ends in a bounded time, unless the forge allows no requests.
 */
export class RequestLane {
  readonly #lane: Lane;
  readonly #queue: TrackQueue;
  readonly #onRecorded: () => void;
  readonly #idleMs: number;
  /** When the forge may be tried again after it has failed. */
  #restUntil = 0;
  /** How often it has failed since it last responded. */
  #forgeFailures = 0;
  #reported = { at: 0, readyAt: 0 };

  constructor(lane: Lane, { onRecorded, idleMs = IDLE_MS }: RequestLaneOptions) {
    this.#lane = lane;
    this.#queue = new TrackQueue(lane.modules.database, lane.provider.name);
    this.#onRecorded = onRecorded;
    this.#idleMs = idleMs;
  }

  /** Sends one request to the forge, if anything waits for it. */
  async step(): Promise<Step> {
    const { provider, clock } = this.#lane;
    if (await this.#queue.isEmpty()) return waiting(this.#idleMs);
    const now = clock.now();
    // Lookups and second readings use the same quota.
    const readyAt = Math.max(provider.readyAt("recheck"), Math.min(this.#restUntil, now + OPEN_MS));
    await this.#report(now, readyAt);
    if (readyAt > now) return waiting(Math.min(OPEN_MS, readyAt - now));
    const mayReadHistory = provider.readyAt("history") <= now && hasSpare(provider);
    const claim = await this.#queue.claim({ now, leasedUntil: now + LEASE_MS, mayReadHistory });
    if (claim === undefined) return waiting(this.#idleMs);
    try {
      await (claim.repositoryId === null ? this.#lookUp(claim) : this.#readPage(claim, claim.repositoryId));
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || this.#lane.signal.aborted) {
        await this.#queue.postpone(claim, 0);
        throw error;
      }
      await this.#failed(claim, error);
    }
    return responded(0);
  }

  async #lookUp(claim: ClaimedRequest): Promise<void> {
    const { modules, provider, clock, reporter, signal } = this.#lane;
    const found = await provider.refreshOne(claim.fullName, signal);
    const at = clock.now();
    const { dialect, write } = modules.database;
    // The backfill reads the histories of batches in its own time; this lane leases those of other requests.
    const first = historyOf(provider.kind, found.stars, at);
    const hasHistory = !claim.isBatch && first.historyDue !== undefined;
    const history = hasHistory ? { historyDue: at + LEASE_MS } : first;
    const isNew = await dialect.exclusively(write, "catalogue", async (tx) => {
      if (!(await TrackQueue.isClaimed(tx, dialect, claim))) return undefined;
      const tracked = await recordTracked(tx, this.#lane, { found, at, history });
      const { repositoryId } = tracked;
      const lists = await TrackQueue.record(tx, claim, { repositoryId, at, isFinished: !hasHistory });
      for (const id of lists) await modules.watchlists.appendIn(tx, { id, repositoryId });
      return tracked.isNew;
    });
    this.#responded();
    if (isNew === undefined) return;
    reporter.add("discovered", isNew ? 1 : 0);
    reporter.succeeded(at);
    this.#onRecorded();
  }

  /** Reads the next page of a history. What cannot be read is left to the backfill. */
  async #readPage(claim: ClaimedRequest, repositoryId: number): Promise<void> {
    const { clock, reporter } = this.#lane;
    const history = await claimHistory(this.#lane, repositoryId);
    if (history === undefined || claim.pages >= MAX_PAGES) return this.#queue.finish(claim, clock.now());
    let page: HistoryPage | undefined;
    try {
      page = await recordHistoryPage(this.#lane, history);
    } finally {
      // The backfill continues soon, whatever went wrong here.
      if (page?.kind !== "recorded") await postponeHistory(this.#lane, history, clock.now() + LEASE_MS);
    }
    this.#responded();
    reporter.succeeded(clock.now());
    if (page.kind === "taken") return this.#queue.postpone(claim, clock.now() + OPEN_MS);
    if (page.kind !== "recorded") return this.#queue.finish(claim, clock.now());
    reporter.add("backfilled", page.snapshots);
    await this.#queue.readPage(claim, { isLast: !page.hasMore });
    if (!page.hasMore) await this.#queue.finish(claim, clock.now());
    if (!page.hasMore || claim.pages === 0) this.#onRecorded();
  }

  /** Decides what a failure means for a request: it is tried again, or ends. */
  async #failed(claim: ClaimedRequest, failure: UpstreamFailure): Promise<void> {
    const { clock, reporter, chance } = this.#lane;
    const now = clock.now();
    reporter.failed(failure, now);
    const { kind, until } = failure;
    if (isTemporary(kind)) {
      if (kind === "clock") this.#restUntil = now + OPEN_MS;
      return this.#queue.postpone(claim, 0);
    }
    const ofForge = concernsForge(kind);
    if (ofForge) this.#rest(now, until);
    else this.#responded();
    const isLookup = claim.repositoryId === null;
    if (isLookup && ofForge) {
      const failingSince = Math.min(now, claim.failingSince ?? now);
      // The failure may concern this one alone, so others come first.
      const pause = Math.min(MAX_PAUSE_MS, Math.max(RETRY_MS, now - failingSince));
      if (now - failingSince < PATIENCE_MS)
        return this.#queue.postpone({ ...claim, failingSince }, now + spread(pause, chance()));
      return this.#queue.fail(claim, kind, now);
    }
    const attempts = claim.attempts + 1;
    const pause = spread(RETRY_MS * 2 ** claim.attempts, chance());
    const mayRetry = ofForge || kind === "malformed";
    if (mayRetry && attempts < MAX_ATTEMPTS[isLookup ? "lookup" : "history"])
      return this.#queue.postpone({ ...claim, attempts }, now + pause);
    // A recorded repository only lacks its history, which the backfill reads later.
    if (!isLookup) return this.#queue.finish(claim, now);
    await this.#queue.fail(claim, kind, now);
  }

  /** Pauses the lane after a failure of the forge as a whole. `until`: when to retry, if the forge said so. */
  #rest(now: number, until: number | null): void {
    const pause = spread(Math.min(MAX_REST_MS, RETRY_MS * 2 ** this.#forgeFailures), this.#lane.chance());
    this.#forgeFailures++;
    this.#restUntil = Math.max(now + pause, Math.min(until ?? 0, now + OPEN_MS));
  }

  #responded(): void {
    this.#restUntil = 0;
    this.#forgeFailures = 0;
  }

  async #report(now: number, readyAt: number): Promise<void> {
    const known = this.#reported;
    const isRecent = now - known.at < OPEN_MS && now >= known.at;
    if (isRecent && readyAt <= Math.max(now, known.readyAt)) return;
    this.#reported = { at: now, readyAt };
    await this.#queue.report({ at: now, readyAt, ...lookupQuota(this.#lane.provider) });
  }
}

/**
 * Records a repository that was looked up by name, and puts it on the schedule, in the caller's transaction, which must hold the
 * catalogue exclusively. It is tracked however few stars it has. `history`: when to start reading its star history.
 */
export async function recordTracked(
  tx: Tx,
  { modules, provider, chance }: Pick<Lane, "modules" | "provider" | "chance">,
  { found, at, history }: { found: UpstreamRepository; at: number; history: { historyDue?: number } },
): Promise<{ repositoryId: number; isNew: boolean }> {
  const { dialect } = modules.database;
  const ids = [found.providerId];
  const [known] = await findKnown(tx, dialect, { provider: provider.name, ids });
  const recorded = await modules.catalog.recordIn(tx, [observationOf(provider.name, found, at)]);
  const [repositoryId = 0] = recorded.repositoryIds;
  await schedule(tx, dialect, [
    {
      repositoryId,
      provider: provider.name,
      dueAt: at + FIRST_INTERVAL_MS,
      refreshInterval: FIRST_INTERVAL_MS,
      nodeId: keptNodeId(known?.nodeId ?? null, found.nodeId),
      etag: null,
      failures: 0,
      missingSince: null,
      ...afterOwnRecord(provider, { at, stretch: 1, chance: chance() }),
      ...history,
    },
  ]);
  return { repositoryId, isNew: recorded.repositoriesAdded > 0 };
}
