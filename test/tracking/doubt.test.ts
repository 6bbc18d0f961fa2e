import assert from "node:assert/strict";
import { test } from "node:test";
import { type Counts, isDoubtful } from "../../src/tracking/outcomes.js";

const counts = (stars: number | null, forks: number | null = 60, openIssues: number | null = 60): Counts => ({
  stars,
  forks,
  openIssues,
});

test("a fall by a quarter of at least 50 stars or forks is doubtful", () => {
  assert.ok(isDoubtful(counts(100), counts(75)));
  assert.ok(!isDoubtful(counts(100), counts(76)));
  assert.ok(!isDoubtful(counts(49), counts(1)));
  assert.ok(isDoubtful(counts(100, 80), counts(100, 60)));
  assert.ok(!isDoubtful(counts(100, 80), counts(100, 61)));
});

test("so is a fall to zero from five or more, and a collapse of issues to a tenth", () => {
  assert.ok(isDoubtful(counts(5), counts(0)));
  assert.ok(!isDoubtful(counts(4), counts(0)));
  assert.ok(isDoubtful(counts(5, 9), counts(5, 0)));
  assert.ok(isDoubtful(counts(5, 5, 50), counts(5, 5, 5)));
  assert.ok(!isDoubtful(counts(5, 5, 50), counts(5, 5, 6)));
  assert.ok(!isDoubtful(counts(5, 5, 49), counts(5, 5, 0)), "few issues may all be closed");
});

test("so is a rise to 1.8 times over 1,000 stars with fewer than two forks for each hundred", () => {
  assert.ok(isDoubtful(counts(1_001), counts(1_802, 76)));
  assert.ok(!isDoubtful(counts(1_001), counts(1_801, 76)));
  assert.ok(!isDoubtful(counts(1_001), counts(1_802, 77)));
  assert.ok(!isDoubtful(counts(1_000), counts(9_000)));
});

test("other gains and unknown counts are not", () => {
  assert.ok(!isDoubtful(counts(100), counts(100_000)));
  assert.ok(!isDoubtful(counts(null, null, null), counts(0, 0, 0)));
  assert.ok(!isDoubtful(counts(100, 100, 100), counts(100, null, null)));
});
