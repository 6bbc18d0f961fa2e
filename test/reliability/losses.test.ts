import assert from "node:assert/strict";
import { test } from "node:test";
import { losses } from "./losses.js";
import { missedRows, runHarness } from "./support/harness.js";

test("no forge that wrongly reports its repositories missing makes one unavailable for good", async () => {
  const rows = await runHarness(losses, { scale: "short", report: () => {} });
  assert.deepEqual(missedRows(rows), []);
});
