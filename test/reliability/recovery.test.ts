import assert from "node:assert/strict";
import { test } from "node:test";
import { recovery } from "./recovery.js";
import { missedRows, runHarness } from "./support/harness.js";

test("a catalogue whose worker is killed has the same rankings as one that was left alone", async () => {
  const lines: string[] = [];
  const rows = await runHarness(recovery, { scale: "short", report: (line) => lines.push(line) });
  assert.deepEqual(missedRows(rows), [], lines.join("\n"));
});
