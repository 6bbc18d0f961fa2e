import assert from "node:assert/strict";
import { test } from "node:test";
import { stop } from "./stop.js";
import { missedRows, runHarness } from "./support/harness.js";

test("a service stops in order while it opens its store, imports the sample, or responds to many", async () => {
  const rows = await runHarness(stop, { scale: "short", report: () => {} });
  assert.deepEqual(missedRows(rows), []);
});
