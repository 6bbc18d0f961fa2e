import type { Dialect } from "./dialect.js";

/** Rows of the first transaction, and of the smallest one, where others wait. */
const FIRST = 250;
const LEAST = 25;

/**
 * The number of rows to write in one transaction, so that nobody waits long for it: adapts to how long the previous ones took.
 * Always `most` where nobody waits.
 */
export class BatchSize {
  readonly #turnMs: number | undefined;
  readonly #most: number;
  #rows: number;

  constructor({ turnMs }: Pick<Dialect, "turnMs">, most: number) {
    this.#turnMs = turnMs;
    this.#most = most;
    this.#rows = turnMs === undefined ? most : Math.min(FIRST, most);
  }

  get rows(): number {
    return this.#rows;
  }

  /** Notes that a transaction with this number of rows took so long, without the time it waited for the lock. */
  note(rows: number, ms: number): void {
    // A smaller one, at the end, says little.
    if (this.#turnMs === undefined || rows < this.#rows) return;
    const factor = Math.min(2, Math.max(0.5, this.#turnMs / Math.max(ms, 1)));
    this.#rows = Math.round(Math.min(this.#most, Math.max(LEAST, this.#rows * factor)));
  }
}
