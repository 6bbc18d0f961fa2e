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

export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
export const WEEK_MS = 7 * DAY_MS;

/** ISO 8601 in UTC with milliseconds: the format of every time in responses and exports. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
