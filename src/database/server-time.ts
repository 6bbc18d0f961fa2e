import { CLOCK_JUMP_MS, NOTABLE_CLOCK_MS, type ServerClock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";

/** How often the clock of the server is read, and how many times then: the quickest response counts. */
const EVERY_MS = 60_000;
const READINGS = 5;
/** A slower response says too little. */
const MOST_ERROR_MS = 500;

/** Reads the clock of the server once, a few times. */
async function measureServerTime(
  clock: ServerClock,
  readTime: () => Promise<number>,
): Promise<{ serverTime: number; at: number; errorMs: number }> {
  let best = { serverTime: 0, at: 0, errorMs: Number.POSITIVE_INFINITY };
  for (let i = 0; i < READINGS; i++) {
    const before = clock.monotonic();
    const serverTime = await readTime();
    const after = clock.monotonic();
    const errorMs = (after - before) / 2;
    if (errorMs < best.errorMs) best = { serverTime, at: before + errorMs, errorMs };
  }
  return best;
}

/**
 * Makes a clock follow that of the server: now, and every minute until `signal` is aborted. The clock decides what to do when that
 * of the server is set; here it is logged. Throws what `readTime` throws the first time.
 */
export async function followServerTime(
  clock: ServerClock,
  readTime: () => Promise<number>,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<void> {
  clock.note(await measureServerTime(clock, readTime));
  const warnIfOff = () => {
    const aheadMs = Math.round(clock.machineAheadMs);
    const isNotable = Math.abs(aheadMs) >= NOTABLE_CLOCK_MS;
    if (isNotable)
      log.warn(
        { aheadMs },
        "the clock of this machine differs from that of the database server, which counts",
      );
    return isNotable;
  };
  let isOff = warnIfOff();
  let isRefused = false;
  const repeat = async () => {
    for (;;) {
      await clock.sleep(EVERY_MS, signal);
      if (signal.aborted) return;
      // A server that is away is logged by everybody else.
      const measured = await measureServerTime(clock, readTime).catch(() => undefined);
      if (measured === undefined || measured.errorMs > MOST_ERROR_MS) continue;
      const { kind, ms } = clock.note(measured);
      const aheadMs = Math.round(ms);
      if (kind === "jumped")
        log.warn({ aheadMs }, "the clock of the database server was set, and is followed");
      if (kind === "refused" && !isRefused)
        log.error(
          { aheadMs, mostMs: CLOCK_JUMP_MS },
          "the clock of the database server was set, and the clock of this machine contradicts it: it is not followed",
        );
      if (kind !== "refused" && isRefused) log.info("the clock of the database server agrees again");
      isRefused = kind === "refused";
      isOff = Math.abs(clock.machineAheadMs) >= NOTABLE_CLOCK_MS ? isOff || warnIfOff() : false;
    }
  };
  void repeat();
}
