import type { Clock } from "../clock.js";

/** Ends the sleep of a loop early when something has happened that must not wait. */
export class Alarm {
  readonly #clock: Clock;
  readonly #stopping: AbortSignal;
  /** Aborted while the alarm has rung and nobody has slept since. */
  #rung = new AbortController();
  /** What every sleep takes, so that an alarm that rings all the time does not take all the time. */
  leastMs = 0;

  /** `stopping`: ends all sleeps. */
  constructor(clock: Clock, stopping: AbortSignal) {
    this.#clock = clock;
    this.#stopping = stopping;
    stopping.addEventListener("abort", () => this.ring(), { once: true });
  }

  ring(): void {
    this.#rung.abort();
  }

  /** Sleeps for `ms`, or until the alarm rings, or has rung since the last sleep. */
  async sleep(ms: number): Promise<void> {
    const least = Math.min(ms, this.leastMs);
    await this.#clock.sleep(least, this.#stopping);
    await this.#clock.sleep(ms - least, this.#rung.signal);
    if (!this.#stopping.aborted) this.#rung = new AbortController();
  }
}
