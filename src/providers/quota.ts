/**
 * Quota: chooses the token for each request and tracks the limits that responses report. It never permits a request that the
 * forge asked us not to send, and uses several tokens evenly. It neither sends requests nor reads responses.
 *
 * Deadlines are kept on the monotonic clock, so setting the wall clock neither extends nor loses them; times in results are
 * those of the wall clock at that moment.
 */
import { type Clock, HOUR_MS } from "../clock.js";
import { type TokenQuota, UpstreamFailure } from "./contract.js";
import { Pace } from "./pace.js";

/** Permission for one request. Returned to `learn` with the response's report, empty if there was no response. */
export interface Lease {
  /** null: send without a token. */
  readonly token: string | null;
  /** The token's name in logs: `#1`, `#2` …, or `anonymous`. */
  readonly label: string;
  readonly resource: string;
}

/** What a response says about its token. Times in ms since 1970; absent: not reported. Invalid values are ignored. */
export interface QuotaReport {
  limit?: number;
  remaining?: number;
  /** When `remaining` returns to `limit`. */
  resetAt?: number;
  /** The token must not be used before then, whatever the resource. */
  blockedUntil?: number;
  /** The token itself was not accepted. */
  isRejected?: boolean;
}

/** The quota of one token for one resource. Deadlines are on the monotonic clock. */
interface Allowance {
  limit: number | null;
  /** As last reported; excludes requests in flight. */
  remaining: number | null;
  resetAt: number;
}

interface Entry {
  readonly token: string | null;
  readonly label: string;
  readonly allowances: Map<string, Allowance>;
  blockedUntil: number;
  /** Sequence number of its last lease, across all tokens. */
  lastUsed: number;
}

const REJECTED_REST_MS = HOUR_MS;
/** How long a count without a reset time is valid. */
const UNDATED_MS = 60_000;
/** Two reset times no further apart than this are the same reset. */
const SAME_RESET_MS = 5_000;
/** An older lease is considered lost: no response takes this long. */
const LEASE_MS = 5 * 60_000;

export class Quota {
  readonly #clock: Clock;
  readonly #entries: Entry[];
  readonly #pace: Pace | null;
  /** Requests in flight, oldest first. */
  readonly #open = new Map<Lease, { entry: Entry; cost: number; takenAt: number }>();
  #uses = 0;

  /** Without tokens, requests are anonymous. `requestsPerHour` (at least 1; null: no limit of our own) covers all tokens. */
  constructor(options: { tokens: readonly string[]; requestsPerHour: number | null; clock: Clock }) {
    this.#clock = options.clock;
    this.#pace = options.requestsPerHour === null ? null : new Pace(options.requestsPerHour);
    const named = options.tokens.map((token, i) => ({ token, label: `#${i + 1}` }));
    this.#entries = (named.length > 0 ? named : [{ token: null, label: "anonymous" }]).map((entry) => ({
      ...entry,
      allowances: new Map(),
      blockedUntil: Number.NEGATIVE_INFINITY,
      lastUsed: 0,
    }));
  }

  /**
   * Permission to send one request that costs `cost` of `resource`, with the token that has most of it left. Throws
   * UpstreamFailure `quota` with `until` while no token may be used.
   */
  take(resource: string, cost = 1): Lease {
    const now = this.#clock.monotonic();
    this.#giveUpOld(now);
    const readyAt = this.#readyAt(resource, cost);
    if (readyAt > now) {
      const until = this.#wall(readyAt);
      const message = `no token has quota (${resource}) before ${new Date(until).toJSON()}`;
      throw new UpstreamFailure("quota", message, { until });
    }
    const left = (entry: Entry) => this.#left(entry, resource) ?? Number.POSITIVE_INFINITY;
    const entry = this.#entries
      .filter((candidate) => this.#entryReadyAt(candidate, resource, cost) <= now)
      .reduce((best, other) => {
        const more = left(other) - left(best);
        return more > 0 || (!(more < 0) && other.lastUsed < best.lastUsed) ? other : best;
      });
    this.#pace?.spend(now);
    entry.lastUsed = ++this.#uses;
    const lease: Lease = { token: entry.token, label: entry.label, resource };
    this.#open.set(lease, { entry, cost, takenAt: now });
    return lease;
  }

  /** Ends the lease and applies the report of its response. Later reports win, but a block is never shortened. */
  learn(lease: Lease, report: QuotaReport): void {
    const entry = this.#entries.find(({ label }) => label === lease.label);
    if (entry === undefined) return;
    const now = this.#clock.monotonic();
    this.#close(lease, asCount(report.remaining) === undefined);
    if (report.isRejected) entry.blockedUntil = Math.max(entry.blockedUntil, now + REJECTED_REST_MS);
    const blockedUntil = this.#deadline(report.blockedUntil);
    if (blockedUntil !== undefined) entry.blockedUntil = Math.max(entry.blockedUntil, blockedUntil);

    const allowance = this.#allowance(entry, lease.resource);
    const limit = asCount(report.limit);
    const remaining = asCount(report.remaining);
    const resetAt = this.#deadline(report.resetAt);
    if (limit !== undefined) allowance.limit = limit === 0 ? null : limit;
    const isSameReset = resetAt === undefined || Math.abs(resetAt - allowance.resetAt) <= SAME_RESET_MS;
    if (remaining !== undefined) {
      // Responses can arrive out of order: within a period the lowest count is the newest.
      const known = isSameReset ? (allowance.remaining ?? remaining) : remaining;
      allowance.remaining = Math.min(known, remaining);
      if (resetAt === undefined && allowance.resetAt <= now) allowance.resetAt = now + UNDATED_MS;
    }
    if (resetAt !== undefined) allowance.resetAt = resetAt;
  }

  /** Earliest time for a request of that resource, in ms since 1970; the current time when one is possible now. */
  readyAt(resource: string): number {
    this.#giveUpOld(this.#clock.monotonic());
    return this.#wall(Math.max(this.#readyAt(resource, 1), this.#clock.monotonic()));
  }

  /** One entry for each token and resource used so far. */
  list(): TokenQuota[] {
    const now = this.#clock.monotonic();
    this.#giveUpOld(now);
    return this.#entries.flatMap((entry) =>
      [...entry.allowances.keys()].map((resource) => {
        const { limit, resetAt } = this.#allowance(entry, resource);
        return {
          token: entry.label,
          resource,
          limit,
          remaining: this.#left(entry, resource),
          resetAt: resetAt > now ? this.#wall(resetAt) : null,
          blockedUntil: entry.blockedUntil > now ? this.#wall(entry.blockedUntil) : null,
        };
      }),
    );
  }

  #readyAt(resource: string, cost: number): number {
    const token = Math.min(...this.#entries.map((entry) => this.#entryReadyAt(entry, resource, cost)));
    return Math.max(token, this.#pace?.readyAt ?? token);
  }

  #entryReadyAt(entry: Entry, resource: string, cost: number): number {
    const { limit, resetAt } = this.#allowance(entry, resource);
    const left = this.#left(entry, resource);
    // A request that costs more than the whole limit may go when the limit is untouched.
    const isEnough = left === null || left >= Math.max(1, Math.min(cost, limit ?? cost));
    return Math.max(entry.blockedUntil, isEnough ? Number.NEGATIVE_INFINITY : resetAt);
  }

  /** The current allowance: full again after its reset. */
  #allowance(entry: Entry, resource: string): Allowance {
    let allowance = entry.allowances.get(resource);
    if (allowance === undefined) {
      allowance = { limit: null, remaining: null, resetAt: Number.NEGATIVE_INFINITY };
      entry.allowances.set(resource, allowance);
    }
    if (allowance.resetAt <= this.#clock.monotonic()) allowance.remaining = allowance.limit;
    return allowance;
  }

  /** Remaining quota minus requests in flight; null while unknown. */
  #left(entry: Entry, resource: string): number | null {
    const { remaining } = this.#allowance(entry, resource);
    if (remaining === null) return null;
    let left = remaining;
    for (const [lease, open] of this.#open) {
      if (open.entry === entry && lease.resource === resource) left -= open.cost;
    }
    return Math.max(0, left);
  }

  /** `isSpent`: subtract its cost ourselves, because no response reports what is left. */
  #close(lease: Lease, isSpent: boolean): void {
    const open = this.#open.get(lease);
    this.#open.delete(lease);
    if (open === undefined || !isSpent) return;
    const allowance = this.#allowance(open.entry, lease.resource);
    if (allowance.remaining !== null) allowance.remaining = Math.max(0, allowance.remaining - open.cost);
  }

  #giveUpOld(now: number): void {
    for (const [lease, { takenAt }] of this.#open) {
      if (takenAt + LEASE_MS > now) break;
      this.#close(lease, true);
    }
  }

  #deadline(wall: number | undefined): number | undefined {
    if (wall === undefined || !Number.isFinite(wall)) return undefined;
    return this.#clock.monotonic() + (wall - this.#clock.now());
  }

  #wall(monotonic: number): number {
    return Math.ceil(this.#clock.now() + (monotonic - this.#clock.monotonic()));
  }
}

function asCount(value: number | undefined): number | undefined {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
