import { BUCKETS, type Bucket, CALLER_KINDS, type CallerKind, type Limits } from "../limit-config.js";

/** Who is counted. */
export interface Caller {
  kind: CallerKind;
  /** ASCII; stands for one address, one network of 64 bits, or one account. */
  name: string;
  /** The wider network that an IPv6 caller counts against as well. */
  network?: string;
}

/** So many requests at once, and so many again in each window. */
export interface Policy {
  bucket: Bucket;
  limit: number;
  windowSeconds: number;
}

export interface Decision {
  policy: Policy;
  allowed: boolean;
  /** Exactly so many more requests of cost 1 pass at once. */
  remaining: number;
  /** Whole seconds until more than `remaining` pass at once; 0 when nothing is used. */
  moreInSeconds: number;
  /** Whole seconds until nothing counts any more, if nothing else is asked. */
  resetSeconds: number;
  /** Whole seconds after which a request of the same cost passes; 0 when it did. */
  retryAfterSeconds: number;
}

/** Counts what callers ask for. Those that count in this process alone know at once; others answer with a promise. */
export interface Allowances {
  /** Whether asking costs so little that the numbers of an answer may be asked for anew when it is sent. */
  readonly isImmediate: boolean;
  /** Whether such callers have this bucket. */
  has(kind: CallerKind, bucket: Bucket): boolean;
  /** Asks for a request of this cost, and counts it if it passes. A cost above the limit counts as the limit; 0 always passes. */
  decide(caller: Caller, bucket: Bucket, cost: number): Decision | Promise<Decision>;
  /** Counts more (or, below 0, less) than `decide` did, once it is known; never beyond the limit. */
  adjust(caller: Caller, bucket: Bucket, cost: number): Decision | Promise<Decision>;
  /** Ends what it holds open. */
  close(): Promise<void>;
}

export const WINDOW_SECONDS = 60;
/** Times are whole microseconds, in which every sum is exact. */
const SECOND = 1e6;

/**
 * A network of 48 bits has so many times the allowance of one of 64. One customer may be given either: who holds 48 bits
 * holds 65,536 networks of 64, and should not have as many allowances; where a hoster puts its customers side by side
 * in one, a few of them that are busy should not be in each other's way.
 */
export const NETWORK_FACTOR = 16;

/** A policy in microseconds: what one request costs, and what may be owed at most. */
export interface Rate {
  policy: Policy;
  step: number;
  capacity: number;
}

/** What one request counts against: a rate, and the name of who owes. */
export interface Claim {
  rate: Rate;
  /** ASCII; different for each bucket, kind and caller. */
  name: string;
}

/** The rates of all limits, and which of them hold for a caller. */
export class Rates {
  readonly #rates = new Map<string, Rate>();

  constructor(limits: Limits) {
    for (const bucket of BUCKETS) {
      for (const kind of CALLER_KINDS) {
        const limit = limits[bucket][kind];
        if (limit === undefined) continue;
        this.#rates.set(`${bucket} ${kind}`, rateOf(bucket, limit));
        if (kind === "anonymous")
          this.#rates.set(`${bucket} network`, rateOf(bucket, limit * NETWORK_FACTOR));
      }
    }
  }

  has(kind: CallerKind, bucket: Bucket): boolean {
    return this.#rates.has(`${bucket} ${kind}`);
  }

  /** What the caller itself counts against. */
  own({ kind, name }: Caller, bucket: Bucket): Claim {
    return this.#claim(bucket, kind, name);
  }

  /** What its network counts against, where it has one. */
  wide({ network }: Caller, bucket: Bucket): Claim | undefined {
    return network === undefined ? undefined : this.#claim(bucket, "network", network);
  }

  #claim(bucket: Bucket, kind: CallerKind | "network", name: string): Claim {
    const key = `${bucket} ${kind}`;
    const rate = this.#rates.get(key);
    if (rate === undefined) throw new Error(`${kind} callers have no limit in the bucket ${bucket}`);
    return { rate, name: `${key} ${name}` };
  }
}

function rateOf(bucket: Bucket, limit: number): Rate {
  const step = Math.ceil((WINDOW_SECONDS * SECOND) / limit);
  return { policy: { bucket, limit, windowSeconds: WINDOW_SECONDS }, step, capacity: step * limit };
}

/** How much time a cost is, at most all there is. */
export function timeOf({ step, capacity }: Rate, cost: number): number {
  return Math.min(cost * step, capacity);
}

/** What is told of a rate when so much is owed and, for a request that did not pass, so much was lacking. */
export function decision({ policy, step, capacity }: Rate, owed: number, lacking: number): Decision {
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

/** What is true where both must let a request pass. The policy is that of which less is left, of equal ones the first. */
export function tighter(a: Decision, b: Decision): Decision {
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
