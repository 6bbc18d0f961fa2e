import assert from "node:assert/strict";
import { test } from "node:test";
import { connections } from "./connections.js";
import { missedRows, runHarness } from "./support/harness.js";

test("the service closes connections that clients only hold open, and bounds them per address", async () => {
  const rows = await runHarness(connections, { scale: "short", report: () => {} });
  assert.deepEqual(missedRows(rows), []);
});
