import assert from "node:assert/strict";
import { test } from "node:test";
import { WINDOWS } from "../../src/growth/definitions.js";
import { growthOf } from "../../src/growth/gains.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import type { Recency } from "../../src/repositories/recency.js";
import { SNAPSHOT_SOURCES } from "../../src/repositories/record-rules.js";
import type { Observation, Snapshot } from "../../src/repositories/repository.js";
import { basisOf } from "../../src/repositories/snapshots/readings.js";
import { onBothEngines } from "../support/engines.js";
import { historyOf } from "../support/growth.js";
import { examples, fc } from "../support/properties.js";
import { createWorld, NOW, observation, snapshot, snapshotAt, type World } from "../support/world.js";

const recency: Recency = { fullDays: new Map(), since: new Map(), newestFiles: new Map(), firstFiles: [] };

/** Snapshots of the last 60 days in order of time, the newest now, of all sources in any order. */
const histories = fc
  .uniqueArray(
    fc.record({
      hoursAgo: fc.integer({ min: 0, max: 1_440 }),
      stars: fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 1_000, max: 1_100 })),
      source: fc.constantFrom(...SNAPSHOT_SOURCES),
    }),
    { minLength: 1, maxLength: 40, selector: ({ hoursAgo }) => hoursAgo },
  )
  .map((rows) =>
    rows
      .map(({ hoursAgo, stars, source }) => snapshot(hoursAgo, stars, { source }))
      .sort((a, b) => a.capturedAt - b.capturedAt),
  );

const isTotal = ({ source }: Pick<Snapshot, "source">) => basisOf(source) === "TOTAL";

test("the parts of a gain add up: what the star history shows, and the difference of two totals", () => {
  fc.assert(
    fc.property(histories, (snapshots) => {
      const growth = growthOf(historyOf(snapshots), recency);
      assert.equal(new Set(growth.map(({ window }) => window)).size, growth.length);
      for (const { from, to, held, starsDelta } of growth) {
        assert.equal(starsDelta, to.stars - from.stars);
        assert.equal(held !== null, !isTotal(from) && isTotal(to));
        if (held === null) continue;
        const total = snapshots.find(({ capturedAt }) => capturedAt === held.until) ?? assert.fail();
        assert.ok(isTotal(total) && from.at < held.until && held.until <= to.at);
        assert.equal(held.starsDelta, total.stars - from.stars);
      }
    }),
    { numRuns: examples(5_000) },
  );
});

/** A history that a forge reported at `at`, up to just before our own first count, which is that of `at`. */
const reported = (at: number, stars: number, days: number): Snapshot[] => [
  ...Array.from({ length: days }, (_, i) =>
    snapshotAt(Math.floor(at / DAY_MS - days + i + 1) * DAY_MS, stars - 10 * (days - i), {
      source: "BACKFILLED",
    }),
  ),
  snapshotAt(at - 1, stars, { source: "BACKFILLED" }),
];

/** Our own totals from a time on: one every six hours, each with this many stars more than the one before. */
const totalsFrom = (began: number, hours: number, gained: number): Snapshot[] =>
  Array.from({ length: Math.floor(hours / 6) + 1 }, (_, i) =>
    snapshotAt(began + 6 * i * HOUR_MS, 5_000 + i * gained, { source: "OBSERVED" }),
  );

test("from the first hour a longer window never shows a smaller gain, and the window ends at the newest total", () => {
  const began = NOW - 60 * DAY_MS;
  for (let hours = 0; hours <= 40 * 24; hours += 6) {
    const own = totalsFrom(began, hours, 489);
    const growth = growthOf(historyOf([...reported(began, 5_000, 50), ...own]), recency);
    assert.deepEqual(
      growth.map(({ window }) => window),
      [...WINDOWS],
      `after ${hours} hours`,
    );
    const [day, week, month] = growth.map(({ starsDelta }) => starsDelta);
    assert.ok((day ?? 0) <= (week ?? 0) && (week ?? 0) <= (month ?? 0), `after ${hours} hours`);
    for (const { window, from, to, held, starsDelta } of growth) {
      assert.equal(to.at, began + hours * HOUR_MS);
      assert.equal(held === null, isTotal(from), window);
      // What was gained a day before, and is gained now.
      const own = Math.min(hours, (to.at - from.at) / HOUR_MS);
      const past = held === null ? 0 : (10 * (began - from.at)) / DAY_MS;
      assert.ok(Math.abs(starsDelta - past - (own / 6) * 489) <= 10, `${window} after ${hours} hours`);
    }
  }
});

test("where a star history ends before the first total, what was gained in between is the difference of both", () => {
  const began = NOW - 60 * DAY_MS;
  const past = reported(began - 8 * DAY_MS, 4_900, 50).slice(0, -1);
  const growth = growthOf(historyOf([...past, ...totalsFrom(began, 48, 100)]), recency);
  assert.deepEqual(
    growth.map(({ window }) => window),
    ["24h", "30d"],
    "no window begins in the hole",
  );
  const month = growth.at(-1) ?? assert.fail();
  const end = past.at(-1)?.capturedAt ?? 0;
  const shown = Math.round((10 * (end - month.from.at)) / DAY_MS);
  assert.deepEqual(
    [month.starsDelta, month.held?.until, month.unseenMs],
    [800 + 110 + shown, began, began - end],
  );
});

onBothEngines("Counts of stars still held", (engine) => {
  async function trendsOf({ modules }: World, fullName: string): Promise<string> {
    const found = await modules.catalog.findByName("GITHUB", fullName);
    return JSON.stringify((await modules.rankings.standing(found?.repository.id ?? 0)).trends);
  }

  test("give the same growth with totals in whatever order counts arrive", async () => {
    const world = await createWorld(engine);
    // All windows end now.
    await world.record(observation("the/newest", [snapshot(0, 1, { source: "OBSERVED" })]));
    let examplesDone = 0;
    await fc.assert(
      fc.asyncProperty(histories, fc.infiniteStream(fc.nat()), async (snapshots, drawn) => {
        const example = examplesDone++;
        const observed = (fullName: string, one: Snapshot): Observation => ({
          ...observation(fullName, [one]),
          at: isTotal(one) ? one.capturedAt : null,
          facts: isTotal(one) ? { stars: one.stars } : {},
        });
        const shuffled = snapshots
          .map((one) => ({ one, key: drawn.next().value }))
          .sort((a, b) => a.key - b.key)
          .map(({ one }) => observed(`shuffled/r${example}`, one));
        const step = Math.max(1, Math.ceil(shuffled.length / 3));
        for (let i = 0; i < shuffled.length; i += step) {
          await world.modules.catalog.record(shuffled.slice(i, i + step));
          await world.modules.rankings.update();
        }
        await world.modules.catalog.record(snapshots.map((one) => observed(`sorted/r${example}`, one)));
        await world.modules.rankings.update();
        const [one, other] = [`shuffled/r${example}`, `sorted/r${example}`];
        assert.equal(await trendsOf(world, one), await trendsOf(world, other));
      }),
      { numRuns: examples(60) },
    );
  });

  test("are labelled in lists, the detail, search, CSV and feeds", async () => {
    const world = await createWorld(engine);
    const own = snapshotAt(NOW, 5_000, { source: "OBSERVED" });
    const steady = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((days) =>
      snapshot(24 * days, 900 - 20 * days, { source: "OBSERVED" }),
    );
    await world.record(
      observation("new/tracked", [...reported(NOW, 5_000, 50), own]),
      observation("old/tracked", steady),
    );
    const { body } = await world.get("/api/repos?window=7d&sort=stars-delta");
    const shown = body.data.map(({ fullName, trend }: { fullName: string; trend: { basis: string } }) => [
      fullName,
      trend.basis,
    ]);
    assert.deepEqual(shown, [
      ["old/tracked", "TOTAL"],
      ["new/tracked", "RETAINED"],
    ]);
    const detail = await world.get("/api/repos/github/new/tracked");
    const trend = detail.body.data.trends["30d"];
    assert.deepEqual([trend.basis, trend.fromSource], ["RETAINED", "BACKFILLED"]);
    assert.deepEqual(trend.confidenceReasons, []);
    const found = await world.get("/api/repos?q=tracked&window=7d");
    assert.equal(found.status, 200);
    assert.ok(JSON.stringify(found.body).includes('"basis":"RETAINED"'));
    const csv = (await world.get("/api/repos?window=7d&format=csv")).body.split("\r\n");
    assert.equal(csv[0].split(",").at(-4), "basis");
    assert.deepEqual(
      new Set(csv.slice(1, 3).map((line: string) => line.split(",").at(-4))),
      new Set(["TOTAL", "RETAINED"]),
    );
    const feed = (await world.get("/api/feeds/trending.atom?window=7d")).body;
    assert.match(feed, /new\/tracked \+\d+ stars in 7 days/);
    const badge = (await world.get("/api/embed/badge.svg?repo=github:new/tracked&kind=gain&window=7d")).body;
    for (const text of [feed, badge]) assert.doesNotMatch(text, /still held/);
  });

  test("are no movements of the day on which our own counts begin", async () => {
    const world = await createWorld(engine);
    const past = [5, 4, 3, 2].map((days) => snapshot(24 * days, 4_000 - days, { source: "BACKFILLED" }));
    const lower = [1, 0].map((days) => snapshot(24 * days, 2_000 - days, { source: "OBSERVED" }));
    await world.record(observation("o/r", [...past, ...lower]), observation("o/s", lower));
    const { trends } = await world.modules.rankings.standing(1);
    for (const window of WINDOWS) assert.deepEqual(trends[window]?.anomalies ?? [], []);
  });

  test("begin the series of a window", async () => {
    const world = await createWorld(engine);
    const own = Array.from({ length: 21 }, (_, i) =>
      snapshot(24 * (20 - i), 900 + i, { source: "OBSERVED" }),
    );
    await world.record(observation("o/r", [...reported(NOW - 20 * DAY_MS, 900, 60), ...own]));
    const { body } = await world.get("/api/repos/1/metrics?window=30d");
    const { trends } = await world.modules.rankings.standing(1);
    const begins = (trends["30d"]?.from ?? 0) - Date.parse(body.data[0].capturedAt);
    assert.ok(begins >= 0 && begins < DAY_MS);
    assert.equal(body.data.length, own.length + 1 + 11);
    assert.deepEqual(body.meta.gaps, []);
  });
});
