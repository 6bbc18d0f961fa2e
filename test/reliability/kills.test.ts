import assert from "node:assert/strict";
import { test } from "node:test";
import { kills } from "./kills.js";
import { missedRows, runHarness } from "./support/harness.js";

test("no acknowledged change is lost when all processes are killed", async () => {
  const lines: string[] = [];
  const rows = await runHarness(kills, { scale: "short", report: (line) => lines.push(line) });
  assert.deepEqual(missedRows(rows), [], lines.join("\n"));
});
