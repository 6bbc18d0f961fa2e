import { type Provider, UpstreamFailure } from "../forges/forges.js";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { restAfter } from "./cadence.js";
import type { Step } from "./lane.js";
import { LeaseLost } from "./lease.js";
import type { Reporter } from "./report.js";

export interface LoopOptions {
  name: string;
  step: () => Promise<Step>;
  /** Of the loop of a lane. `readyAt`: when its next request may be sent, in ms since 1970. */
  lane?: { provider: Provider; reporter: Reporter; readyAt: () => number };
  clock: Clock;
  log: Logger;
  chance: () => number;
  signal: AbortSignal;
  /** Called when a token works again, which other loops may wait for. */
  onToken: () => void;
}

const ERROR_REST_MS = 60_000;
/** Longest wait for a forge when a lane is drained. */
const PATIENCE_MS = 61_000;
/** A lane is drained after this many consecutive steps without a request; a single one may be too early by a millisecond. */
const IDLE_STEPS = 3;

/** A loop of the worker: does one step at a time, and waits after it. One that fails continues later, and delays no other. */
export class Loop {
  readonly #options: LoopOptions;
  #waking = new AbortController();

  constructor(options: LoopOptions) {
    this.#options = options;
  }

  /** Repeats the step until the loop is ended, or the lease is lost. */
  async run(): Promise<void> {
    const { name, step, lane, clock, log, chance, signal } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      let wait: Pick<Step, "waitMs" | "leastMs">;
      try {
        const done = await step();
        wait = done;
        if (done.hasResponse) failures = 0;
      } catch (error) {
        if (signal.aborted || error instanceof LeaseLost) return;
        failures++;
        if (error instanceof UpstreamFailure) {
          lane?.reporter.stopped(error, clock.now());
          const { kind, message, reason, until } = error;
          const askedMs = until === null ? 0 : until - clock.now();
          wait = { waitMs: Math.max(restAfter(failures, chance()), askedMs) };
          log[kind === "quota" ? "debug" : "warn"]({ loop: name, kind, reason, ...wait }, message);
        } else {
          wait = { waitMs: ERROR_REST_MS };
          log.error(
            { err: error, loop: name },
            "unexpected error in a loop of the worker; it continues in a minute",
          );
        }
      } finally {
        this.#noteTokens();
      }
      await this.#sleep(wait);
    }
  }

  /**
   * Repeats the step of a lane while it has something to do and the forge allows it within PATIENCE_MS. Ends at the first failure of
   * the forge, throws others. Does nothing for a loop that is not a lane's.
   */
  async drain(): Promise<void> {
    const { name, step, lane, clock, log, signal } = this.#options;
    for (let idle = 0; lane !== undefined && idle < IDLE_STEPS && !signal.aborted; ) {
      try {
        const notReadyMs = lane.readyAt() - clock.now();
        const { waitMs, hasResponse } = notReadyMs > 0 ? { waitMs: notReadyMs } : await step();
        if (waitMs > PATIENCE_MS && (hasResponse || notReadyMs > 0)) return;
        idle = hasResponse || notReadyMs > 0 ? 0 : idle + 1;
        if (idle === 0) await clock.sleep(waitMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof UpstreamFailure)) throw error;
        lane.reporter.stopped(error, clock.now());
        log.warn({ loop: name, kind: error.kind, reason: error.reason }, error.message);
        return;
      } finally {
        this.#noteTokens();
      }
    }
  }

  /** Ends its wait, or the next one if it is in a step. */
  wake(): void {
    this.#waking.abort();
  }

  async #sleep({ waitMs, leastMs = 0 }: Pick<Step, "waitMs" | "leastMs">): Promise<void> {
    const { clock, signal } = this.#options;
    const least = Math.min(waitMs, leastMs);
    if (least > 0) await clock.sleep(least, signal);
    await clock.sleep(waitMs - least, AbortSignal.any([signal, this.#waking.signal]));
    this.#waking = new AbortController();
  }

  /** Logs tokens that stopped working and those that work again, once each. */
  #noteTokens(): void {
    const { lane, log, onToken } = this.#options;
    if (lane === undefined) return;
    const { provider, reporter } = lane;
    const notices = provider.notices();
    reporter.noticed(notices);
    for (const { token: label, isWorking, isNew, message } of notices) {
      if (isNew) log[isWorking ? "info" : "warn"]({ provider: provider.name, label }, message);
      if (isNew && isWorking) onToken();
    }
  }
}
