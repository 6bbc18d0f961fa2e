import { setImmediate } from "node:timers/promises";
import type { Clock } from "../clock.js";

/** Rejects if the promise takes longer. */
export async function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T> {
  const settled = new AbortController();
  const late = clock.sleep(ms, settled.signal).then(async () => {
    if (settled.signal.aborted) return promise;
    // The response may have arrived without this process having had time to read it.
    await setImmediate();
    throw new Error(`no reply within ${ms} ms`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    settled.abort();
  }
}
