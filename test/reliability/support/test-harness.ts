import assert from "node:assert/strict";
import { test } from "node:test";
import { type Harness, missedRows, runHarness } from "./harness.js";

/** A test that runs a harness in its short form. */
export function testHarness(name: string, harness: Harness, options: { skip?: string | boolean } = {}): void {
  test(name, options, async () => {
    const lines: string[] = [];
    const rows = await runHarness(harness, { scale: "short", report: (line) => lines.push(line) });
    assert.deepEqual(missedRows(rows), [], lines.join("\n"));
  });
}
