import assert from "node:assert/strict";
import { test } from "node:test";
import { overload } from "./overload.js";
import { missedRows, runHarness } from "./support/harness.js";

test("at three times its capacity the queue computes as much as at its capacity, in time, accounts first", async () => {
  const rows = await runHarness(overload, { scale: "short", report: () => {} });
  assert.deepEqual(missedRows(rows), []);
});
