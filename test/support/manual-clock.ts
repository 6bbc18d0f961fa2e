import type { Clock } from "../../src/lib/clock.js";

/** In real time. Fewer sleeps may be expected without anybody saying so, as when a worker ends by an error. */
const RECHECK_MS = 200;

/** A clock for tests: time passes only when advanced. */
export class ManualClock implements Clock {
  #now: number;
  #monotonic = 0;
  readonly #sleepers = new Set<{ until: number; wake: () => void }>();
  #onSleep: () => void = () => {};

  constructor(start: number) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const sleeper = {
        until: this.#monotonic + Math.max(0, ms),
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal?.removeEventListener("abort", sleeper.wake);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", sleeper.wake, { once: true });
      this.#onSleep();
    });
  }

  /** Number of pending sleeps. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** Resolves when at least as many sleeps as `count` returns are pending. One caller at a time. */
  async whenSleeping(count: () => number): Promise<void> {
    while (this.#sleepers.size < count()) {
      let recheck: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#onSleep = resolve;
        recheck = setTimeout(resolve, RECHECK_MS);
      });
      clearTimeout(recheck);
      // Whoever slept may be woken before the event loop turns.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Lets `whenSleeping` count again, after fewer are expected. */
  recount(): void {
    this.#onSleep();
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

/** A clock whose sleeps end immediately, as that much time passes with each. For code that waits without anything else happening. */
export class SkippingClock extends ManualClock {
  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (!signal?.aborted) this.advance(Math.max(0, ms));
    return Promise.resolve();
  }
}
