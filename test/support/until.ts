import { setTimeout } from "node:timers/promises";

/** Time between two looks, and how long a condition may take to become true. */
const EVERY_MS = 20;
const LONGEST_MS = 60_000;

/** Resolves when a condition holds that other processes bring about in real time. Throws if it does not within a minute. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const beganAt = performance.now();
  while (performance.now() - beganAt < LONGEST_MS) {
    if (await holds()) return;
    await setTimeout(EVERY_MS);
  }
  throw new Error(`not within a minute: ${what}`);
}
