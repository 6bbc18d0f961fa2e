import { MOST_OWED, WINDOW_SECONDS } from "../../src/http/limiter.js";

/** The plain model of a limit: buckets of tokens in whole numbers. One token is `step` microseconds, and a microsecond fills one of them. */
export class TokenBuckets {
  readonly #levels = new Map<string, { level: bigint; at: bigint }>();
  readonly #step: bigint;
  readonly #capacity: bigint;

  constructor(limit: number) {
    this.#step = BigInt(Math.ceil((WINDOW_SECONDS * 1e6) / limit));
    this.#capacity = this.#step * BigInt(limit);
  }

  /** Whether a cost would fit now. */
  fits(name: string, at: bigint, cost: number): boolean {
    return cost === 0 || this.#price(cost) <= this.#levelOf(name, at);
  }

  /** Takes a cost, or with `mustFit` nothing where it does not fit. */
  change(name: string, at: bigint, cost: number, mustFit: boolean): { allowed: boolean; remaining: number } {
    const level = this.#levelOf(name, at);
    const allowed = !mustFit || this.fits(name, at, cost);
    let after = allowed ? level - this.#price(cost) : level;
    const least = this.#capacity * BigInt(1 - MOST_OWED);
    if (after < least) after = least;
    if (after > this.#capacity) after = this.#capacity;
    this.#levels.set(name, { level: after, at });
    return { allowed, remaining: Math.max(0, Number(after / this.#step)) };
  }

  #levelOf(name: string, at: bigint): bigint {
    const before = this.#levels.get(name) ?? { level: this.#capacity, at };
    const filled = before.level + at - before.at;
    return filled > this.#capacity ? this.#capacity : filled;
  }

  #price(cost: number): bigint {
    const price = BigInt(cost) * this.#step;
    return price > this.#capacity ? this.#capacity : price;
  }
}
