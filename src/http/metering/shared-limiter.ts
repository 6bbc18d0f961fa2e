import type { Bucket, CallerKind, Limits } from "../../config/config.js";
import type { Clock } from "../../lib/clock.js";
import type { RedisClient } from "../redis/client.js";
import { Limiter, type TableMemory } from "./limiter.js";
import {
  type Allowances,
  type Caller,
  type Decision,
  decisionOf,
  type Level,
  Rates,
  tighter,
  timeOf,
} from "./rates.js";
import { type Charged, RedisStore } from "./redis-store.js";

export interface AllowancesOptions {
  /** Undefined: nothing is limited. */
  limits: Limits | undefined;
  /** Where allowances are shared with other processes; undefined: they are not. */
  redis: RedisClient | undefined;
  /** Called only with `redis`; must return the same in all processes that share. */
  readSecret: () => Promise<string>;
  /** Memory shared with other threads. */
  memory: TableMemory | undefined;
  clock: Clock;
}

/** The allowances as configured. A store that is unavailable does not fail: it is retried later. */
export async function openAllowances(options: AllowancesOptions): Promise<Allowances | undefined> {
  const { limits, redis, memory, clock } = options;
  if (limits === undefined) return undefined;
  const local = new Limiter({ limits, clock, memory });
  if (redis === undefined) return local;
  const store = new RedisStore(redis, await options.readSecret());
  await redis.open();
  return new SharedLimiter(local, store, limits);
}

/**
 * Limits shared by all processes that use the same store. Each process also counts for itself, and a request must be allowed
 * by both. So the requests this process allowed stay counted while the store is unavailable, and nobody starts over when it
 * comes back empty.
 */
class SharedLimiter implements Allowances {
  readonly isImmediate = false;
  readonly #local: Limiter;
  readonly #store: RedisStore;
  readonly #rates: Rates;

  constructor(local: Limiter, store: RedisStore, limits: Limits) {
    this.#local = local;
    this.#store = store;
    this.#rates = new Rates(limits);
  }

  has(kind: CallerKind, bucket: Bucket): boolean {
    return this.#local.has(kind, bucket);
  }

  decide(caller: Caller, bucket: Bucket, cost: number): Decision | Promise<Decision> {
    const levels = this.#take(caller, bucket, cost);
    return levels instanceof Promise ? levels.then(decisionOf) : decisionOf(levels);
  }

  levels(caller: Caller, bucket: Bucket): Level[] | Promise<Level[]> {
    return this.#take(caller, bucket, 0);
  }

  adjust(caller: Caller, bucket: Bucket, cost: number): Decision | Promise<Decision> {
    const local = this.#local.move(caller, bucket, cost);
    const moving = this.#store.run("move", this.#charged(caller, bucket, cost));
    if (moving === undefined) return decisionOf(local);
    return moving.then((shared) => decisionOf(shared === undefined ? local : merge(local, shared)));
  }

  #take(caller: Caller, bucket: Bucket, cost: number): Level[] | Promise<Level[]> {
    const local = this.#local.take(caller, bucket, cost);
    const isAllowed = isAllowedBy(local);
    // A request refused here is not counted there, but both report how long to wait.
    const running = this.#store.run(isAllowed ? "take" : "look", this.#charged(caller, bucket, cost));
    if (running === undefined) return local;
    return running.then((shared) => {
      if (shared === undefined) return local;
      if (!isAllowed || isAllowedBy(shared)) return merge(local, shared);
      return merge(this.#local.move(caller, bucket, -cost), shared);
    });
  }

  #charged(caller: Caller, bucket: Bucket, cost: number): Charged[] {
    return this.#rates.limitsOf(caller, bucket).map((limit) => ({ limit, time: timeOf(limit.rate, cost) }));
  }
}

function isAllowedBy(levels: readonly Level[]): boolean {
  return levels.every(({ allowed }) => allowed);
}

function merge(local: readonly Level[], shared: readonly Level[]): Level[] {
  return local.map((level, i) => tighter(level, shared[i] ?? level));
}
