import assert from "node:assert/strict";
import { test } from "node:test";
import { failureOfAll, oneByOne, type Refreshed } from "../../src/forges/contract.js";
import { type FailureKind, UpstreamFailure } from "../../src/forges/failures.js";
import { SkippingClock } from "../support/manual-clock.js";

const NOW = Date.UTC(2026, 0, 1);
const kindOf = (result: Refreshed) => (result.kind === "failed" ? result.failure.kind : result.kind);

/** Reads repositories that fail as given; null: unchanged. Each response takes a while. */
async function read(failures: readonly (FailureKind | null)[], responseMs = 0) {
  const clock = new SkippingClock(NOW);
  let requests = 0;
  const results = await oneByOne(
    failures,
    async (kind) => {
      requests++;
      clock.advance(responseMs);
      if (kind !== null) throw new UpstreamFailure(kind, "scripted");
      return { kind: "unchanged" };
    },
    { clock },
  );
  return { results, kinds: results.map(kindOf), requests };
}

test("a batch ends after two minutes at any pace: the others are skipped, and each result has the time of its response", async () => {
  const { results, requests } = await read(Array(20).fill(null), 36_000);
  assert.equal(requests, 4);
  const times = [1, 2, 3, 4].map((i) => ({ kind: "unchanged", at: NOW + i * 36_000 }));
  assert.deepEqual(results, [...times, ...Array(16).fill({ kind: "skipped" })]);
});

test("a batch ends when the forge accepts no more requests, and the others fail in the same way", async () => {
  const quota = await read([null, "gone", "quota", null, null]);
  assert.deepEqual(quota.kinds, ["unchanged", "gone", "quota", "quota", "quota"]);
  assert.equal(quota.requests, 3);
  const down = await read(["unreachable", null, "unreachable", "unreachable", null]);
  assert.deepEqual(down.kinds, ["unreachable", "unchanged", "unreachable", "unreachable", "unreachable"]);
  assert.equal(down.requests, 4);
});

test("a batch fails as a whole only if the forge responded about none", async () => {
  assert.equal(failureOfAll((await read(["refused", "quota", null])).results)?.kind, "refused");
  assert.equal(failureOfAll((await read(["gone", "quota"])).results), null);
  assert.equal(failureOfAll((await read([])).results), null);
});
