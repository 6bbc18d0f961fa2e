import assert from "node:assert/strict";
import { test } from "node:test";
import { keyTiming } from "./key-timing.js";
import { testHarness } from "./support/test-harness.js";
import { Sample, welchT } from "./support/welch.js";

testHarness("a revoked API key takes the same work as one that never existed", keyTiming);

test("Welch's t tells samples of different means apart, and not those of one", () => {
  const sampleOf = (values: readonly number[]) => {
    const sample = new Sample();
    for (const value of values) sample.add(value);
    return sample;
  };
  const a = sampleOf([3, 4, 1, 2.1]);
  const b = sampleOf([490.2, 340, 433.9]);
  // As scipy.stats.ttest_ind(equal_var=False) computes it.
  assert.ok(Math.abs(welchT(a, b) - -9.559497721932658) < 1e-9);
  assert.equal(welchT(a, a), 0);
});
