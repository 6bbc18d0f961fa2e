import type { Dialect } from "./dialect.js";

/** Rows of the first transaction, if others wait for it. */
const FIRST = 250;

/**
 * The number of rows to write in one transaction, so that other writers do not wait long: adapts to the time that previous ones
 * took. Always `most` if writers do not wait for each other.
 */
export class BatchSize {
  readonly #turnMs: number | undefined;
  readonly #most: number;
  readonly #least: number;
  #rows: number;

  /** `least`: fewer rows do not make a transaction much shorter, as part of its work does not depend on them. */
  constructor({ turnMs }: Pick<Dialect, "turnMs">, { least, most }: { least: number; most: number }) {
    this.#turnMs = turnMs;
    this.#least = least;
    this.#most = most;
    this.#rows = turnMs === undefined ? most : this.#bounded(FIRST);
  }

  get rows(): number {
    return this.#rows;
  }

  /** Notes how long a transaction with this number of rows took, without the time it waited for the lock. */
  note(rows: number, ms: number): void {
    // A smaller one, at the end, says little.
    if (this.#turnMs === undefined || rows < this.#rows) return;
    const factor = Math.min(2, Math.max(0.5, this.#turnMs / Math.max(ms, 1)));
    this.#rows = this.#bounded(Math.round(this.#rows * factor));
  }

  #bounded(rows: number): number {
    return Math.min(this.#most, Math.max(this.#least, rows));
  }
}
