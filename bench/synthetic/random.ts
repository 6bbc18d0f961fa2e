/** Pseudo-random numbers, the same for the same seed on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 (inclusive) to 1 (exclusive). Algorithm: mulberry32 by Tommy Ettinger, public domain. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** An integer from `min` to `max`, inclusive. */
  between(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  pick<T>(values: readonly T[]): T {
    const value = values[Math.floor(this.next() * values.length)];
    if (value === undefined) throw new Error("there is nothing to pick from");
    return value;
  }

  weighted<T>(values: readonly (readonly [T, number])[]): T {
    let rest = this.next() * values.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [value, weight] of values) {
      rest -= weight;
      if (rest < 0) return value;
    }
    return this.pick(values)[0];
  }

  /** A rank from 0 to `ranks` - 1, drawn with the frequency 1 / (rank + 1) ** exponent (continuous, so approximately). */
  zipf(ranks: number, exponent: number): number {
    const rest = 1 - exponent;
    const drawn = ((ranks + 1) ** rest - 1) * this.next() + 1;
    return Math.min(ranks - 1, Math.floor(drawn ** (1 / rest)) - 1);
  }

  /** A whole number of at least 0 with this mean, geometrically distributed. */
  geometric(mean: number): number {
    return Math.floor(Math.log(1 - this.next()) / Math.log(mean / (mean + 1)));
  }

  /** A Poisson-distributed count: Knuth's algorithm for small means, a normal approximation for large ones. */
  poisson(mean: number): number {
    if (mean > 30) {
      const normal = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
      return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal));
    }
    const limit = Math.exp(-mean);
    let product = this.next();
    let count = 0;
    while (product > limit) {
      product *= this.next();
      count++;
    }
    return count;
  }
}
