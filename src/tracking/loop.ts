/** Loops of a worker: each does one step at a time, and waits after it. A loop that fails continues later, and delays no other. */

import { type Provider, UpstreamFailure } from "../forges/forges.js";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { restAfter } from "./cadence.js";
import { type Reporter, type Step, waiting } from "./lane.js";

export interface Loop {
  name: string;
  step: () => Promise<Step>;
  /** Ends its wait early. */
  alarm?: Alarm;
  /** Of the loop of a lane. `readyAt`: when its next request may be sent, in ms since 1970. */
  lane?: { provider: Provider; reporter: Reporter; readyAt: () => number };
}

export interface LoopsOptions {
  clock: Clock;
  log: Logger;
  /** A random number from 0 to 1, for spreading waits. */
  chance: () => number;
  /** Ends all loops. */
  stopping: AbortSignal;
}

/** Pause of a loop after an unexpected error. */
const ERROR_REST_MS = 60_000;
/** Longest wait for a forge when a lane is drained. */
const PATIENCE_MS = 61_000;
/** A lane is drained after this many consecutive steps without a request; a single one may be too early by a millisecond. */
const IDLE_STEPS = 3;

export class Loops {
  readonly #options: LoopsOptions;
  #waking = new AbortController();

  constructor(options: LoopsOptions) {
    this.#options = options;
  }

  /** Repeats the steps of a loop until all loops are stopped. */
  async run({ name, step, lane, alarm }: Loop): Promise<void> {
    const { clock, log, chance, stopping } = this.#options;
    let failures = 0;
    while (!stopping.aborted) {
      let wait: number;
      try {
        const { waitMs, hasResponse } = await step();
        wait = waitMs;
        if (hasResponse) failures = 0;
      } catch (error) {
        if (stopping.aborted) return;
        failures++;
        if (error instanceof UpstreamFailure) {
          lane?.reporter.stopped(error, clock.now());
          wait = restOf(error, clock.now(), restAfter(failures, chance()));
          const { kind, message, reason } = error;
          log[kind === "quota" ? "debug" : "warn"]({ loop: name, kind, reason, waitMs: wait }, message);
        } else {
          wait = ERROR_REST_MS;
          log.error(
            { err: error, loop: name },
            "unexpected error in a loop of the worker; it continues in a minute",
          );
        }
      } finally {
        if (lane !== undefined) this.#noteTokens(lane);
      }
      await (alarm?.sleep(wait) ?? clock.sleep(wait, AbortSignal.any([stopping, this.#waking.signal])));
    }
  }

  /**
   * Repeats the steps of a lane while it has something to do and the forge allows it within PATIENCE_MS. Ends at the first failure of
   * the forge, throws others. Does nothing for a loop that is not a lane's.
   */
  async drain({ name, step, lane }: Loop): Promise<void> {
    const { clock, log, stopping } = this.#options;
    for (let idle = 0; lane !== undefined && idle < IDLE_STEPS && !stopping.aborted; ) {
      try {
        const notReadyMs = lane.readyAt() - clock.now();
        const { waitMs, hasResponse } = notReadyMs > 0 ? waiting(notReadyMs) : await step();
        if (waitMs > PATIENCE_MS && (hasResponse || notReadyMs > 0)) return;
        idle = hasResponse || notReadyMs > 0 ? 0 : idle + 1;
        if (idle === 0) await clock.sleep(waitMs, stopping);
      } catch (error) {
        if (stopping.aborted) return;
        if (!(error instanceof UpstreamFailure)) throw error;
        lane.reporter.stopped(error, clock.now());
        log.warn({ loop: name, kind: error.kind, reason: error.reason }, error.message);
        return;
      } finally {
        this.#noteTokens(lane);
      }
    }
  }

  /** Ends all waits, as when a forge permits more than it did before. */
  wake(): void {
    this.#waking.abort();
    this.#waking = new AbortController();
  }

  /** Logs tokens that stopped working and those that work again, once each. Lanes that wait for one of those go on. */
  #noteTokens({ provider, reporter }: NonNullable<Loop["lane"]>): void {
    const notices = provider.notices();
    reporter.noticed(notices);
    for (const { token: label, isWorking, isNew, message } of notices) {
      if (isNew) this.#options.log[isWorking ? "info" : "warn"]({ provider: provider.name, label }, message);
      if (isNew && isWorking) this.wake();
    }
  }
}

/** As long as the forge asked, but at least `leastMs`. */
function restOf({ until }: UpstreamFailure, now: number, leastMs: number): number {
  return Math.max(leastMs, until === null ? 0 : until - now);
}

/** Ends the sleep of a loop early when something has happened that must not wait. */
export class Alarm {
  readonly #clock: Clock;
  readonly #stopping: AbortSignal;
  /** Aborted if the alarm has rung since the last sleep. */
  #rung = new AbortController();
  /** Minimum length of every sleep, so that an alarm that rings all the time does not take all the time. */
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
