import assert from "node:assert/strict";
import { test } from "node:test";
import { type Growth, growthOf } from "../../../src/growth/compare.js";
import { WINDOWS, windowMs } from "../../../src/growth/definitions.js";
import { DAY_MS, HOUR_MS } from "../../../src/lib/clock.js";
import type { Observation, Snapshot } from "../../../src/repositories/observation.js";
import type { Recency } from "../../../src/repositories/recency.js";
import { SNAPSHOT_SOURCES } from "../../../src/repositories/record-rules.js";
import { readReadings } from "../../../src/repositories/snapshots/read.js";
import { basisOf } from "../../../src/repositories/snapshots/readings.js";
import { onBothEngines } from "../../support/engines.js";
import { historyOf } from "../../support/growth.js";
import { examples, fc } from "../../support/properties.js";
import { createWorld, NOW, observation, snapshot, snapshotAt, type World } from "../../support/world.js";

const recency: Recency = { asOf: new Map([["GITHUB", NOW]]), since: new Map(), newestFiles: new Map() };

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

/** Growth without what depends on the newest snapshot of all. */
const comparable = (growth: readonly Growth[]) => growth.map(({ freshUntil, ...rest }) => rest);

test("two totals are compared as if there were no other counts, and a seam is no movement", () => {
  fc.assert(
    fc.property(histories, (snapshots) => {
      // As in reality, the newest one is our own.
      const own = [...snapshots, snapshot(-1, 1_000, { source: "OBSERVED" })];
      const growth = growthOf(historyOf(own), recency);
      const totals = growthOf(historyOf(own.filter(isTotal)), recency);
      assert.deepEqual(comparable(growth.filter(({ from }) => isTotal(from))), comparable(totals));
    }),
    { numRuns: examples(5_000) },
  );
});

test("both counts of a trend have the same basis; stars still held count only without two totals to compare", () => {
  fc.assert(
    fc.property(histories, (snapshots) => {
      const growth = growthOf(historyOf(snapshots), recency);
      for (const { from, to } of growth) assert.equal(basisOf(from.source), basisOf(to.source));
      assert.equal(new Set(growth.map(({ window }) => window)).size, growth.length);
      const retained = snapshots.filter((one) => !isTotal(one));
      if (retained.length === 0) return;
      // Alone, the newest of them is recent.
      const asOf = new Map([["GITHUB", retained.at(-1)?.capturedAt ?? 0]]);
      const alone = growthOf(historyOf(retained), { ...recency, asOf });
      for (const one of growth.filter(({ to }) => !isTotal(to))) {
        assert.ok(one.to.at + windowMs(one.window) >= NOW, "it lasts for one window at most");
        const same = alone.find(({ window }) => window === one.window);
        assert.deepEqual([one.from, one.to, one.anomalies], [same?.from, same?.to, same?.anomalies]);
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

test("our own counts take over as soon as they cover half of a window", () => {
  const began = NOW - 60 * DAY_MS;
  for (let hours = 0; hours <= 20 * 24; hours += 6) {
    const now = began + hours * HOUR_MS;
    const own = Array.from({ length: hours / 6 + 1 }, (_, i) =>
      snapshotAt(began + 6 * i * HOUR_MS, 5_000 + i, { source: "OBSERVED" }),
    );
    const growth = growthOf(historyOf([...reported(began, 5_000, 50), ...own]), {
      ...recency,
      asOf: new Map([["GITHUB", now]]),
    });
    for (const window of WINDOWS) {
      const found = growth.find((one) => one.window === window);
      assert.ok(found, `${window} after ${hours} hours`);
      const isOwn = 2 * hours * HOUR_MS >= windowMs(window);
      assert.equal(
        basisOf(found.from.source),
        isOwn ? "TOTAL" : "RETAINED",
        `${window} after ${hours} hours`,
      );
      if (!isOwn) assert.equal(found.to.at, began - 1);
    }
  }
});

test("a new repository has growth on its whole first day, however its own counts are spaced within ten hours", () => {
  const began = NOW - 60 * DAY_MS;
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 30, maxLength: 30 }), (steps) => {
      let hours = 0;
      const read = [0, ...steps.map((step) => (hours += step))];
      for (let now = 0; now <= 26; now++) {
        const own = read
          .filter((hour) => hour <= now)
          .map((hour, i) => snapshotAt(began + hour * HOUR_MS, 5_000 + i, { source: "OBSERVED" }));
        const asOf = new Map([["GITHUB", began + now * HOUR_MS]]);
        const growth = growthOf(historyOf([...reported(began, 5_000, 50), ...own]), { ...recency, asOf });
        assert.equal(growth.length, WINDOWS.length, `${now} hours after the first count`);
      }
    }),
    { numRuns: examples(1_000) },
  );
});

onBothEngines("Counts of stars still held", (engine) => {
  /** What is wrong with any stored growth. */
  async function mixed({ modules }: World): Promise<string[]> {
    const { read, dialect } = modules.database;
    const rows = await read.selectFrom("rollups").selectAll().execute();
    const readings = await readReadings(read, dialect, { ids: rows.map((row) => row.repository_id) });
    return rows.flatMap((row) => {
      const all = readings.get(row.repository_id)?.snapshots() ?? [];
      const at = (time: number) => all.find(({ capturedAt }) => capturedAt === time);
      const [from, to] = [at(row.from_at), at(row.to_at)];
      const isPair =
        from !== undefined &&
        to !== undefined &&
        basisOf(from.source) === basisOf(to.source) &&
        SNAPSHOT_SOURCES[row.from_source] === from.source &&
        row.stars_delta === to.stars - from.stars;
      return isPair ? [] : [`${row.repository_id} in ${row.window_hours} hours`];
    });
  }

  async function trendsOf({ modules }: World, fullName: string): Promise<string> {
    const found = await modules.catalog.findByName("GITHUB", fullName);
    return JSON.stringify((await modules.rankings.standing(found?.repository.id ?? 0)).trends);
  }

  test("never form a delta with a total, in whatever order counts arrive", async () => {
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
          assert.deepEqual(await mixed(world), []);
        }
        await world.modules.catalog.record(snapshots.map((one) => observed(`sorted/r${example}`, one)));
        await world.modules.rankings.update();
        const [one, other] = [`shuffled/r${example}`, `sorted/r${example}`];
        assert.equal(await trendsOf(world, one), await trendsOf(world, other));
      }),
      { numRuns: examples(60) },
    );
    await world.modules.rankings.update({ all: true });
    assert.deepEqual(await mixed(world), []);
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
    assert.ok(trend.confidenceReasons.includes("the forge reported the counts later"));
    const found = await world.get("/api/repos?q=tracked&window=7d");
    assert.equal(found.status, 200);
    assert.ok(JSON.stringify(found.body).includes('"basis":"RETAINED"'));
    const csv = (await world.get("/api/repos?window=7d&format=csv")).body.split("\r\n");
    assert.equal(csv[0].split(",").at(-2), "basis");
    assert.deepEqual(
      new Set(csv.slice(1, 3).map((line: string) => line.split(",").at(-2))),
      new Set(["TOTAL", "RETAINED"]),
    );
    const feed = (await world.get("/api/feeds/trending.atom?window=7d")).body;
    assert.match(feed, /new\/tracked \+\d+ stars in 7 days, given in this time and still held/);
    assert.doesNotMatch(feed, /old\/tracked[^<]*still held/);
    const badge = (await world.get("/api/embed/badge.svg?repo=github:new/tracked&kind=gain&window=7d")).body;
    assert.match(badge, /still held/);
  });

  test("are no movements of the day on which our own counts begin", async () => {
    const world = await createWorld(engine);
    const past = [5, 4, 3, 2].map((days) => snapshot(24 * days, 4_000 - days, { source: "BACKFILLED" }));
    const lower = [1, 0].map((days) => snapshot(24 * days, 2_000 - days, { source: "OBSERVED" }));
    await world.record(observation("o/r", [...past, ...lower]), observation("o/s", lower));
    const moved = await world.modules.database.read.selectFrom("moved_days").selectAll().execute();
    assert.deepEqual(
      moved.map(({ day, fell, jumped, compared }) => [day, fell, jumped, compared]),
      [[Math.floor(NOW / DAY_MS), 0, 0, 2]],
    );
    const { trends } = await world.modules.rankings.standing(1);
    for (const window of WINDOWS) assert.deepEqual(trends[window]?.anomalies ?? [], []);
  });

  test("begin the series of a window, whose step to our own counts is marked", async () => {
    const world = await createWorld(engine);
    const own = Array.from({ length: 21 }, (_, i) =>
      snapshot(24 * (20 - i), 900 + i, { source: "OBSERVED" }),
    );
    await world.record(observation("o/r", [...reported(NOW - 20 * DAY_MS, 900, 60), ...own]));
    const { body } = await world.get("/api/repos/1/metrics?window=30d");
    const { trends } = await world.modules.rankings.standing(1);
    assert.equal(trends["30d"]?.from, own[0]?.capturedAt);
    assert.equal(body.data.length, own.length + 1 + 10);
    assert.ok(Date.parse(body.data[0].capturedAt) >= NOW - 30 * DAY_MS);
    const began = own[0]?.capturedAt ?? 0;
    assert.deepEqual(body.meta.seams, [
      { from: new Date(began - 1).toISOString(), to: new Date(began).toISOString() },
    ]);
    assert.deepEqual(body.meta.gaps, []);
  });
});
