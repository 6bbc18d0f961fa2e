import { HOUR_MS } from "../clock.js";

/** Upper bound of a burst, which otherwise is the number of requests per minute. */
const MAX_BURST = 10;

/**
 * Allows at most `perHour` (at least 1) requests in any hour, evenly spaced except for a small burst after a pause. Times are
 * in ms, on one clock.
 */
export class Pace {
  /** Time between two requests that come evenly. */
  readonly intervalMs: number;
  readonly #slackMs: number;
  /** When the next request is due if all come evenly (GCRA). */
  #dueAt: number;

  /** `dueAt`: of a pace that continues. */
  constructor(perHour: number, dueAt = Number.NEGATIVE_INFINITY) {
    this.#dueAt = dueAt;
    const burst = Math.min(MAX_BURST, Math.max(1, Math.floor(perHour / 60)));
    // An hour holds the burst plus the evenly spaced rest, together `perHour`.
    this.intervalMs = Math.ceil(HOUR_MS / (perHour - burst + 1));
    this.#slackMs = (burst - 1) * this.intervalMs;
  }

  /** When the next request is due; what another Pace continues with. */
  get dueAt(): number {
    return this.#dueAt;
  }

  /** When the next request is allowed; may be in the past. */
  get readyAt(): number {
    return this.#dueAt - this.#slackMs;
  }

  /** Counts a request sent at `at`, which may be in the future. */
  spend(at: number): void {
    this.#dueAt = Math.max(at, this.#dueAt) + this.intervalMs;
  }
}
