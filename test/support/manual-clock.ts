import type { Clock } from "../../src/clock.js";

/** A clock for tests: time passes only when advanced. */
export class ManualClock implements Clock {
  #now: number;
  #monotonic = 0;
  readonly #sleepers = new Set<{ until: number; wake: () => void }>();

  constructor(start: number) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const sleeper = {
        until: this.#monotonic + Math.max(0, ms),
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal.removeEventListener("abort", sleeper.wake);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal.addEventListener("abort", sleeper.wake, { once: true });
    });
  }

  /** Number of pending sleeps. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** Milliseconds until the next sleep ends; undefined without any. */
  get untilNextWake(): number | undefined {
    if (this.#sleepers.size === 0) return undefined;
    return Math.max(0, Math.min(...[...this.#sleepers].map(({ until }) => until)) - this.#monotonic);
  }

  advance(ms: number): void {
    this.#now += ms;
    this.#monotonic += ms;
    for (const sleeper of [...this.#sleepers]) if (sleeper.until <= this.#monotonic) sleeper.wake();
  }

  /** Sets the time of day without any time passing, as when the machine's clock is set. */
  set(now: number): void {
    this.#now = now;
  }
}
