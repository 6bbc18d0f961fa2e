/**
 * Quota: chooses the token for each request and tracks the limits that responses report. It never permits a request that the
 * forge asked us not to send, and uses several tokens evenly. It neither sends requests nor reads responses.
 *
 * Deadlines are on the monotonic clock, so setting the wall clock neither extends nor loses them; times in results are on the wall
 * clock at that moment. None is further away than MAX_WAIT_MS, whatever a forge reports.
 */
import { type Clock, DAY_MS, HOUR_MS } from "../lib/clock.js";
import type { BlockReason, TokenNotice, TokenQuota } from "./contract.js";
import { UpstreamFailure } from "./failures.js";

/** Longest wait that a forge may ask for. */
export const MAX_WAIT_MS = DAY_MS;
/** A request in flight for longer is considered lost: no response takes this long. */
const LOST_MS = 5 * 60_000;
/** How long a count without a reset time is valid. */
const UNDATED_MS = 60_000;
/** Two reset times no further apart than this are the same reset. */
const SAME_RESET_MS = 5_000;
/** A longer wait that a forge asks for is no limit on bursts but a ban, which the log says once. */
const LEAST_BAN_MS = 10 * 60_000;
const MAX_NOTICES = 100;
/** Refusals by this many owners, with nothing read for a day, mean that a token has no access. A day, as other owners may not have been due. */
const LEAST_REFUSALS = 10;
/** The resource of a token that was not used yet, and the part of a block of the token as a whole. */
const ANY = "any";

/** A token (null: none) and its name in logs: `#1`, `#2` …, `app`, `anonymous`. */
export interface NamedToken {
  readonly token: string | null;
  readonly label: string;
}

export interface Use {
  readonly resource: string;
  /** Requests or points; default 1. */
  readonly cost?: number;
  /** A part of the resource that the forge also limits separately. A wait for it concerns no other request. */
  readonly part?: string | null;
}

/** What a response says about its token. Times in ms since 1970; absent: not reported. Invalid values are ignored. */
export interface QuotaReport {
  limit?: number;
  remaining?: number;
  resetAt?: number;
  /** The token must not be used before then: for this part of the resource, or without one for anything. */
  blockedUntil?: number;
  isRejected?: boolean;
  message?: string | null;
}

/** Permission for one request. Returned to `learn` with the response's report, empty if there was no response. */
export interface Lease extends NamedToken, Required<Use> {
  readonly entry: Entry;
  /** Monotonic. */
  readonly takenAt: number;
}

interface Block {
  /** Monotonic. */
  until: number;
  message: string | null;
}

interface Allowance {
  limit: number | null;
  /** As last reported; excludes requests in flight. */
  remaining: number | null;
  /** Monotonic. */
  resetAt: number;
}

interface Entry {
  token: string | null;
  label: string;
  readonly allowances: Map<string, Allowance>;
  /** Waits that the forge asked for, by part. */
  readonly slow: Map<string, Block>;
  /** Since the token was rejected, until it works again; with the number of its tries. */
  rejected: (Block & { tries: number }) | null;
  /** Since the token was refused for all owners, until it reads anything. */
  noAccess: Block | null;
  /** Owners that refused the token since it last read anything, and when that was (monotonic). */
  readonly refusing: Set<string>;
  readAt: number;
  readonly open: Set<Lease>;
  /** Sequence number of its last lease, across all tokens. */
  lastUsed: number;
}

const NOT_BLOCKED: Block = { until: Number.NEGATIVE_INFINITY, message: null };

export class Quota {
  readonly #clock: Clock;
  readonly #renewAt: () => number;
  #entries: Entry[];
  #notices: TokenNotice[] = [];
  #uses = 0;

  /** Anonymous without tokens. `renewAt`: when a rejected token may be replaced, monotonic; a wait ends then. Absent: never. */
  constructor(options: { tokens: readonly string[]; clock: Clock; renewAt?: () => number }) {
    this.#clock = options.clock;
    this.#renewAt = options.renewAt ?? (() => Number.POSITIVE_INFINITY);
    this.#entries = nameTokens(options.tokens).map(newEntry);
  }

  /** Replaces the tokens; those that stay keep their quota, and so does `app`, whose tokens share one. */
  replace(tokens: readonly NamedToken[]): void {
    const before = this.#entries;
    this.#entries = tokens.map(({ token, label }) => {
      const same = before.find((entry) => entry.token === token || (label === APP && entry.label === APP));
      if (same === undefined) return newEntry({ token, label });
      if (same.token !== token) this.#works(same, "rejected", "a new token was obtained");
      return Object.assign(same, { token, label });
    });
  }

  /** Permission to send one request with the token that has most left. Throws UpstreamFailure `quota` with `until`. */
  take(use: Use): Lease {
    const { resource, cost = 1, part = null } = use;
    this.check(use);
    const now = this.#clock.monotonic();
    const left = (entry: Entry) => this.#left(entry, resource) ?? Number.POSITIVE_INFINITY;
    const entry = this.#entries
      .filter((candidate) => this.#blockOf(candidate, use).until <= now)
      .reduce((best, other) => {
        const more = left(other) - left(best);
        return more > 0 || (!(more < 0) && other.lastUsed < best.lastUsed) ? other : best;
      });
    // Other requests wait for the response to this one.
    if (entry.rejected !== null) entry.rejected.until = now + rejectedMs(++entry.rejected.tries);
    if (entry.noAccess !== null) entry.noAccess.until = now + HOUR_MS;
    entry.lastUsed = ++this.#uses;
    entry.allowances.set(resource, this.#allowanceOf(entry, resource));
    const lease: Lease = {
      entry,
      token: entry.token,
      label: entry.label,
      resource,
      cost,
      part,
      takenAt: now,
    };
    entry.open.add(lease);
    return lease;
  }

  /** Throws as `take` would. */
  check(use: Use): void {
    if (this.isReady(use)) return;
    const retryAt = (entry: Entry) => this.#retryAt(entry, use);
    const next = this.#entries.reduce((best, other) => (retryAt(other) < retryAt(best) ? other : best));
    const { reason, message: words } = this.#blockOf(next, use);
    const until = this.#wall(Math.max(this.#clock.monotonic(), retryAt(next)));
    const message = `no token may be used for ${use.part ?? use.resource} before ${new Date(until).toJSON()}`;
    throw new UpstreamFailure("quota", `${message}: ${reason}`, { until, reason: words });
  }

  /** Ends the lease and applies the report of its response. Later reports win, but a block is never shortened. */
  learn(lease: Lease, report: QuotaReport): void {
    const { entry, resource, part } = lease;
    const { limit, remaining, message = null, isRejected } = report;
    this.#close(lease, isCount(remaining));
    if (entry.token === lease.token) {
      if (isRejected === true) this.#reject(entry, lease, message);
      if (isRejected === false) this.#works(entry, "rejected", "the token works again");
    }
    const until = this.#deadline(report.blockedUntil);
    const key = part ?? ANY;
    if (until !== undefined && until > (entry.slow.get(key) ?? NOT_BLOCKED).until)
      this.#slowDown(entry, key, { until, message });
    this.#allow(entry, resource, { limit, remaining, resetAt: this.#deadline(report.resetAt) });
  }

  /** The forge gave data to the token. */
  hasRead({ entry }: Lease): void {
    entry.refusing.clear();
    entry.readAt = this.#clock.monotonic();
    this.#works(entry, "noAccess", "the token works again");
  }

  /** An owner refused the token access to what anybody may read. */
  wasRefused({ entry }: Lease, owner: string): void {
    const now = this.#clock.monotonic();
    entry.refusing.add(owner);
    if (entry.refusing.size < LEAST_REFUSALS || now - entry.readAt < DAY_MS) return;
    const message = `the token was refused for all of ${entry.refusing.size} owners`;
    const isNew = entry.noAccess === null;
    entry.noAccess = { until: now + HOUR_MS, message };
    if (isNew) this.#notice(entry, { isWorking: false, isNew, isReplaced: true, message });
  }

  /** Whether a token may be used, now or later, that was not refused for all owners. */
  get hasAccess(): boolean {
    const isNone = this.#entries.every(({ noAccess }) => noAccess === null);
    return isNone || this.#entries.some(({ noAccess, rejected }) => noAccess === null && rejected === null);
  }

  /** Lets rejected and refused tokens be tried now. */
  retryRejected(): void {
    for (const { rejected, noAccess } of this.#entries)
      for (const block of [rejected, noAccess]) if (block !== null) block.until = this.#clock.monotonic();
  }

  isReady(use: Use): boolean {
    const now = this.#clock.monotonic();
    return this.#entries.some((entry) => this.#blockOf(entry, use).until <= now);
  }

  /** Earliest time for a request, in ms since 1970; the current time when one is possible now. */
  readyAt(use: Use): number {
    const first = Math.min(...this.#entries.map((entry) => this.#retryAt(entry, use)));
    return this.#wall(Math.max(this.#clock.monotonic(), first));
  }

  /** One entry for each token and resource used so far, and for each other block. */
  list(): TokenQuota[] {
    const now = this.#clock.monotonic();
    return this.#entries.flatMap((entry) => {
      const slow = [...entry.slow].flatMap(([key, { until }]) => (until > now ? [key] : []));
      const used = [...entry.allowances.keys(), ...slow.filter((key) => key !== ANY)];
      const isBlocked = entry.rejected !== null || slow.includes(ANY);
      const names = used.length === 0 && isBlocked ? [ANY] : used;
      return names.map((name) => this.#view(entry, name, now));
    });
  }

  takeNotices(): TokenNotice[] {
    const notices = this.#notices;
    this.#notices = [];
    return notices;
  }

  #view(entry: Entry, resource: string, now: number): TokenQuota {
    const { limit, resetAt } = this.#allowanceOf(entry, resource);
    const { until, reason, message } = this.#blockOf(entry, { resource, part: resource });
    // A token that may be tried again stays rejected.
    const refusal = entry.rejected ?? entry.noAccess;
    const refusalReason = entry.rejected === null ? "no_access" : "rejected";
    const isBlocked = until > now;
    return {
      token: entry.label,
      resource,
      limit,
      remaining: this.#left(entry, resource),
      resetAt: resetAt > now ? this.#wall(resetAt) : null,
      blockedUntil: isBlocked ? this.#wall(until) : null,
      blockReason: refusal !== null ? refusalReason : isBlocked ? reason : null,
      blockMessage: refusal !== null ? refusal.message : isBlocked ? message : null,
    };
  }

  #reject(entry: Entry, use: Use, words: string | null): void {
    const isNew = entry.rejected === null;
    entry.rejected ??= { until: this.#clock.monotonic() + rejectedMs(1), message: null, tries: 1 };
    entry.rejected.message = words;
    const message = words === null ? "the token is rejected" : `the token is rejected: ${words}`;
    this.#notice(entry, { isWorking: false, isNew, isReplaced: this.isReady(use), message });
  }

  #slowDown(entry: Entry, key: string, block: Block): void {
    const banAt = this.#clock.monotonic() + LEAST_BAN_MS;
    // Requests in flight when the forge asked for it get the same response.
    const isNew = block.until > banAt && (entry.slow.get(key) ?? NOT_BLOCKED).until <= banAt;
    entry.slow.set(key, block);
    if (!isNew) return;
    const words = block.message === null ? "" : `: ${block.message}`;
    const message = `the forge asked to wait until ${new Date(this.#wall(block.until)).toJSON()}${words}`;
    this.#notice(entry, { isWorking: false, isNew, isReplaced: false, message });
  }

  #works(entry: Entry, block: "rejected" | "noAccess", message: string): void {
    if (entry[block] === null) return;
    entry[block] = null;
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
    const left = this.#left(entry, resource);
    const { limit, resetAt } = this.#allowanceOf(entry, resource);
    // One that costs more than the whole limit may go while it is untouched.
    const isEnough = left === null || left >= Math.max(1, Math.min(cost, limit ?? cost));
    return [
      { reason: "rejected", ...(entry.rejected ?? NOT_BLOCKED) },
      { reason: "no_access", ...(entry.noAccess ?? NOT_BLOCKED) },
      { reason: "slow_down", ...(entry.slow.get(ANY) ?? NOT_BLOCKED) },
      { reason: "slow_down", ...(entry.slow.get(part ?? ANY) ?? NOT_BLOCKED) },
      { reason: "used_up", ...(isEnough ? NOT_BLOCKED : { until: resetAt, message: null }) },
    ];
  }

  /** The current allowance: full again after its reset. */
  #allowanceOf({ allowances }: Entry, resource: string): Allowance {
    const known = allowances.get(resource) ?? {
      limit: null,
      remaining: null,
      resetAt: Number.NEGATIVE_INFINITY,
    };
    return known.resetAt <= this.#clock.monotonic() ? { ...known, remaining: known.limit } : known;
  }

  #allow(
    entry: Entry,
    resource: string,
    { limit, remaining, resetAt }: { [Key in keyof Allowance]: number | undefined },
  ): void {
    const now = this.#clock.monotonic();
    const allowance = { ...this.#allowanceOf(entry, resource) };
    if (isCount(limit)) allowance.limit = limit === 0 ? null : limit;
    const isSameReset = resetAt === undefined || Math.abs(resetAt - allowance.resetAt) <= SAME_RESET_MS;
    if (isCount(remaining)) {
      // Responses can arrive out of order: within a period the lowest count is the newest.
      allowance.remaining = Math.min(isSameReset ? (allowance.remaining ?? remaining) : remaining, remaining);
      if (resetAt === undefined && allowance.resetAt <= now) allowance.resetAt = now + UNDATED_MS;
    }
    if (resetAt !== undefined) allowance.resetAt = resetAt;
    entry.allowances.set(resource, allowance);
  }

  /** Remaining quota minus requests in flight; null while unknown. */
  #left(entry: Entry, resource: string): number | null {
    const lostBefore = this.#clock.monotonic() - LOST_MS;
    for (const lease of entry.open) if (lease.takenAt <= lostBefore) this.#close(lease, false);
    const { remaining } = this.#allowanceOf(entry, resource);
    if (remaining === null) return null;
    const open = [...entry.open].filter((lease) => lease.resource === resource);
    return Math.max(
      0,
      open.reduce((left, { cost }) => left - cost, remaining),
    );
  }

  /** Subtracts the cost, unless the response reported the remaining quota. */
  #close(lease: Lease, isReported: boolean): void {
    const { entry, resource, cost } = lease;
    if (!entry.open.delete(lease) || isReported) return;
    const allowance = this.#allowanceOf(entry, resource);
    const { remaining } = allowance;
    const left = remaining === null ? null : Math.max(0, remaining - cost);
    entry.allowances.set(resource, { ...allowance, remaining: left });
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

/** Cool-down of a token after a rejection. `tries`: how often it has been rejected. */
function rejectedMs(tries: number): number {
  return (tries === 1 ? 1 : tries === 2 ? 5 : 15) * 60_000;
}

function isCount(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0;
}

function newEntry({ token, label }: NamedToken): Entry {
  return {
    token,
    label,
    allowances: new Map(),
    slow: new Map(),
    rejected: null,
    noAccess: null,
    refusing: new Set(),
    readAt: Number.NEGATIVE_INFINITY,
    open: new Set(),
    lastUsed: 0,
  };
}

export const APP = "app";

/** Tokens with their labels; without tokens a single null. */
export function nameTokens(tokens: readonly string[]): NamedToken[] {
  if (tokens.length === 0) return [{ token: null, label: "anonymous" }];
  return tokens.map((token, i) => ({ token, label: `#${i + 1}` }));
}
