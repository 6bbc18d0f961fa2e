import { asFailed, concernsForge } from "../forges/forges.js";
import { DAY_MS, WEEK_MS } from "../lib/clock.js";
import { hasSpare, type Lane, lookupQuota, responded, type Step, waiting } from "./lane.js";
import { due } from "./schedule.js";
import { type HistoryPage, NEXT_PAGE_MS, postponeHistory, recordHistoryPage } from "./star-history.js";

/** Default wait when nothing is due. It is short, so that an empty catalogue has rankings soon after the first start. */
const IDLE_MS = 5_000;
/** Shortest and longest wait before the quota is checked again, once its rest is reserved for other work. */
const SPARE_MIN_MS = 60_000;
const SPARE_MAX_MS = 10 * 60_000;
/** How long to wait when the forge does not offer star histories. */
const NOT_OFFERED_MS = DAY_MS;

/** Reads the star histories that are due, most popular repositories first. */
export class BackfillLane {
  readonly #lane: Lane;
  readonly #idleMs: number;

  constructor(lane: Lane, idleMs = IDLE_MS) {
    this.#lane = lane;
    this.#idleMs = idleMs;
  }

  /** Reads one page. Throws UpstreamFailure. */
  async step(): Promise<Step> {
    const { modules, provider, clock, reporter } = this.#lane;
    const now = clock.now();
    const readyAt = provider.readyAt("history");
    if (readyAt > now) return waiting(readyAt - now);
    if (!hasSpare(provider)) {
      const { resetAt } = lookupQuota(provider);
      return waiting(Math.max(SPARE_MIN_MS, Math.min((resetAt ?? now) - now, SPARE_MAX_MS)));
    }
    const queue = { queue: "history", at: now, limit: 1 } as const;
    const [row] = await due(modules.database.read, provider.name, queue);
    if (row === undefined) return waiting(this.#idleMs);
    let page: HistoryPage;
    try {
      page = await recordHistoryPage(this.#lane, row);
    } catch (error) {
      const { failure } = asFailed(error);
      const isOfRepository = !concernsForge(failure.kind);
      // Retried after the others, so that one repository cannot hold them up.
      const retryAt = isOfRepository ? (failure.until ?? now + WEEK_MS) : now + NEXT_PAGE_MS;
      await postponeHistory(this.#lane, row, retryAt);
      if (!isOfRepository) throw failure;
      reporter.failed(failure, clock.now());
      return responded(0);
    }
    if (page.kind === "notOffered") {
      await postponeHistory(this.#lane, row, now + NOT_OFFERED_MS);
      return responded(NOT_OFFERED_MS);
    }
    if (page.kind === "damaged") {
      await postponeHistory(this.#lane, row, now + WEEK_MS);
      return responded(0);
    }
    if (page.kind === "taken") return responded(0);
    reporter.add("backfilled", page.snapshots);
    reporter.succeeded(clock.now());
    return responded(0);
  }
}
