import { AppError } from "../errors.js";

/**
 * Limits how many tasks run concurrently and how many wait; throws UNAVAILABLE beyond that. For work that callers are not
 * charged for, so that it cannot starve other requests.
 */
export class Gate {
  readonly #maxRunning: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(maxRunning: number, maxWaiting: number) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  async pass<T>(task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#maxRunning) {
      if (this.#waiting.length >= this.#maxWaiting)
        throw new AppError("UNAVAILABLE", "Too many pictures are being rendered; try again.");
      // A finished task hands over its slot, so the count stays the same.
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
