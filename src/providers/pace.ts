import { HOUR_MS } from "../clock.js";

/** As many at once as fall on a minute, but no more than this. */
const MAX_BURST = 10;

/**
 * A pace of at most `perHour` (at least 1) in any hour, evenly spaced but for a small burst after a rest. Times are those of a
 * monotonic clock, in ms.
 */
export class Pace {
  readonly #intervalMs: number;
  readonly #slackMs: number;
  /** When the next would be due if all had come evenly (GCRA). */
  #dueAt = Number.NEGATIVE_INFINITY;

  constructor(perHour: number) {
    const burst = Math.min(MAX_BURST, Math.max(1, Math.floor(perHour / 60)));
    // The burst counts too: with it and what follows evenly, an hour holds `perHour`.
    this.#intervalMs = Math.ceil(HOUR_MS / (perHour - burst + 1));
    this.#slackMs = (burst - 1) * this.#intervalMs;
  }

  /** From when on the next may go; may be long past. */
  get readyAt(): number {
    return this.#dueAt - this.#slackMs;
  }

  /** Counts one that goes now. */
  spend(now: number): void {
    this.#dueAt = Math.max(now, this.#dueAt) + this.#intervalMs;
  }
}
