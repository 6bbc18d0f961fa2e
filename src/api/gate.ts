import { AppError } from "../errors.js";

/**
 * Lets only so many tasks run at a time and so many wait; beyond, it throws UNAVAILABLE. For work that callers are not
 * charged for: however much of it is asked for, other requests come between.
 */
export class Gate {
  readonly #atOnce: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(atOnce: number, maxWaiting: number) {
    this.#atOnce = atOnce;
    this.#maxWaiting = maxWaiting;
  }

  async pass<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnce) {
      if (this.#waiting.length >= this.#maxWaiting)
        throw new AppError("UNAVAILABLE", "Too many pictures are being made; try again.");
      // Whoever ends hands its place on, so it is not counted anew.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#running++;
    }
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else setImmediate(next);
    }
  }
}
