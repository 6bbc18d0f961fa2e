import assert from "node:assert/strict";
import { test } from "node:test";
import { growthOf } from "../../src/growth/gains.js";
import type { Trend } from "../../src/growth/trend.js";
import { usualWords } from "../../src/growth/words.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import type { SnapshotSource } from "../../src/repositories/record-rules.js";
import { historyOf } from "../support/growth.js";

const NOW = 40 * DAY_MS + 6 * HOUR_MS;

/** The usual day in each window of a repository with these stars at these hours before now. */
function usual(rows: readonly (readonly [hoursAgo: number, stars: number, source?: SnapshotSource])[]) {
  const history = historyOf(
    rows.map(([hours, stars, source = "OBSERVED"]) => {
      const none = { forks: null, openIssues: null, watchers: null };
      return { capturedAt: NOW - hours * HOUR_MS, stars, source, ...none };
    }),
  );
  const recency = {
    fullDays: new Map([["GITHUB", NOW]]),
    since: new Map([["GITHUB", 0]]),
    newestFiles: new Map<string, number>(),
    firstFiles: [],
  };
  return Object.fromEntries(
    growthOf(history, recency).map(({ window, usualPerDay }) => [window, usualPerDay]),
  );
}

/** One reading a day, ending now. */
const daily = (...stars: number[]) => stars.map((count, i) => [24 * (stars.length - 1 - i), count] as const);

test("the usual day is the median of the days before the window", () => {
  // Documented in RANKINGS.md.
  assert.equal(usual(daily(1_000, 1_004, 1_010, 1_013, 1_018, 1_060))["24h"], 4.5);
  const nine = daily(100, 101, 103, 106, 206, 207, 209, 212, 213, 263, 313);
  assert.deepEqual(usual(nine), { "24h": 2, "7d": 2 }, "of nine steps, and of the first three");
});

test("with fewer than three steps before the window the usual day is unknown", () => {
  assert.equal(usual(daily(10, 11, 12, 13, 90))["24h"], 1);
  assert.equal(usual(daily(10, 11, 12, 90))["24h"], null);
});

test("a repository that loses stars usually gains none", () => {
  assert.equal(usual(daily(50, 49, 47, 46, 45))["24h"], 0);
});

test("hours of one day are one step, and a pause is a step of several days", () => {
  // Ten stars an hour would be 240 a day; the day before brought 24, like the others.
  const hourly = Array.from({ length: 24 }, (_, i) => [47 - i, 172 + i] as const);
  const days = [
    [144, 76],
    [120, 100],
    [96, 124],
    [72, 148],
  ] as const;
  assert.equal(usual([...days, ...hourly, [0, 900]])["24h"], 24);
  const weekly = [672, 504, 336, 168, 0].map((hours, i) => [hours, 100 + 14 * i] as const);
  assert.equal(usual(weekly)["7d"], 2);
});

test("days of the star history are steps like any others, and what nobody saw is none", () => {
  const held = (hours: number, stars: number) => [hours, stars, "BACKFILLED"] as const;
  const history = [6, 5, 4, 3, 2].map((days) => held(24 * days, 600 - 100 * days));
  assert.equal(usual([...history, held(24, 500), held(1, 595), [0, 600]])["24h"], 100);
  assert.equal(usual([...history, [30, 475], [24, 500], [0, 510]])["24h"], 100);
  const apart = [...history.slice(2), [16, 5_000], [4, 5_001], [0, 5_002]] as const;
  assert.equal(usual(apart)["24h"], null, "two steps, and a hole");
});

const trend = (starsDelta: number, usualPerDay: number | null, more: Partial<Trend> = {}) =>
  usualWords({ window: "24h", from: 0, to: DAY_MS, starsDelta, usualPerDay, ...more });

test("words compare a gain with the usual day, and name no multiple of next to nothing", () => {
  assert.equal(trend(2_909, 412.5), "7.1× its usual day");
  assert.equal(trend(44, 40), "about its usual day");
  assert.equal(trend(10, 40), "cooling off: 0.25× its usual day");
  assert.equal(trend(50_000, 12), "over 100× its usual day");
  assert.equal(trend(4, 1), "usually 1 a day");
  assert.equal(trend(30, 1), "30× its usual day");
  assert.equal(trend(30, 0.2), "usually 1 in 5 days");
  assert.equal(trend(30, 0), "usually 0 a day");
  assert.equal(trend(0, 1_234.4), "usually 1,234 a day");
  assert.equal(trend(-9, 3), "usually 3 a day");
  assert.equal(trend(9, null), "usual day unknown");
});

test("a gain of several days is compared by the day", () => {
  assert.equal(trend(140, 10, { window: "7d", to: 7 * DAY_MS }), "2× its usual pace");
  assert.equal(trend(60, 10, { to: 2 * DAY_MS }), "3× its usual day", "a missing day makes the step longer");
});
