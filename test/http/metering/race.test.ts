import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { readLimits } from "../../../src/config/limits.js";
import { createTableMemory } from "../../../src/http/metering/limiter.js";
import type { RaceData } from "../../support/race-thread.js";

const THREADS = 4;
const ENTRY = new URL("../../support/race-thread.js", import.meta.url);

/** How much each caller got from all threads together. */
async function race(limit: number, callers: number, rounds: number, entries: number): Promise<number[]> {
  const defaults = readLimits({}, []);
  const workerData: RaceData = {
    memory: createTableMemory(entries),
    limits: { ...defaults, default: { ...defaults.default, anonymous: limit } },
    callers,
    rounds,
    gate: new SharedArrayBuffer(4),
    threads: THREADS,
  };
  const workers = Array.from({ length: THREADS }, () => new Worker(ENTRY, { workerData }));
  const passed: number[][] = (await Promise.all(workers.map((worker) => once(worker, "message")))).map(
    ([counts]) => counts,
  );
  return Array.from({ length: callers }, (_, i) => passed.reduce((sum, counts) => sum + (counts[i] ?? 0), 0));
}

test("threads that ask for the same callers at once let exactly the limit pass", async () => {
  const limit = 20_000;
  for (const total of await race(limit, 3, 20_000, 1_024)) assert.equal(total, limit);
});

test("threads that crowd a full table let nobody pass more than the limit", async () => {
  const totals = await race(50, 400, 200, 64);
  for (const total of totals) assert.ok(total <= 50, String(total));
  assert.ok(totals.some((total) => total > 0));
});
