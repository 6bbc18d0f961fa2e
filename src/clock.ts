/** The only source of time. Modules take a `Clock`, so tests decide what time it is. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z; may jump when the machine's clock is set. */
  now(): number;
  /** Milliseconds that only ever grow; for durations and limits. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** A clock that stands still until it is moved. */
export class ManualClock implements Clock {
  #now: number;
  #monotonic = 0;

  constructor(start: number) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#monotonic;
  }

  advance(ms: number): void {
    this.#now += ms;
    this.#monotonic += ms;
  }
}

export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
export const WEEK_MS = 7 * DAY_MS;

/** ISO 8601 in UTC with milliseconds, the only form of a time that leaves this program. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
