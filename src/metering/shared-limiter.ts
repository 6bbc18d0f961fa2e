import type { Bucket, CallerKind, Limits } from "../limit-config.js";
import type { Limiter } from "./limiter.js";
import { type Allowances, type Caller, type Decision, Rates, tighter, timeOf } from "./rates.js";
import type { Asked, RedisStore } from "./redis-store.js";

/**
 * Limits that hold over all processes which use the same store. Each also counts for itself, and a request passes where both
 * let it: while the store answers, that is what all together have asked; when it is away, what this process has let pass
 * stays counted; and when it comes back empty, nobody begins anew here.
 */
export class SharedLimiter implements Allowances {
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
    const own = this.#local.decide(caller, bucket, cost);
    // Who is refused here is not counted there, but told how long to wait by both.
    const asking = this.#store.ask(own.allowed ? "take" : "look", this.#asked(caller, bucket, cost));
    if (asking === undefined) return own;
    return asking.then((shared) => {
      if (shared === undefined) return own;
      if (shared.allowed || !own.allowed) return tighter(own, shared);
      return { ...tighter(this.#local.adjust(caller, bucket, -cost), shared), allowed: false };
    });
  }

  adjust(caller: Caller, bucket: Bucket, cost: number): Decision | Promise<Decision> {
    const own = this.#local.adjust(caller, bucket, cost);
    const moving = this.#store.ask("move", this.#asked(caller, bucket, cost));
    if (moving === undefined) return own;
    return moving.then((shared) => (shared === undefined ? own : tighter(own, shared)));
  }

  async close(): Promise<void> {
    this.#store.close();
  }

  #asked(caller: Caller, bucket: Bucket, cost: number): Asked[] {
    const own = this.#rates.own(caller, bucket);
    const wide = this.#rates.wide(caller, bucket);
    const claims = wide === undefined ? [own] : [own, wide];
    return claims.map((claim) => ({ claim, time: timeOf(claim.rate, cost) }));
  }
}
