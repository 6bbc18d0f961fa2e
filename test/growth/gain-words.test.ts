import assert from "node:assert/strict";
import { test } from "node:test";
import type { Anomaly } from "../../src/growth/anomalies.js";
import { gainWords } from "../../src/growth/words.js";

const anomaly = (kind: Anomaly["kind"], more: Partial<Anomaly> = {}): Anomaly => ({
  kind,
  measure: "stars",
  at: 1,
  until: 1,
  reason: "",
  before: 0,
  after: 0,
  ...more,
});

const words = (starsDelta: number, starsCounted: number, anomalies: Anomaly[] = []) =>
  gainWords({ starsDelta, starsCounted, anomalies })?.full;

test("a gain of which not all counts says how much does, and why", () => {
  assert.equal(words(50, 50, [anomaly("BURST")]), undefined, "all of it counts");
  assert.equal(words(12_400, 0, [anomaly("RETURN")]), "none counted: dropped and recovered");
  assert.equal(
    words(6_584, 1_240, [anomaly("BURST")]),
    "1,240 counted: far more than usual without forks to match",
  );
  assert.equal(words(-500, -120), "-120 counted", "without an open anomaly there is no reason");
});

test("the reason is the latest one of the count that is shown", () => {
  const ofForks = anomaly("RETURN", { measure: "forks" });
  assert.equal(
    words(900, 10, [anomaly("BURST"), ofForks, anomaly("FAILED_READING")]),
    "10 counted: far more than usual without forks to match",
  );
});
