/** The only source of time. Modules take a `Clock`, so tests decide what time it is. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z; may jump when the machine's clock is set. */
  now(): number;
  /** Milliseconds that only ever grow; for durations and limits. All threads of a machine read the same. */
  monotonic(): number;
  /** Ends after so many milliseconds, or as soon as `signal` is aborted; never throws. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => {
    // Not performance.now(), which begins at zero in each thread.
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

/** What `setTimeout` can wait for. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A clock that stands still until it is moved. */
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

  /** How many wait for time to pass. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** Milliseconds until the first of those that wait wakes; undefined when none waits. */
  get untilNextWake(): number | undefined {
    if (this.#sleepers.size === 0) return undefined;
    return Math.max(0, Math.min(...[...this.#sleepers].map(({ until }) => until)) - this.#monotonic);
  }

  advance(ms: number): void {
    this.#now += ms;
    this.#monotonic += ms;
    for (const sleeper of [...this.#sleepers]) if (sleeper.until <= this.#monotonic) sleeper.wake();
  }

  /** Sets the time of day without any time passing, as an operator does. */
  set(now: number): void {
    this.#now = now;
  }
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
export const WEEK_MS = 7 * DAY_MS;

/** ISO 8601 in UTC with milliseconds, the only form of a time that leaves this program. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
