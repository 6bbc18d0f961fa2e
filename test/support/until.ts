import { setTimeout } from "node:timers/promises";

/** Time between two looks, and how long a condition may take to become true. */
const EVERY_MS = 20;
const LONGEST_MS = 60_000;

/**
 * Resolves when a condition holds that other processes bring about in real time; while it cannot be examined it does not hold. Throws if
 * it does not within a minute.
 */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  let cause: unknown;
  for (const end = performance.now() + LONGEST_MS; performance.now() < end; ) {
    try {
      if (await holds()) return;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await setTimeout(EVERY_MS);
  }
  throw new Error(`not within a minute: ${what}`, { cause });
}
