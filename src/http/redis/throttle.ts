import type { Clock } from "../../lib/clock.js";

export interface ThrottleOptions {
  clock: Clock;
  /** Calls that run immediately after a pause. */
  burst: number;
  /** Time in which one more may run. */
  intervalMs: number;
  /** After it, nothing runs any more. */
  signal: AbortSignal;
  run: () => void;
}

/** Runs something on request, at a bounded rate: what is requested too early runs once, later. */
export class Throttle {
  readonly #options: ThrottleOptions;
  #left: number;
  /** When `#left` was last brought up to date; monotonic. */
  #at: number;
  #isWaiting = false;

  constructor(options: ThrottleOptions) {
    this.#options = options;
    this.#left = options.burst;
    this.#at = options.clock.monotonic();
  }

  request(): void {
    const { clock, burst, intervalMs, signal, run } = this.#options;
    if (this.#isWaiting || signal.aborted) return;
    const now = clock.monotonic();
    this.#left = Math.min(burst, this.#left + (now - this.#at) / intervalMs);
    this.#at = now;
    if (this.#left >= 1) {
      this.#left--;
      run();
      return;
    }
    this.#isWaiting = true;
    void clock.sleep((1 - this.#left) * intervalMs, signal).then(() => {
      if (signal.aborted) return;
      this.#isWaiting = false;
      this.#left = 0;
      this.#at = clock.monotonic();
      run();
    });
  }
}
