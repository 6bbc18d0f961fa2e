import assert from "node:assert/strict";
import { test } from "node:test";
import { missedRows, runHarness } from "./support/harness.js";
import { upgrade } from "./upgrade.js";

test("a migration that fails at any statement, or is killed, leaves the old store whole, and the next start completes it", async () => {
  const rows = await runHarness(upgrade, { scale: "short", report: () => {} });
  assert.deepEqual(missedRows(rows), []);
});
