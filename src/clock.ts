/** The only source of time. Modules take a `Clock`, so tests decide what time it is. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z; may jump when the machine's clock is set. */
  now(): number;
  /** Milliseconds that never decrease, for durations and limits. The same in all threads of a machine. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds, or as soon as `signal` is aborted. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => {
    // Not performance.now(), which starts at zero in each thread.
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1_000 + nanoseconds / 1e6;
  },
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, Math.min(ms, LONGEST_TIMER_MS));
      signal.addEventListener("abort", end, { once: true });
    }),
};

/** Longest delay of `setTimeout`. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

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

export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
export const WEEK_MS = 7 * DAY_MS;

/** ISO 8601 in UTC with milliseconds: the format of every time in responses and exports. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
