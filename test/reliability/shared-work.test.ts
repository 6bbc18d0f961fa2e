import assert from "node:assert/strict";
import { test } from "node:test";
import { sharedWork } from "./shared-work.js";
import { missedRows, runHarness } from "./support/harness.js";

test("two workers with one token exceed no quota, refresh nothing twice, and one goes on alone", async () => {
  const rows = await runHarness(sharedWork, { scale: "short", report: () => {} });
  assert.deepEqual(missedRows(rows), []);
});
