import assert from "node:assert/strict";
import { test } from "node:test";
import type { ResultRow } from "../../bench/support/results.js";
import { assertHappened, type Harness, HarnessFailure, missedRows, runHarness } from "./support/harness.js";

const context = { scale: "short", report: () => {} } as const;

function harnessOf(rows: ResultRow[]): Harness {
  return { name: "test", proves: "Nothing.", run: async () => rows };
}

const row = (value: number): ResultRow => ({
  measure: "errors",
  value,
  unit: "responses",
  target: { atMost: 0 },
});

test("a harness that measured nothing with a target fails as a harness", async () => {
  await assert.rejects(runHarness(harnessOf([]), context), HarnessFailure);
  await assert.rejects(
    runHarness(harnessOf([{ measure: "sent", value: 3, unit: "" }]), context),
    HarnessFailure,
  );
});

test("a fault that did not happen is a failure of the harness, not a result", () => {
  assert.throws(() => assertHappened(0, "requests sent"), HarnessFailure);
  assert.throws(() => assertHappened(Number.NaN, "requests sent"), HarnessFailure);
  assertHappened(1, "requests sent");
});

test("the rows that miss their target are named", async () => {
  assert.deepEqual(missedRows(await runHarness(harnessOf([row(0), row(2)]), context)), [
    "errors: 2 responses",
  ]);
});
