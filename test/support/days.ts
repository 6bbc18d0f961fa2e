import { setImmediate } from "node:timers/promises";
import { type Clock, DAY_MS, systemClock } from "../../src/lib/clock.js";

/** Shorter pauses keep the pace of a forge; longer ones renew leases. */
const PACE_MS = 2_000;

/** A clock that runs on by itself, jumps over days, and does not wait for the pace of a forge. */
export class DayClock implements Clock {
  #aheadMs: number;

  constructor(start: number) {
    this.#aheadMs = start - systemClock.now();
  }

  now = (): number => systemClock.now() + this.#aheadMs;
  monotonic = (): number => systemClock.monotonic() + this.#aheadMs;

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms >= PACE_MS) return systemClock.sleep(ms, signal);
    this.#aheadMs += Math.max(0, Math.ceil(ms));
    await setImmediate();
  }

  pass(days: number): void {
    this.#aheadMs += days * DAY_MS;
  }
}
