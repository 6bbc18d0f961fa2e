import { BUCKETS, type Bucket, CALLER_KINDS, type CallerKind, type Limits } from "../config/config.js";
import type { Clock } from "../lib/clock.js";

/** A caller of the API. */
export interface Caller {
  kind: CallerKind;
  /** An address, an IPv6 network of 64 bits, the account of a session, or an API key. */
  name: string;
  /** The wider IPv6 network whose ceiling the caller counts against as well. */
  network?: string;
  /** The account of an API key or a session, whose ceiling all its keys and sessions count against. */
  account?: string;
}

/** Whom a limit applies to: one caller, or all callers in a network or account. */
type Scope = CallerKind | "network" | "account";

/** `limit` requests immediately, and as many again in each window. */
export interface Policy {
  bucket: Bucket;
  scope: Scope;
  limit: number;
  windowSeconds: number;
}

/** One limit as it applies to a caller now. */
export interface Level {
  policy: Policy;
  allowed: boolean;
  /** Requests of cost 1 that would succeed now. */
  remaining: number;
  /** Whole seconds until `remaining` grows; 0 when nothing is used. */
  moreInSeconds: number;
  /** Whole seconds until the whole limit is available again, without further requests. */
  resetSeconds: number;
  /** Whole seconds after which a request of the same cost would succeed; 0 when it was allowed. */
  retryAfterSeconds: number;
}

/** All limits of a caller combined: the one with the fewest remaining requests. */
export interface Decision extends Level {
  /** The caller's own count, without the ceilings of its groups. */
  own: { limit: number; remaining: number };
}

/** Counts the requests of callers. One that counts in this process decides synchronously, a shared one returns promises. */
export interface Allowances {
  readonly isImmediate: boolean;
  /** Whether callers of this kind have this bucket. */
  has(kind: CallerKind, bucket: Bucket): boolean;
  /** Counts a request of this cost if all limits of the caller allow it. A cost above a limit counts as the limit; 0 is always allowed. */
  decide(caller: Caller, bucket: Bucket, cost: number): Decision | Promise<Decision>;
  /** The result that `decide` would have, as far as this process knows. Counts nothing. */
  peek(caller: Caller, bucket: Bucket, cost: number): Decision;
  /** Corrects an earlier `decide` by a cost, which may be negative, and may exceed the remaining quota; never beyond MOST_OWED. */
  adjust(caller: Caller, bucket: Bucket, cost: number): Decision | Promise<Decision>;
  /** The limits of a caller one by one: first its own, then those of its groups. Counts nothing. */
  levels(caller: Caller, bucket: Bucket): Level[] | Promise<Level[]>;
}

export const WINDOW_SECONDS = 60;
/** Most that a caller may owe, in windows: a response may turn out to cost more than was left. */
export const MOST_OWED = 2;
/** Times are whole microseconds, so that sums are exact. */
const SECOND = 1e6;

/**
 * An IPv6 network of 48 bits has this many times the allowance of one of 64. A customer may hold either: the holder of 48 bits
 * has 65,536 networks of 64 and must not get as many allowances; yet a hosting company may put all its customers into one
 * network of 48, in which a few busy ones must not block the others.
 */
export const NETWORK_FACTOR = 16;

/** The limit that the keys and sessions of an account share: one and a half times the limit of a key. */
export function accountCeiling(keyLimit: number): number {
  return Math.ceil(keyLimit * 1.5);
}

/** One limit a request counts against. Times are in microseconds. */
export interface AppliedLimit {
  policy: Policy;
  /** The time that one request takes, and the most that may be owed. */
  step: number;
  capacity: number;
  /** Key of its allowance: bucket, scope and caller. */
  name: string;
}

/** Which limits apply to a caller. */
class Rates {
  readonly #rates = new Map<string, Omit<AppliedLimit, "name">>();

  constructor(limits: Limits) {
    for (const bucket of BUCKETS) {
      const { anonymous, key } = limits[bucket];
      for (const kind of CALLER_KINDS) this.#add(bucket, kind, limits[bucket][kind]);
      this.#add(bucket, "network", anonymous === undefined ? undefined : anonymous * NETWORK_FACTOR);
      this.#add(bucket, "account", key === undefined ? undefined : accountCeiling(key));
    }
  }

  has(kind: CallerKind, bucket: Bucket): boolean {
    return this.#rates.has(`${bucket} ${kind}`);
  }

  /** The limits a request counts against: first the caller's own, then those of its groups. */
  limitsOf({ kind, name, network, account }: Caller, bucket: Bucket): AppliedLimit[] {
    const limits = [this.#limit(bucket, kind, name)];
    if (network !== undefined) limits.push(this.#limit(bucket, "network", network));
    if (account !== undefined) limits.push(this.#limit(bucket, "account", account));
    return limits;
  }

  #add(bucket: Bucket, scope: Scope, limit: number | undefined): void {
    if (limit === undefined) return;
    const step = Math.ceil((WINDOW_SECONDS * SECOND) / limit);
    const policy = { bucket, scope, limit, windowSeconds: WINDOW_SECONDS };
    this.#rates.set(`${bucket} ${scope}`, { policy, step, capacity: step * limit });
  }

  #limit(bucket: Bucket, scope: Scope, name: string): AppliedLimit {
    const key = `${bucket} ${scope}`;
    const rate = this.#rates.get(key);
    if (rate === undefined) throw new Error(`the bucket ${bucket} has no limit for ${scope}`);
    return { ...rate, name: `${key} ${name}` };
  }
}

/** Callers that are remembered, in about 15 MB. */
const MAX_CALLERS = 100_000;
/** Entries that are looked at for one to evict, and the debt in microseconds with which one is evicted without looking further. */
const EVICTION_LOOK = 256;
const SMALL_DEBT = 15 * SECOND;

/**
 * GCRA: stores one time per caller and limit, at which nothing is owed any more. A request moves it forward by `window / limit` and is
 * allowed while it stays within one window from now. So `limit` requests succeed immediately, and `limit` more in each window, evenly
 * spread. A request counts only if the caller and all its groups (network, account) allow it.
 *
 * The number of callers is bounded. The oldest that owe little are evicted first, and a new caller inherits the debt of the evicted one: a
 * full map makes limits tighter, never looser, and a flood of new callers frees no offender (Space-Saving, Metwally et al. 2005).
 */
export class Limiter implements Allowances {
  readonly isImmediate = true;
  readonly #clock: Clock;
  readonly #rates: Rates;
  /** When each name owes nothing any more, in monotonic microseconds. */
  readonly #clearAt = new Map<string, number>();
  readonly #maxCallers: number;
  /** The entry to evict next, if the map is full. */
  #victim: string | undefined;

  constructor({
    limits,
    clock,
    maxCallers = MAX_CALLERS,
  }: { limits: Limits; clock: Clock; maxCallers?: number }) {
    this.#clock = clock;
    this.#rates = new Rates(limits);
    this.#maxCallers = maxCallers;
  }

  has(kind: CallerKind, bucket: Bucket): boolean {
    return this.#rates.has(kind, bucket);
  }

  decide(caller: Caller, bucket: Bucket, cost: number): Decision {
    return decisionOf(this.take(this.limitsOf(caller, bucket), cost));
  }

  peek(caller: Caller, bucket: Bucket, cost: number): Decision {
    const now = this.#now();
    const levels = this.limitsOf(caller, bucket).map((limit) => {
      const owed = this.#owed(limit, now);
      return levelOf(limit, owed, lackingOf(limit, owed, timeOf(limit, cost)));
    });
    return decisionOf(levels);
  }

  adjust(caller: Caller, bucket: Bucket, cost: number): Decision {
    return decisionOf(this.move(this.limitsOf(caller, bucket), cost));
  }

  levels(caller: Caller, bucket: Bucket): Level[] {
    return this.take(this.limitsOf(caller, bucket), 0);
  }

  limitsOf(caller: Caller, bucket: Bucket): AppliedLimit[] {
    return this.#rates.limitsOf(caller, bucket);
  }

  /** Counts a cost if all limits allow it. */
  take(limits: readonly AppliedLimit[], cost: number): Level[] {
    const now = this.#now();
    const owed = limits.map((limit) => this.#owed(limit, now));
    const lacking = limits.map((limit, i) => lackingOf(limit, owed[i] ?? 0, timeOf(limit, cost)));
    const isAllowed = cost > 0 && lacking.every((time) => time === 0);
    return limits.map((limit, i) => {
      const owes = (owed[i] ?? 0) + (isAllowed ? timeOf(limit, cost) : 0);
      if (isAllowed) this.#store(limit.name, now, owes);
      return levelOf(limit, owes, lacking[i] ?? 0);
    });
  }

  /** Counts a cost in any case. */
  move(limits: readonly AppliedLimit[], cost: number): Level[] {
    const now = this.#now();
    return limits.map((limit) => {
      const owed = this.#owed(limit, now);
      const owes = Math.max(0, Math.min(owed + timeOf(limit, cost), MOST_OWED * limit.capacity));
      // An evicted caller gets nothing back: its debt has passed to another.
      if (owes !== owed) this.#store(limit.name, now, owes);
      return levelOf(limit, owes, 0);
    });
  }

  #owed({ name, capacity }: AppliedLimit, now: number): number {
    const clearAt = this.#clearAt.get(name);
    if (clearAt === undefined && this.#clearAt.size < this.#maxCallers) return 0;
    return Math.max(0, Math.min((clearAt ?? this.#chooseVictim(now)) - now, MOST_OWED * capacity));
  }

  #store(name: string, now: number, owes: number): void {
    if (!this.#clearAt.has(name) && this.#victim !== undefined) this.#clearAt.delete(this.#victim);
    this.#victim = undefined;
    this.#clearAt.set(name, now + owes);
  }

  /** Chooses an entry to evict. Entries that owe more become the newest. Returns when it owes nothing. */
  #chooseVictim(now: number): number {
    let least = Number.POSITIVE_INFINITY;
    for (const [name, clearAt] of this.#clearAt.entries().take(Math.min(EVICTION_LOOK, this.#clearAt.size))) {
      if (clearAt < least) {
        least = clearAt;
        this.#victim = name;
      }
      if (clearAt - now <= SMALL_DEBT) break;
      this.#clearAt.delete(name);
      this.#clearAt.set(name, clearAt);
    }
    return least;
  }

  #now(): number {
    return Math.floor(this.#clock.monotonic() * 1_000);
  }
}

/** The time that a cost takes, at most all of it; negative for a cost that is given back. */
export function timeOf({ step, capacity }: AppliedLimit, cost: number): number {
  return Math.max(-capacity, Math.min(cost * step, capacity));
}

/** The time until `time` fits on top of the debt; 0: it fits now. */
function lackingOf({ capacity }: AppliedLimit, owed: number, time: number): number {
  return time <= 0 ? 0 : Math.max(0, owed + time - capacity);
}

/** The state of a limit when `owed` microseconds are owed and, for a request that was refused, `lacking` were missing. */
export function levelOf({ policy, step, capacity }: AppliedLimit, owed: number, lacking: number): Level {
  const remaining = Math.max(0, Math.floor((capacity - owed) / step));
  const more = owed === 0 ? 0 : owed - (capacity - (remaining + 1) * step);
  return {
    policy,
    allowed: lacking === 0,
    remaining,
    moreInSeconds: Math.ceil(more / SECOND),
    resetSeconds: Math.ceil(owed / SECOND),
    retryAfterSeconds: Math.ceil(lacking / SECOND),
  };
}

/** Combines two limits that must both allow a request. The policy is that of the one with fewer remaining; the first if equal. */
export function tighter(a: Level, b: Level): Level {
  const [least, other] = b.remaining < a.remaining ? [b, a] : [a, b];
  return {
    policy: least.policy,
    allowed: a.allowed && b.allowed,
    remaining: least.remaining,
    moreInSeconds:
      least.remaining === other.remaining ? Math.max(a.moreInSeconds, b.moreInSeconds) : least.moreInSeconds,
    resetSeconds: Math.max(a.resetSeconds, b.resetSeconds),
    retryAfterSeconds: Math.max(a.retryAfterSeconds, b.retryAfterSeconds),
  };
}

/** The decision of all limits of a caller; the first is its own. */
export function decisionOf(levels: readonly Level[]): Decision {
  const [first] = levels;
  if (first === undefined) throw new Error("a caller must have at least one limit");
  return {
    ...levels.reduce(tighter),
    own: { limit: first.policy.limit, remaining: first.remaining },
  };
}

/** A quota, and who it counts for. */
interface HeldQuota<Quota> {
  /** The account of a key or session, else the address, and the IPv6 network of 48 bits around it, which may use `factor` times as much. */
  holders: { name: string; factor: number }[];
  quota: Quota;
}

/** A quota of a caller that is counted in the store; undefined where none is set. */
export function quotaOf<Quota>(
  { kind, name, network, account = name }: Caller,
  quota: Quota | undefined,
): HeldQuota<Quota> | undefined {
  if (quota === undefined) return undefined;
  const own = { name: kind === "anonymous" ? name : `account ${account}`, factor: 1 };
  const holders = network === undefined ? [own] : [own, { name: network, factor: NETWORK_FACTOR }];
  return { holders, quota };
}

/** Continues with a value: in this turn if it is ready, else once it is. A ready response waits for no promise. */
export function after<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
