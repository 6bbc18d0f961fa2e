const ATTEMPTS = 50;
/** A refill may change a number that was rounded to a second after this time. */
const REFILL_MS = 1_000;

/**
 * Runs a proof about an allowance that refills by a real clock, such as that of Redis. A failure that took long enough
 * for a refill proves nothing, so the proof runs again; it must use callers of its own in each run.
 */
export async function beforeRefill(prove: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const began = performance.now();
    try {
      return await prove();
    } catch (error) {
      if (attempt === ATTEMPTS || performance.now() - began < REFILL_MS) throw error;
    }
  }
}
