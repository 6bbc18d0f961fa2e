import assert from "node:assert/strict";
import { test } from "node:test";
import { limits } from "./limits.js";
import { missedRows, runHarness } from "./support/harness.js";

test("no pattern of requests gives an address or an account more units than its limits, or guesses more reads", async () => {
  const rows = await runHarness(limits, { scale: "short", report: () => {} });
  assert.deepEqual(missedRows(rows), []);
});
