import { setTimeout } from "node:timers/promises";
import type { MeasuredServer } from "../support/processes.js";

const LOOK_MS = 2_000;
const IDLE_SECONDS = 0.1;

/** Waits until a process has used almost no CPU time for two seconds: its list index is built then. */
export async function untilIdle(server: MeasuredServer): Promise<void> {
  for (let before: number | undefined; ; ) {
    const used = server.cpuSeconds() ?? 0;
    if (before !== undefined && used - before < IDLE_SECONDS) return;
    before = used;
    await setTimeout(LOOK_MS);
  }
}
