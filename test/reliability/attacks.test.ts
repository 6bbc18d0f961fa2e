import assert from "node:assert/strict";
import { test } from "node:test";
import { attacks } from "./attacks.js";
import { missedRows, runHarness } from "./support/harness.js";

test("the worst patterns of allowed requests are refused when their limits are reached, and cause no error", async () => {
  const rows = await runHarness(attacks, { scale: "short", report: () => {} });
  assert.deepEqual(missedRows(rows), []);
});
