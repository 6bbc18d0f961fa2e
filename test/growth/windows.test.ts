import assert from "node:assert/strict";
import { test } from "node:test";
import { growthOf } from "../../src/growth/gains.js";
import type { History } from "../../src/growth/history.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import type { Recency } from "../../src/repositories/recency.js";
import type { SnapshotSource } from "../../src/repositories/record-rules.js";
import type { Snapshot } from "../../src/repositories/repository.js";
import { historyOf } from "../support/growth.js";
import { ramp } from "../support/readings.js";

const NOW = 40 * DAY_MS;

/** Stars and forks by the hours before now, oldest first. */
function history(
  rows: readonly (readonly [hoursAgo: number, stars: number, forks: number])[],
  more: Partial<History> & { source?: SnapshotSource } = {},
): History {
  const { source = "OBSERVED", ...facts } = more;
  const snapshots = rows.map(([hours, stars, forks]): Snapshot => {
    return { capturedAt: NOW - hours * HOUR_MS, stars, forks, openIssues: null, watchers: null, source };
  });
  return historyOf(snapshots, facts);
}

const recency = (more: Partial<Recency> = {}): Recency => ({
  fullDays: new Map([["GITHUB", NOW]]),
  since: new Map([["GITHUB", 0]]),
  newestFiles: new Map(),
  firstFiles: [],
  ...more,
});

const windows = (of: History, given = recency()) => growthOf(of, given).map(({ window }) => window);

const DAILY = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((days) => [24 * days, 1_000 - days, 100] as const);

const seen = (hoursAgo: number) => DAILY.map(([hours, ...counts]) => [hours + hoursAgo, ...counts] as const);

test("growth of a tracked repository counts until its own refreshes have failed for two intervals", () => {
  const tracked = (hoursAgo: number, dueIn: number) =>
    windows(history(seen(hoursAgo), { refreshInterval: 6 * HOUR_MS, nextRefreshAt: NOW + dueIn * HOUR_MS }));
  assert.deepEqual(tracked(11, 1), ["24h", "7d"]);
  assert.deepEqual(tracked(11, 1.1), []);
  assert.deepEqual(tracked(12, -6), ["24h", "7d"], "overdue, but not tried");
});

test("growth of a repository without a clock of its own counts until half a window before the newest full day", () => {
  assert.deepEqual(windows(history(seen(11))), ["24h", "7d"]);
  assert.deepEqual(windows(history(seen(13))), ["7d"]);
});

test("growth of an archive counts while its newest undamaged file has the repository", () => {
  const rows = DAILY.map(([hours, ...counts]) => [hours + 2, ...counts] as const);
  const imported = history(rows, { importSource: "archive", source: "IMPORTED" });
  const newest = (hoursAgo: number) =>
    recency({ newestFiles: new Map([["archive", NOW - hoursAgo * HOUR_MS]]) });
  assert.deepEqual(windows(imported, newest(2)), ["24h", "7d"]);
  assert.deepEqual(windows(imported, newest(1)), []);
});

test("a reading in doubt is not compared; the last confirmed one is used and marked", () => {
  const rows = [...DAILY.slice(0, -1), [6, 0, 0] as const];
  const [week, ...others] = growthOf(history(rows), recency());
  assert.deepEqual([week?.window, others.length], ["7d", 0], "the confirmed reading is a day old");
  assert.deepEqual([week?.to.stars, week?.starsCounted], [999, 7]);
  assert.deepEqual(
    week?.anomalies.map(({ kind }) => kind),
    ["UNCONFIRMED", "UNCONFIRMED"],
    "stars and forks",
  );
});

test("of a burst, a window counts out only what came within it", () => {
  const before = Array.from({ length: 8 }, (_, i) => [24 * (10 - i), 500 + i, 50] as const);
  const rows = [...before, [40, 510, 50], [26, 1_000, 50], [24, 1_200, 50], [0, 1_203, 50]] as const;
  const growth = growthOf(history(rows), recency());
  const day = growth.find(({ window }) => window === "24h");
  assert.deepEqual([day?.from.stars, day?.starsCounted], [1_200, 3]);
  const week = growth.find(({ window }) => window === "7d");
  assert.equal((week?.to.stars ?? 0) - (week?.from.stars ?? 0) > 690, true);
  assert.ok((week?.starsCounted ?? 0) < 40 && (week?.starsCounted ?? -1) >= 0, String(week?.starsCounted));
});

test("where the creation is unknown, a repository is new whose stars its first two weeks here explain", () => {
  const found = (seenDays: number, stars: number, more: Partial<History> = {}) => {
    const rows = Array.from(
      { length: seenDays + 1 },
      (_, i) => [24 * (seenDays - i), stars + 60 * i, 2] as const,
    );
    const discoveredAt = NOW - seenDays * DAY_MS;
    const [day] = growthOf(history(rows, { createdAt: null, discoveredAt, ...more }), recency());
    return day?.firstSeenAt ?? null;
  };
  assert.equal(found(4, 40), NOW - 4 * DAY_MS);
  assert.equal(found(4, 60 * 176), NOW - 4 * DAY_MS, "it joins an archive with thousands");
  assert.equal(found(4, 60 * 177), null, "at that pace it is older");
  assert.equal(found(4, 40, { createdAt: 5 }), null);
  assert.equal(found(180, 0), NOW - 180 * DAY_MS);
  assert.equal(found(181, 0), null, "known for long");
});

/** A reading a day, the newest now. */
const inDays = (...stars: number[]) =>
  stars.map((count, i) => [24 * (stars.length - 1 - i), count, 100] as const);

test("growth after a fall that was undone is that of a repository which was not seen meanwhile", () => {
  for (const length of [3, 9, 11, 15]) {
    const before = ramp(7_000, 1, 25);
    const rows = inDays(...before, ...ramp(0, 0, length), 7_043);
    const fallen = growthOf(history(rows), recency());
    const absent = growthOf(history(rows.filter(([, stars]) => stars > 0)), recency());
    const figures = (growth: typeof fallen) =>
      growth.map(({ window, from, starsCounted, usualPerDay }) => [window, from, starsCounted, usualPerDay]);
    assert.deepEqual(figures(fallen), figures(absent));
    assert.deepEqual(windows(history(rows)), length > 14 ? ["30d"] : ["7d", "30d"], `${length} days`);
    assert.ok(fallen.every(({ anomalies }) => anomalies.some(({ kind }) => kind === "RETURN")));
  }
});

test("a loss counts in full, and of a burst that is purged in the same window neither does", () => {
  const gains = (...stars: number[]) =>
    growthOf(history(stars.map((count, i) => [24 * (stars.length - 1 - i), count, 50] as const)), recency());
  const purged = gains(...ramp(5_000, 3, 20), 6_400, 6_402, ...ramp(5_700, 2, 3));
  assert.deepEqual(
    purged.map(({ window, starsDelta, starsCounted }) => [window, starsDelta, starsCounted]),
    [
      ["24h", 2, 2],
      ["7d", 653, 0],
      ["30d", 704, 0],
    ],
  );
  assert.equal(gains(...ramp(5_000, 3, 20), 4_900)[0]?.starsCounted, -157);
});
