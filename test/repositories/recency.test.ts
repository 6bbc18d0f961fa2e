import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { isStale, recentUntil } from "../../src/repositories/recency.js";

const AT = Date.UTC(2026, 3, 1);
const REPOSITORY = { provider: "GITHUB", importSource: null, refreshInterval: null };
const newestFiles = new Map([["ranking", AT]]);
const until = (given: Partial<Parameters<typeof recentUntil>[0]>) =>
  recentUntil({ ...REPOSITORY, at: AT, source: "OBSERVED", ...given }, { newestFiles });

test("a reading of a tracked repository is recent for twice its interval", () => {
  assert.equal(until({ refreshInterval: 6 * HOUR_MS }), AT + 12 * HOUR_MS);
  assert.equal(until({ refreshInterval: 6 * HOUR_MS, source: null }), AT + 12 * HOUR_MS);
});

test("one of a repository that is no longer tracked is stale at once, although the provider's time stands still", () => {
  for (const source of ["OBSERVED", "BACKFILLED", null] as const)
    assert.ok(until({ refreshInterval: 0, source }) < AT, `${source}`);
  const counted = { ...REPOSITORY, countedAt: AT, refreshInterval: 0 };
  assert.ok(isStale(counted, { newestFiles, since: new Map(), asOf: new Map([["GITHUB", AT]]) }));
});

test("an archive that reports it afterwards makes it recent again", () => {
  const imported = { refreshInterval: 0, importSource: "ranking" };
  assert.ok(until({ ...imported, source: "IMPORTED" }) > AT + 365 * DAY_MS);
  assert.ok(until({ ...imported, source: null }) > AT + 365 * DAY_MS);
  assert.ok(until({ ...imported, source: "OBSERVED" }) < AT);
  assert.ok(until({ ...imported, source: "IMPORTED", at: AT - DAY_MS }) < AT - DAY_MS);
});
