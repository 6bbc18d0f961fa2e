/** Entry of a thread that asks one table as fast as it can, and tells how much of each caller's allowance it got. */
import { parentPort, workerData } from "node:worker_threads";
import type { Limits } from "../../src/config/limits.js";
import { Limiter, type TableMemory } from "../../src/http/metering/limiter.js";
import { ManualClock } from "./manual-clock.js";

export interface RaceData {
  memory: TableMemory;
  limits: Limits;
  callers: number;
  rounds: number;
  /** Threads wait here until all are there. */
  gate: SharedArrayBuffer;
  threads: number;
}

const { memory, limits, callers, rounds, gate, threads }: RaceData = workerData;
const limiter = new Limiter({ limits, clock: new ManualClock(1_000), memory });
const arrived = new Int32Array(gate);
Atomics.add(arrived, 0, 1);
while (Atomics.load(arrived, 0) < threads);
const passed = new Array<number>(callers).fill(0);
for (let round = 0; round < rounds; round++) {
  for (let i = 0; i < callers; i++) {
    const { allowed } = limiter.decide({ kind: "anonymous", name: `caller ${i}` }, "default", 1);
    if (allowed) passed[i] = (passed[i] ?? 0) + 1;
  }
}
parentPort?.postMessage(passed);
