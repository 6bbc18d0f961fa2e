import { BUCKETS, type Bucket, CALLER_KINDS, type CallerKind, type Limits } from "../../config/config.js";

/** A caller of the API. Names are ASCII. */
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
export type Scope = CallerKind | "network" | "account";

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

/** Counts the requests of callers. Limiters that count in this process decide synchronously, others return a promise. */
export interface Allowances {
  /** Whether deciding is so cheap that it can be repeated when a response is sent. */
  readonly isImmediate: boolean;
  /** Whether callers of this kind have this bucket. */
  has(kind: CallerKind, bucket: Bucket): boolean;
  /** Counts a request of this cost if all limits of the caller allow it. A cost above a limit counts as the limit; 0 is always allowed. */
  decide(caller: Caller, bucket: Bucket, cost: number): Decision | Promise<Decision>;
  /** Corrects an earlier `decide` by a cost, which may be negative; never beyond the limit. */
  adjust(caller: Caller, bucket: Bucket, cost: number): Decision | Promise<Decision>;
  /** The limits of a caller one by one: first its own, then those of its groups. Counts nothing. */
  levels(caller: Caller, bucket: Bucket): Level[] | Promise<Level[]>;
}

export const WINDOW_SECONDS = 60;
/** Times are whole microseconds, so that sums are exact. */
const SECOND = 1e6;

/**
 * An IPv6 network of 48 bits has this many times the allowance of one of 64. A customer may hold either: the holder of 48 bits
 * has 65,536 networks of 64 and must not get as many allowances; yet a hosting company may put all its customers into one
 * network of 48, where a few busy ones must not block the others.
 */
export const NETWORK_FACTOR = 16;

/** What the keys and sessions of an account together may use, unless a setting says otherwise: one and a half times the limit of a key. */
export function accountCeiling(keyLimit: number): number {
  return Math.ceil(keyLimit * 1.5);
}

/** A policy in microseconds: the cost of one request, and the most that may be owed. */
export interface Rate {
  policy: Policy;
  step: number;
  capacity: number;
}

/** Where the entry of a name is found. */
export interface Slot {
  /** Index of the first entry of its set. */
  readonly first: number;
  /** 1 to 2^20 - 1: tells the names of a set apart. */
  readonly tag: number;
}

/** One limit a request counts against. */
export interface AppliedLimit {
  rate: Rate;
  /** Key of its allowance: bucket, scope and caller. ASCII. */
  name: string;
  /** Where the allowance is in this process; undefined before its first use. */
  slot: Slot | undefined;
}

/** The rates of all limits, and which of them apply to a caller. */
export class Rates {
  readonly #rates = new Map<string, Rate>();
  readonly #known = new WeakMap<Caller, Map<Bucket, readonly AppliedLimit[]>>();

  constructor(limits: Limits) {
    for (const bucket of BUCKETS) {
      const { anonymous, key, account } = limits[bucket];
      for (const kind of CALLER_KINDS) this.#add(bucket, kind, limits[bucket][kind]);
      this.#add(bucket, "network", anonymous === undefined ? undefined : anonymous * NETWORK_FACTOR);
      this.#add(bucket, "account", account ?? (key === undefined ? undefined : accountCeiling(key)));
    }
  }

  has(kind: CallerKind, bucket: Bucket): boolean {
    return this.#rates.has(`${bucket} ${kind}`);
  }

  /** The limits a request counts against: first the caller's own, then those of its groups. The same objects for the same caller. */
  limitsOf(caller: Caller, bucket: Bucket): readonly AppliedLimit[] {
    let known = this.#known.get(caller);
    if (known === undefined) {
      known = new Map();
      this.#known.set(caller, known);
    }
    let limits = known.get(bucket);
    if (limits === undefined) {
      limits = this.#limitsOf(caller, bucket);
      known.set(bucket, limits);
    }
    return limits;
  }

  #limitsOf({ kind, name, network, account }: Caller, bucket: Bucket): AppliedLimit[] {
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
    return { rate, name: `${key} ${name}`, slot: undefined };
  }
}

/** The time that a cost takes, at most all of it; negative for a cost that is given back. */
export function timeOf({ step, capacity }: Rate, cost: number): number {
  return Math.max(-capacity, Math.min(cost * step, capacity));
}

/** What is lacking until `time` fits on top of what is owed, in microseconds; 0: it fits. */
export function lackingOf({ capacity }: Rate, owed: number, time: number): number {
  return time === 0 ? 0 : Math.max(0, owed + time - capacity);
}

/** The state of a limit when `owed` microseconds are owed and, for a request that was refused, `lacking` were missing. */
export function levelOf({ policy, step, capacity }: Rate, owed: number, lacking: number): Level {
  const remaining = Math.floor((capacity - owed) / step);
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

/** The decision of all limits of a caller, of which the first is its own. */
export function decisionOf(levels: readonly Level[]): Decision {
  const [first] = levels;
  if (first === undefined) throw new Error("a caller has at least one limit");
  let level = first;
  for (let i = 1; i < levels.length; i++) level = tighter(level, levels[i] ?? level);
  const { policy, allowed, remaining, moreInSeconds, resetSeconds, retryAfterSeconds } = level;
  const own = { limit: first.policy.limit, remaining: first.remaining };
  return { policy, allowed, remaining, moreInSeconds, resetSeconds, retryAfterSeconds, own };
}

/** A quota, and who it counts for. */
export interface HeldQuota<Quota> {
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
