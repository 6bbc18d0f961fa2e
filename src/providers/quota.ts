/**
 * Quota: which token the next request goes out with, and what answers tell of them. It never lets one go that the forge
 * asked not to be sent, and spends several tokens evenly. It sends nothing itself and reads no answers.
 *
 * Deadlines are kept on the monotonic clock from the moment they are told, so a clock that is set meanwhile neither
 * prolongs nor forgets them; times that come out are of the wall clock as it is then.
 */
import { type Clock, HOUR_MS } from "../clock.js";
import { UpstreamFailure } from "./failures.js";
import { Pace } from "./pace.js";
import type { TokenQuota } from "./providers.js";

/** Leave for one request. Given back to `learn` with what its answer told, or with nothing when none came. */
export interface Lease {
  /** null: send without a token. */
  readonly token: string | null;
  /** How the token is called in the log: `#1`, `#2` …, or `anonymous`. */
  readonly label: string;
  readonly resource: string;
}

/** What an answer told of the token it was asked with. Times in ms since 1970; absent: not told. Nonsense is not believed. */
export interface Told {
  limit?: number;
  remaining?: number;
  /** When `remaining` is `limit` again. */
  resetAt?: number;
  /** Nothing may be sent with this token before, whatever the resource. */
  blockedUntil?: number;
  /** The token itself was not accepted. */
  refused?: boolean;
}

/** What one token may do of one resource. Deadlines are of the monotonic clock. */
interface Allowance {
  limit: number | null;
  /** As last told; requests under way are not yet taken off. */
  remaining: number | null;
  resetAt: number;
}

interface Entry {
  readonly token: string | null;
  readonly label: string;
  readonly allowances: Map<string, Allowance>;
  blockedUntil: number;
  /** Counts up with every lease, over all tokens. */
  lastUsed: number;
}

const REFUSED_REST_MS = HOUR_MS;
/** How long a count is believed that came without the time of its reset. */
const UNDATED_MS = 60_000;
/** Two resets that lie no further apart are the same one, told twice. */
const SAME_RESET_MS = 5_000;
/** A lease that was not given back by then will not be: no answer takes that long. */
const LEASE_MS = 5 * 60_000;

export class Quota {
  readonly #clock: Clock;
  readonly #entries: Entry[];
  readonly #pace: Pace | null;
  /** Requests under way, oldest first. */
  readonly #open = new Map<Lease, { entry: Entry; cost: number; takenAt: number }>();
  #uses = 0;

  /**
   * Without tokens, requests go out without one. `requestsPerHour` (at least 1; null: no bound of our own) holds for all of
   * them together.
   */
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
   * Leave to send one request now that costs `cost` of `resource`, with the token that has most left of it. Throws
   * UpstreamFailure `quota` with `until` where no token may send now.
   */
  take(resource: string, cost = 1): Lease {
    const now = this.#clock.monotonic();
    this.#giveUpOld(now);
    const readyAt = this.#readyAt(resource, cost);
    if (readyAt > now) {
      const until = this.#wall(readyAt);
      throw new UpstreamFailure(
        "quota",
        `no token may send (${resource}) before ${new Date(until).toJSON()}`,
        {
          until,
        },
      );
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

  /** Ends the lease, and takes in what its answer told. What is told later counts; a block is never shortened. */
  learn(lease: Lease, told: Told): void {
    const entry = this.#entries.find(({ label }) => label === lease.label);
    if (entry === undefined) return;
    const now = this.#clock.monotonic();
    this.#close(lease, asCount(told.remaining) === undefined);
    if (told.refused) entry.blockedUntil = Math.max(entry.blockedUntil, now + REFUSED_REST_MS);
    const blockedUntil = this.#deadline(told.blockedUntil);
    if (blockedUntil !== undefined) entry.blockedUntil = Math.max(entry.blockedUntil, blockedUntil);

    const allowance = this.#allowance(entry, lease.resource);
    const limit = asCount(told.limit);
    const remaining = asCount(told.remaining);
    const resetAt = this.#deadline(told.resetAt);
    if (limit !== undefined) allowance.limit = limit === 0 ? null : limit;
    const isSameReset = resetAt === undefined || Math.abs(resetAt - allowance.resetAt) <= SAME_RESET_MS;
    if (remaining !== undefined) {
      // Answers overtake each other: within a period the lowest count is the newest.
      const known = isSameReset ? (allowance.remaining ?? remaining) : remaining;
      allowance.remaining = Math.min(known, remaining);
      if (resetAt === undefined && allowance.resetAt <= now) allowance.resetAt = now + UNDATED_MS;
    }
    if (resetAt !== undefined) allowance.resetAt = resetAt;
  }

  /** When a request of that resource can go at the earliest, in ms since 1970; now or earlier: at once. */
  readyAt(resource: string): number {
    this.#giveUpOld(this.#clock.monotonic());
    return this.#wall(Math.max(this.#readyAt(resource, 1), this.#clock.monotonic()));
  }

  /** What is known, a row for each token and resource that was used. */
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
    // What costs more than there ever is may go when everything is left.
    const isEnough = left === null || left >= Math.max(1, Math.min(cost, limit ?? cost));
    return Math.max(entry.blockedUntil, isEnough ? Number.NEGATIVE_INFINITY : resetAt);
  }

  /** The allowance as it is now: after its reset it is whole again. */
  #allowance(entry: Entry, resource: string): Allowance {
    let allowance = entry.allowances.get(resource);
    if (allowance === undefined) {
      allowance = { limit: null, remaining: null, resetAt: Number.NEGATIVE_INFINITY };
      entry.allowances.set(resource, allowance);
    }
    if (allowance.resetAt <= this.#clock.monotonic()) allowance.remaining = allowance.limit;
    return allowance;
  }

  /** What is left when the requests under way are taken off; null while not known. */
  #left(entry: Entry, resource: string): number | null {
    const { remaining } = this.#allowance(entry, resource);
    if (remaining === null) return null;
    let left = remaining;
    for (const [lease, open] of this.#open) {
      if (open.entry === entry && lease.resource === resource) left -= open.cost;
    }
    return Math.max(0, left);
  }

  /** `isSpent`: its cost is taken off by ourselves, as no answer tells what is left. */
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
