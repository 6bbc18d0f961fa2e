import assert from "node:assert/strict";
import { test } from "node:test";
import { restoreKills } from "./restore-kills.js";
import { hasProgram } from "./support/disk-faults.js";
import { missedRows, runHarness } from "./support/harness.js";

test("a restore that is killed leaves the old store or the new one, and the next restore completes", {
  skip: !hasProgram("strace") && "strace is not installed",
}, async () => {
  const rows = await runHarness(restoreKills, { scale: "short", report: () => {} });
  assert.deepEqual(missedRows(rows), []);
});
