/** The only source of time. Modules take a `Clock`, so tests set the time. */
import { setImmediate } from "node:timers/promises";

export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z; may jump when the machine's clock is set. */
  now(): number;
  /** Milliseconds that never decrease, for durations and limits. The same in all threads of a machine. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds, or as soon as `signal` is aborted. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
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
      if (signal?.aborted) return resolve();
      const end = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, Math.max(0, Math.min(ms, LONGEST_TIMER_MS)));
      signal?.addEventListener("abort", end, { once: true });
    }),
};

/** Longest delay of `setTimeout`. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Rejects if the promise takes longer than `ms`. */
export async function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T> {
  const settled = new AbortController();
  const late = clock.sleep(ms, settled.signal).then(async () => {
    if (settled.signal.aborted) return promise;
    // The response may have arrived without this process having had time to read it.
    await setImmediate();
    throw new Error(`no reply within ${ms} ms`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    settled.abort();
  }
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
export const WEEK_MS = 7 * DAY_MS;

/** The same as `isoTime`; null without a time. */
export function timeOrNull(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : isoTime(ms);
}

/** The day of a time in UTC, such as 2026-04-30. */
export function isoDay(ms: number): string {
  return isoTime(ms).slice(0, 10);
}

/** Whole days in UTC from a time to now: 0 on its own day, never negative. null: there is no such time. */
export function ageInDays(at: number | null, now: number): number | null {
  return at === null ? null : Math.max(0, Math.floor(now / DAY_MS) - Math.floor(at / DAY_MS));
}

/**
 * ISO 8601 in UTC with milliseconds: the format of every time in responses and exports. Throws RangeError for a time that is
 * no number. Most times of a list are of a few days, so the dates are remembered: that takes a sixth of the time of `Date`.
 */
export function isoTime(ms: number): string {
  const day = Math.floor(ms / DAY_MS);
  let date = DATES.get(day);
  if (date === undefined) {
    const text = new Date(day * DAY_MS).toISOString();
    date = text.slice(0, text.indexOf("T") + 1);
    if (DATES.size >= MAX_DATES) DATES.clear();
    DATES.set(day, date);
  }
  const time = ms - day * DAY_MS;
  const seconds = Math.floor(time / 1_000);
  const rest = Math.floor(time % 1_000);
  const end =
    rest === 0 ? SECONDS[seconds % 60] : `${TWO_DIGITS[seconds % 60]}.${String(rest).padStart(3, "0")}Z`;
  return `${date}${MINUTES[Math.floor(seconds / 60)]}${end}`;
}

/** Dates with a "T" at their end, by days since 1970. */
const DATES = new Map<number, string>();
const MAX_DATES = 20_000;
const TWO_DIGITS = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, "0"));
/** The parts of a day's times that follow the date, as few parts are joined faster. Forges give whole seconds. */
const MINUTES = Array.from(
  { length: 1_440 },
  (_, i) => `${TWO_DIGITS[Math.floor(i / 60)]}:${TWO_DIGITS[i % 60]}:`,
);
const SECONDS = TWO_DIGITS.map((second) => `${second}.000Z`);

/** Parses a time such as `30d`, from 1 to 3,650 days; undefined if malformed. */
export function readDays(text: string): number | undefined {
  const days = Number(/^([1-9][0-9]{0,3})d?$/.exec(text.trim())?.[1]);
  return days <= 3_650 ? days : undefined;
}
