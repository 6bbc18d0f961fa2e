import assert from "node:assert/strict";
import { test } from "node:test";
import { disk } from "./disk.js";
import { missedRows, runHarness } from "./support/harness.js";

// The limit on the size of files is one of Linux.
test("when the disk is full, only what is saved is acknowledged, reads go on, and writes work again later", {
  skip: process.platform !== "linux",
}, async () => {
  const rows = await runHarness(disk, { scale: "short", report: () => {} });
  assert.deepEqual(missedRows(rows), []);
});
