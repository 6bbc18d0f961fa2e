import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { isRecent } from "../../src/repositories/recency.js";

const AT = Date.UTC(2026, 3, 1);
const facts = { newestFiles: new Map([["ranking", AT]]), fullDays: new Map([["GITHUB", AT]]) };
const recent = (given: Partial<Parameters<typeof isRecent>[0]>) =>
  isRecent(
    { provider: "GITHUB", importSource: null, refreshInterval: null, nextRefreshAt: null, at: AT, ...given },
    facts,
  );

test("a reading of a tracked repository is recent until refreshes have failed for two intervals, and three hours", () => {
  const at = AT - 1;
  const daily = { at, refreshInterval: DAY_MS };
  assert.ok(recent({ ...daily, nextRefreshAt: at + 2 * DAY_MS }));
  assert.ok(!recent({ ...daily, nextRefreshAt: at + 2 * DAY_MS + 1 }));
  const hourly = { at, refreshInterval: HOUR_MS };
  assert.ok(recent({ ...hourly, nextRefreshAt: at + 3 * HOUR_MS }));
  assert.ok(!recent({ ...hourly, nextRefreshAt: at + 3 * HOUR_MS + 1 }));
  assert.ok(
    recent({ ...daily, at: AT, nextRefreshAt: AT + 9 * DAY_MS }),
    "a walk read it on the newest full day",
  );
});

test("one that the newest file of its archive reports stays recent, whatever its forge answers", () => {
  const given = { refreshInterval: DAY_MS, nextRefreshAt: AT + 9 * DAY_MS, importSource: "ranking" };
  assert.ok(recent(given));
  assert.ok(!recent({ ...given, at: AT - 1 }));
});

test("one of a repository that is no longer tracked is stale", () => {
  assert.ok(!recent({ refreshInterval: 0 }));
});

test("an archive that reports it afterwards makes it recent again", () => {
  const imported = { refreshInterval: 0, importSource: "ranking" };
  assert.ok(recent(imported));
  assert.ok(!recent({ ...imported, at: AT - DAY_MS }));
});

test("one without a schedule or an archive is recent for 15 days before the newest full day", () => {
  assert.ok(recent({ at: AT - 15 * DAY_MS }));
  assert.ok(!recent({ at: AT - 15 * DAY_MS - 1 }));
});
