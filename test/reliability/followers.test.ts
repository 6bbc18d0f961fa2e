import assert from "node:assert/strict";
import { test } from "node:test";
import { followers } from "./followers.js";
import { missedRows, runHarness } from "./support/harness.js";

test("copies that follow the log of changes are equal to the catalogue, through restarts and a kill", async () => {
  const lines: string[] = [];
  const rows = await runHarness(followers, { scale: "short", report: (line) => lines.push(line) });
  assert.deepEqual(missedRows(rows), [], lines.join("\n"));
});
