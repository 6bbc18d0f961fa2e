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

const unknown = { basis: "TOTAL", forksDelta: null, forksCounted: null } as const;
const words = (starsDelta: number, starsCounted: number, anomalies: Anomaly[] = []) =>
  gainWords({ ...unknown, starsDelta, starsCounted, anomalies }, "stars")?.full;

test("a gain that counts in full has no words, nor has one that is unknown", () => {
  assert.equal(words(50, 50, [anomaly("BURST")]), undefined);
  const trend = { ...unknown, starsDelta: 5, starsCounted: 0, anomalies: [] };
  assert.equal(gainWords(trend, "forks"), undefined);
});

test("a gain of which not all counts says how much does, and why", () => {
  assert.equal(words(12_400, 0, [anomaly("RETURN")]), "none counted: dropped and recovered");
  assert.equal(
    words(6_584, 1_240, [anomaly("BURST")]),
    "1,240 counted: far more than usual without forks to match",
  );
  assert.equal(words(-500, -120), "-120 counted", "without an open anomaly there is no reason");
});

test("each count names the other that did not follow it", () => {
  const trend = { ...unknown, starsDelta: 5, starsCounted: 5, forksDelta: 900, forksCounted: 40 };
  const anomalies = [anomaly("BURST", { measure: "forks" })];
  assert.equal(
    gainWords({ ...trend, anomalies }, "forks")?.full,
    "40 counted: far more than usual without stars to match",
  );
});

test("the reason is the latest one of the count that is shown", () => {
  const ofForks = anomaly("RETURN", { measure: "forks" });
  assert.equal(
    words(900, 10, [anomaly("BURST"), ofForks, anomaly("FAILED_READING")]),
    "10 counted: far more than usual without forks to match",
  );
});
