import { getRandomValues } from "node:crypto";
import type { Clock } from "../clock.js";
import { BUCKETS, type Bucket, CALLER_KINDS, type CallerKind, type Limits } from "../limit-config.js";
import { type HashKey, KeyedHash } from "./keyed-hash.js";

/** Who is counted. `name` is ASCII and stands for one address prefix or one account. */
export interface Caller {
  kind: CallerKind;
  name: string;
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

export interface LimiterOptions {
  limits: Limits;
  clock: Clock;
  /** How many callers and buckets are remembered; a power of two, from 16 on. 12 bytes each. */
  entries?: number;
  /** Only tests give one; otherwise random, so that nobody can aim at a place in the table. */
  key?: HashKey;
}

export const WINDOW_SECONDS = 60;
const DEFAULT_ENTRIES = 2 ** 21;
const WAYS = 16;
/** Times are whole microseconds, in which every sum below is exact. */
const SECOND = 1e6;

/** A policy in microseconds: what one request costs, and what may be owed at most. */
interface Rate {
  policy: Policy;
  step: number;
  capacity: number;
}

/**
 * GCRA: of each caller and bucket one time is kept, at which nothing will be owed any more. A request moves it by
 * `window / limit`, and passes while it stays within one window from now. So `limit` pass at once and `limit` more in each
 * window, evenly.
 *
 * The table never grows. A caller's place is one of sixteen that a keyed hash chooses. When all are taken, the one that owes
 * least goes, which is one that owes nothing wherever there is such a one; whoever takes its place takes over its debt
 * (Space-Saving, Metwally et al. 2005). So nobody who is forgotten gains by it: a full table can only make limits
 * tighter, and no flood of newcomers frees an offender.
 */
export class Limiter {
  readonly #clock: Clock;
  readonly #hash: KeyedHash;
  readonly #rates: ReadonlyMap<string, Rate>;
  readonly #tags: Uint32Array;
  /** When nothing is owed any more. */
  readonly #clearAt: Float64Array;
  readonly #setMask: number;

  constructor({ limits, clock, entries = DEFAULT_ENTRIES, key = randomKey() }: LimiterOptions) {
    this.#clock = clock;
    this.#hash = new KeyedHash(key);
    this.#rates = ratesOf(limits);
    this.#tags = new Uint32Array(entries);
    this.#clearAt = new Float64Array(entries);
    this.#setMask = entries / WAYS - 1;
  }

  /** Bytes of the table, whatever it holds. */
  get tableBytes(): number {
    return this.#tags.byteLength + this.#clearAt.byteLength;
  }

  /** Whether such callers have this bucket. */
  has(kind: CallerKind, bucket: Bucket): boolean {
    return this.#rates.has(`${bucket} ${kind}`);
  }

  /** Asks for a request of this cost, and counts it if it passes. A cost above the limit counts as the limit; 0 always passes. */
  decide({ kind, name }: Caller, bucket: Bucket, cost: number): Decision {
    const rate = this.#rateOf(kind, bucket);
    const now = this.#now();
    const slot = this.#locate(`${bucket} ${kind} ${name}`);
    const owed = this.#owed(slot, now, rate);
    const asked = Math.min(cost * rate.step, rate.capacity);
    const allowed = asked === 0 || owed + asked <= rate.capacity;
    if (!allowed) return decision(rate, owed, owed + asked - rate.capacity);
    if (asked > 0) this.#keep(slot, now + owed + asked);
    return decision(rate, owed + asked, 0);
  }

  /** Counts more (or, below 0, less) than `decide` did, once it is known; never beyond the limit. */
  adjust({ kind, name }: Caller, bucket: Bucket, cost: number): Decision {
    const rate = this.#rateOf(kind, bucket);
    const now = this.#now();
    const slot = this.#locate(`${bucket} ${kind} ${name}`);
    const owed = this.#owed(slot, now, rate);
    const after = Math.max(0, Math.min(owed + cost * rate.step, rate.capacity));
    // Who has been forgotten meanwhile is given nothing back: the place is another's.
    if (cost > 0 || this.#tags[slot] === this.#hash.high) this.#keep(slot, now + after);
    return decision(rate, after, 0);
  }

  #rateOf(kind: CallerKind, bucket: Bucket): Rate {
    const rate = this.#rates.get(`${bucket} ${kind}`);
    if (rate === undefined) throw new Error(`${kind} callers have no limit in the bucket ${bucket}`);
    return rate;
  }

  #now(): number {
    return Math.floor(this.#clock.monotonic() * 1_000);
  }

  /** The place of a caller, or the one it would take; its tag is left in the hash. */
  #locate(text: string): number {
    this.#hash.hash(text);
    const tag = this.#hash.high;
    const first = (this.#hash.low & this.#setMask) * WAYS;
    let least = first;
    let leastAt = Number.POSITIVE_INFINITY;
    for (let slot = first; slot < first + WAYS; slot++) {
      if (this.#tags[slot] === tag) return slot;
      const clearAt = this.#clearAt[slot] ?? 0;
      if (clearAt < leastAt) {
        leastAt = clearAt;
        least = slot;
      }
    }
    return least;
  }

  /** Microseconds that are owed; within the capacity even if the clock should ever run back. */
  #owed(slot: number, now: number, { capacity }: Rate): number {
    return Math.max(0, Math.min((this.#clearAt[slot] ?? 0) - now, capacity));
  }

  #keep(slot: number, clearAt: number): void {
    this.#tags[slot] = this.#hash.high;
    this.#clearAt[slot] = clearAt;
  }
}

function decision({ policy, step, capacity }: Rate, owed: number, lacking: number): Decision {
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

function ratesOf(limits: Limits): ReadonlyMap<string, Rate> {
  const rates = new Map<string, Rate>();
  for (const bucket of BUCKETS) {
    for (const kind of CALLER_KINDS) {
      const limit = limits[bucket][kind];
      if (limit === undefined) continue;
      const step = Math.ceil((WINDOW_SECONDS * SECOND) / limit);
      const policy = { bucket, limit, windowSeconds: WINDOW_SECONDS };
      rates.set(`${bucket} ${kind}`, { policy, step, capacity: step * limit });
    }
  }
  return rates;
}

function randomKey(): HashKey {
  const [low = 0, high = 0] = getRandomValues(new Uint32Array(2));
  return [low, high];
}
