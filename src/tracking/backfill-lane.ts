import { asFailed, concernsForge } from "../forges/forges.js";
import { DAY_MS, WEEK_MS } from "../lib/clock.js";
import { hasSpare, type Lane, lookupQuota, responded, type Step, waiting } from "./lane.js";
import {
  claimHistory,
  type HistoryPage,
  NEXT_PAGE_MS,
  postponeHistory,
  recordHistoryPage,
} from "./star-history.js";

/**
 * Wait when nothing is due. It starts short, so that an empty catalogue has rankings soon after the first start, and doubles with each
 * check in vain, as that takes a transaction.
 */
const IDLE_MIN_MS = 5_000;
const IDLE_MAX_MS = 60_000;
/** Longest wait before the quota is checked again, once its rest is reserved for other work. */
const SPARE_MAX_MS = 10 * 60_000;
/** How long to wait when the forge does not offer star histories. */
const NOT_OFFERED_MS = DAY_MS;

/** Reads the star histories that are due, most popular repositories first. */
export class BackfillLane {
  readonly #lane: Lane;
  readonly #idleMaxMs: number;
  #idleMs = IDLE_MIN_MS;

  constructor(lane: Lane, idleMaxMs = IDLE_MAX_MS) {
    this.#lane = lane;
    this.#idleMaxMs = idleMaxMs;
  }

  /** Reads one page. Throws UpstreamFailure. */
  async step(): Promise<Step> {
    const { provider, clock, reporter } = this.#lane;
    const now = clock.now();
    const readyAt = provider.readyAt("history");
    if (readyAt > now) return waiting(readyAt - now);
    if (!hasSpare(provider)) {
      const { resetAt } = lookupQuota(provider);
      return waiting(Math.max(IDLE_MAX_MS, Math.min((resetAt ?? now) - now, SPARE_MAX_MS)));
    }
    const claim = await claimHistory(this.#lane);
    if (claim === undefined) {
      const waitMs = this.#idleMs;
      this.#idleMs = Math.min(this.#idleMaxMs, 2 * waitMs);
      return waiting(waitMs);
    }
    let page: HistoryPage;
    try {
      page = await recordHistoryPage(this.#lane, claim);
    } catch (error) {
      const { failure } = asFailed(error);
      const isOfRepository = !concernsForge(failure.kind);
      // Retried after the others, so that one repository cannot hold them up.
      const retryAt = isOfRepository ? (failure.until ?? now + WEEK_MS) : now + NEXT_PAGE_MS;
      await postponeHistory(this.#lane, claim, retryAt);
      if (!isOfRepository) throw failure;
      reporter.failed(failure, clock.now());
      return responded(0);
    }
    if (page.kind === "notOffered") {
      await postponeHistory(this.#lane, claim, now + NOT_OFFERED_MS);
      return responded(NOT_OFFERED_MS);
    }
    if (page.kind === "damaged") {
      await postponeHistory(this.#lane, claim, now + WEEK_MS);
      return responded(0);
    }
    if (page.kind === "taken") return responded(0);
    reporter.add("backfilled", page.snapshots);
    reporter.succeeded(clock.now());
    return responded(0);
  }
}
