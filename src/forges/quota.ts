/**
 * Quota: chooses the token for each request and tracks the limits that responses report. It never permits a request that the
 * forge asked us not to send, and uses several tokens evenly. It neither sends requests nor reads responses.
 *
 * Deadlines are on the monotonic clock, so setting the wall clock neither extends nor loses them; times in results are on the wall
 * clock at that moment. None is further away than MAX_WAIT_MS, whatever a forge reports.
 */
import type { Clock } from "../lib/clock.js";
import type { TokenNotice } from "./contract.js";
import { UpstreamFailure } from "./failures.js";
import {
  Allowances,
  type BlockReason,
  isCount,
  isEnough,
  MAX_WAIT_MS,
  OPEN_MS,
  type QuotaReport,
  rejectedMs,
  type TokenQuota,
  type Use,
} from "./limits.js";
import { APP, type NamedToken, nameTokens } from "./token-keeper.js";

/** Permission for one request. Returned to `learn` with the response's report, empty if there was no response. */
export interface Lease extends NamedToken {
  readonly resource: string;
  readonly part: string | null;
}

/** A wait that the forge asked for. */
interface Block {
  /** Monotonic. */
  until: number;
  message: string | null;
}

interface Entry {
  token: string | null;
  label: string;
  readonly allowances: Allowances;
  /** Waits that the forge asked for, by part; ANY: for the token as a whole. */
  readonly slow: Map<string, Block>;
  /** Since the token was rejected, until it works again; with the number of its tries. */
  rejected: (Block & { tries: number }) | null;
  /** Sequence number of its last lease, across all tokens. */
  lastUsed: number;
}

/** Notices kept until somebody reads them. */
const MAX_NOTICES = 100;
const NOT_BLOCKED: Block = { until: Number.NEGATIVE_INFINITY, message: null };

export class Quota {
  readonly #clock: Clock;
  #entries: Entry[];
  /** Requests in flight, oldest first. */
  readonly #open = new Map<Lease, { cost: number; takenAt: number }>();
  readonly #entryOf = new WeakMap<Lease, Entry>();
  readonly #renewAt: () => number;
  #notices: TokenNotice[] = [];
  #uses = 0;

  /**
   * Without tokens, requests are anonymous. `renewAt`: when a rejected token may be replaced, on the monotonic clock; a wait for it
   * ends then. Absent: never.
   */
  constructor(options: { tokens: readonly string[]; clock: Clock; renewAt?: () => number }) {
    this.#clock = options.clock;
    this.#renewAt = options.renewAt ?? (() => Number.POSITIVE_INFINITY);
    this.#entries = nameTokens(options.tokens).map((named) => newEntry(named));
  }

  /** Replaces the tokens; those that stay keep their quota, and so does `app`, whose tokens share one. */
  replace(tokens: readonly NamedToken[]): void {
    const before = this.#entries;
    this.#entries = tokens.map(({ token, label }) => {
      const same = before.find((entry) => entry.token === token || (label === APP && entry.label === APP));
      if (same === undefined) return newEntry({ token, label });
      if (same.token !== token) this.#works(same, "a new token was obtained");
      return Object.assign(same, { token, label });
    });
  }

  /**
   * Permission to send one request, with the token that has most of the resource left. Throws UpstreamFailure `quota` with
   * `until` while no token may be used.
   */
  take(use: Use): Lease {
    const { resource, cost = 1, part = null } = use;
    const now = this.#clock.monotonic();
    this.check(use);
    const left = (entry: Entry) => this.#left(entry, resource) ?? Number.POSITIVE_INFINITY;
    const entry = this.#entries
      .filter((candidate) => this.#blockOf(candidate, use).until <= now)
      .reduce((best, other) => {
        const more = left(other) - left(best);
        return more > 0 || (!(more < 0) && other.lastUsed < best.lastUsed) ? other : best;
      });
    // Other requests wait for the response to this one.
    if (entry.rejected !== null) entry.rejected.until = now + rejectedMs(++entry.rejected.tries);
    entry.lastUsed = ++this.#uses;
    entry.allowances.note(resource, now);
    const lease: Lease = { token: entry.token, label: entry.label, resource, part };
    this.#entryOf.set(lease, entry);
    this.#open.set(lease, { cost, takenAt: now });
    return lease;
  }

  /** Throws as `take` would. */
  check(use: Use): void {
    const now = this.#clock.monotonic();
    this.#giveUpOld(now);
    if (this.isReady(use)) return;
    const next = this.#entries.reduce((best, other) =>
      this.#retryAt(other, use) < this.#retryAt(best, use) ? other : best,
    );
    const { reason, message: words } = this.#blockOf(next, use);
    const until = this.#wall(Math.max(now, this.#retryAt(next, use)));
    const message = `no token may be used for ${use.part ?? use.resource} before ${new Date(until).toJSON()}`;
    throw new UpstreamFailure("quota", `${message}: ${reason}`, { until, reason: words });
  }

  /** Ends the lease and applies the report of its response. Later reports win, but a block is never shortened. */
  learn(lease: Lease, report: QuotaReport): void {
    const entry = this.#entryOf.get(lease);
    if (entry === undefined) return;
    const now = this.#clock.monotonic();
    this.#close(lease, report.remaining);
    const isCurrent = entry.token === lease.token;
    if (report.isRejected === true && isCurrent) this.#reject(entry, lease, report.message ?? null);
    if (report.isRejected === false && isCurrent) this.#works(entry, "the token works again");
    this.#slowDown(entry, lease.part, report);
    const { limit, remaining } = report;
    const resetAt = this.#deadline(report.resetAt);
    entry.allowances.learn(lease.resource, { limit, remaining, resetAt }, now);
  }

  /** Ends the lease of a request that was not sent. */
  giveBack(lease: Lease): void {
    this.#open.delete(lease);
  }

  /** Lets rejected tokens be tried now. */
  retryRejected(): void {
    for (const { rejected } of this.#entries) if (rejected !== null) rejected.until = this.#clock.monotonic();
  }

  /** Whether a token may be used now. */
  isReady(use: Use): boolean {
    const now = this.#clock.monotonic();
    return this.#entries.some((entry) => this.#blockOf(entry, use).until <= now);
  }

  /** Earliest time for a request, in ms since 1970; the current time when one is possible now. */
  readyAt(use: Use): number {
    const now = this.#clock.monotonic();
    this.#giveUpOld(now);
    return this.#wall(Math.max(now, Math.min(...this.#entries.map((entry) => this.#retryAt(entry, use)))));
  }

  /** One entry for each token and resource used so far, and for each other block. */
  list(): TokenQuota[] {
    const now = this.#clock.monotonic();
    this.#giveUpOld(now);
    return this.#entries.flatMap((entry) => {
      const slow = [...entry.slow].flatMap(([key, { until }]) => (until > now ? [key] : []));
      const resources = entry.allowances.all().map(([resource]) => resource);
      const used = [...resources, ...slow.filter((key) => key !== ANY)];
      const isBlocked = entry.rejected !== null || slow.includes(ANY);
      const names = used.length === 0 && isBlocked ? [ANY] : used;
      return names.map((name) => this.#view(entry, name, now));
    });
  }

  /** Notices since the last call. */
  takeNotices(): TokenNotice[] {
    const notices = this.#notices;
    this.#notices = [];
    return notices;
  }

  #view(entry: Entry, resource: string, now: number): TokenQuota {
    const { limit, resetAt } = entry.allowances.of(resource, now);
    const remaining = this.#left(entry, resource);
    const block = this.#blockOf(entry, { resource, part: resource });
    // A rejected token stays rejected when it may be tried again.
    const shown = entry.rejected === null ? block : { ...entry.rejected, reason: "rejected" as const };
    const { until } = block;
    const isBlocked = entry.rejected !== null || until > now;
    return {
      token: entry.label,
      resource,
      limit,
      remaining,
      resetAt: resetAt > now ? this.#wall(resetAt) : null,
      blockedUntil: until > now ? this.#wall(until) : null,
      blockReason: isBlocked ? shown.reason : null,
      blockMessage: isBlocked ? shown.message : null,
    };
  }

  #reject(entry: Entry, use: Use, words: string | null): void {
    const isNew = entry.rejected === null;
    entry.rejected ??= { until: this.#clock.monotonic() + rejectedMs(1), message: null, tries: 1 };
    entry.rejected.message = words;
    const isReplaced = this.isReady(use);
    const message = words === null ? "the token is rejected" : `the token is rejected: ${words}`;
    this.#notice(entry, { isWorking: false, isNew, isReplaced, message });
  }

  #works(entry: Entry, message: string): void {
    if (entry.rejected === null) return;
    entry.rejected = null;
    this.#notice(entry, { isWorking: true, isNew: true, isReplaced: false, message });
  }

  #notice({ label }: Entry, notice: Omit<TokenNotice, "token">): void {
    if (this.#notices.length < MAX_NOTICES) this.#notices.push({ token: label, ...notice });
  }

  /** The last block to end; may be over. */
  #blockOf(entry: Entry, use: Use): Block & { reason: BlockReason } {
    return this.#blocks(entry, use).reduce((last, other) => (other.until > last.until ? other : last));
  }

  /** When the token or the one that replaces it may be used. */
  #retryAt(entry: Entry, use: Use): number {
    const now = this.#clock.monotonic();
    const untils = this.#blocks(entry, use).map(({ reason, until }) =>
      reason === "rejected" && until > now ? Math.min(until, this.#renewAt()) : until,
    );
    return Math.max(...untils);
  }

  /** Everything the token waits for; may be over. */
  #blocks(entry: Entry, { resource, cost = 1, part = null }: Use): (Block & { reason: BlockReason })[] {
    const { limit, resetAt } = entry.allowances.of(resource, this.#clock.monotonic());
    const left = this.#left(entry, resource);
    const usedUp =
      left === null || isEnough(left, cost, limit) ? NOT_BLOCKED : { until: resetAt, message: null };
    return [
      { reason: "rejected", ...(entry.rejected ?? NOT_BLOCKED) },
      { reason: "slow_down", ...this.#slowness(entry, part) },
      { reason: "used_up", ...usedUp },
    ];
  }

  /** The longer block of the token and of the part. */
  #slowness({ slow }: Entry, part: string | null): Block {
    const [whole, own] = [slow.get(ANY) ?? NOT_BLOCKED, slow.get(part ?? ANY) ?? NOT_BLOCKED];
    return own.until > whole.until ? own : whole;
  }

  #slowDown({ slow }: Entry, part: string | null, { blockedUntil, message = null }: QuotaReport): void {
    const until = this.#deadline(blockedUntil);
    const key = part ?? ANY;
    if (until !== undefined && until > (slow.get(key) ?? NOT_BLOCKED).until)
      slow.set(key, { until, message });
  }

  /** Remaining quota minus requests in flight; null while unknown. */
  #left(entry: Entry, resource: string): number | null {
    const { remaining } = entry.allowances.of(resource, this.#clock.monotonic());
    if (remaining === null) return null;
    let left = remaining;
    for (const [lease, open] of this.#open) {
      if (this.#entryOf.get(lease) === entry && lease.resource === resource) left -= open.cost;
    }
    return Math.max(0, left);
  }

  /** Subtracts the cost, unless the response reported the remaining quota. */
  #close(lease: Lease, remaining: number | undefined): void {
    const open = this.#open.get(lease);
    this.#open.delete(lease);
    if (open === undefined || isCount(remaining)) return;
    this.#entryOf.get(lease)?.allowances.spend(lease.resource, open.cost, this.#clock.monotonic());
  }

  #giveUpOld(now: number): void {
    for (const [lease, { takenAt }] of this.#open) {
      if (takenAt + OPEN_MS > now) break;
      this.#close(lease, undefined);
    }
  }

  /** A time on the wall clock as a deadline, at most MAX_WAIT_MS from now. */
  #deadline(wall: number | undefined): number | undefined {
    if (wall === undefined || !Number.isFinite(wall)) return undefined;
    return this.#clock.monotonic() + Math.min(MAX_WAIT_MS, wall - this.#clock.now());
  }

  #wall(monotonic: number): number {
    return Math.ceil(this.#clock.now() + (monotonic - this.#clock.monotonic()));
  }
}

/** The resource of a token that was not used yet. */
const ANY = "any";

function newEntry({ token, label }: NamedToken): Entry {
  return { token, label, allowances: new Allowances(), slow: new Map(), rejected: null, lastUsed: 0 };
}
