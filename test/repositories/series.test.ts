import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DAY_MS, HOUR_MS, WEEK_MS } from "../../src/lib/clock.js";
import type { Snapshot } from "../../src/repositories/repository.js";
import {
  findGaps,
  MAX_POINTS,
  median,
  STEPS,
  seriesFrom,
  seriesStart,
  startOfStep,
} from "../../src/repositories/series.js";
import { readingsOf } from "../../src/repositories/snapshots/readings.js";
import { onBothEngines } from "../support/engines.js";
import { fc } from "../support/properties.js";
import { openCatalog } from "../support/tables.js";
import { NOW, observation, snapshot } from "../support/world.js";

const TIME_STEPS = STEPS.filter((step) => step !== "all");
const LENGTH_MS = {
  "1h": HOUR_MS,
  "2h": 2 * HOUR_MS,
  "6h": 6 * HOUR_MS,
  "12h": 12 * HOUR_MS,
  "1d": DAY_MS,
  "1w": WEEK_MS,
  "4w": 4 * WEEK_MS,
};
const times = fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) });

describe("Steps of time", () => {
  test("begin on the hour, at midnight UTC and on Monday", () => {
    const at = Date.UTC(2026, 3, 30, 17, 45, 3, 7);
    assert.equal(startOfStep(at, "1h"), Date.UTC(2026, 3, 30, 17));
    assert.equal(startOfStep(at, "1d"), Date.UTC(2026, 3, 30));
    assert.equal(startOfStep(at, "1w"), Date.UTC(2026, 3, 27));
    assert.equal(startOfStep(Date.UTC(2026, 3, 27), "1w"), Date.UTC(2026, 3, 27));
    assert.equal(startOfStep(Date.UTC(2026, 3, 27) - 1, "1w"), Date.UTC(2026, 3, 20));
  });

  test("contain their time, and start at a multiple of their length", () => {
    fc.assert(
      fc.property(times, fc.constantFrom(...TIME_STEPS), (at, step) => {
        const start = startOfStep(at, step);
        assert.ok(start <= at && at < start + LENGTH_MS[step]);
        assert.equal(startOfStep(start, step), start);
        assert.equal(startOfStep(start + LENGTH_MS[step] - 1, step), start);
        if (LENGTH_MS[step] > DAY_MS) assert.equal(new Date(start).getUTCDay(), 1);
      }),
    );
  });
});

describe("The median", () => {
  test("is the middle value, or the mean of the two middle ones", () => {
    assert.equal(median([3, 1, 2]), 2);
    assert.equal(median([4, 1, 3, 2]), 2.5);
    assert.ok(Number.isNaN(median([])));
  });

  test("has as many values below as above, in any order, and does not change them", () => {
    fc.assert(
      fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
        const before = [...values];
        const middle = median(values);
        const below = values.filter((value) => value < middle).length;
        const above = values.filter((value) => value > middle).length;
        assert.ok(below <= values.length / 2 && above <= values.length / 2);
        assert.equal(median(values.toReversed()), middle);
        assert.deepEqual(values, before);
      }),
    );
  });
});

describe("Gaps", () => {
  /** Daily times with up to ten minutes of jitter. */
  const jittered = fc
    .array(fc.integer({ min: 0, max: 600_000 }), { minLength: 12, maxLength: 60 })
    .map((jitters) => jitters.map((jitter, i) => NOW + i * DAY_MS + jitter));

  test("are not found in a regular series, nor in one that is too short", () => {
    fc.assert(fc.property(jittered, (series) => assert.deepEqual(findGaps(series), [])));
    assert.deepEqual(findGaps([]), []);
    assert.deepEqual(findGaps([NOW]), []);
    assert.deepEqual(findGaps([NOW, NOW + DAY_MS, NOW + 9 * DAY_MS]), []);
  });

  test("show missing points, and how many", () => {
    fc.assert(
      fc.property(jittered, fc.nat(), fc.integer({ min: 1, max: 5 }), (series, index, missing) => {
        const from = 1 + (index % (series.length - missing - 2));
        const rest = series.toSpliced(from, missing);
        assert.deepEqual(findGaps(rest), [{ from: rest[from - 1], to: rest[from], missing }]);
      }),
    );
  });

  test("depend on neighbouring distances, because the interval changes", () => {
    const hourly = Array.from({ length: 24 }, (_, i) => NOW + i * HOUR_MS);
    const daily = Array.from({ length: 24 }, (_, i) => NOW + DAY_MS + i * DAY_MS);
    const gaps = findGaps([...hourly, ...daily]);
    assert.ok(
      gaps.every(({ from }) => from < NOW + 5 * DAY_MS),
      "a daily cadence is no gap of its own",
    );
    assert.deepEqual(
      findGaps(daily.toSpliced(15, 1)).map(({ missing }) => missing),
      [1],
    );
  });

  test("lie between neighbouring points in order, for any times", () => {
    fc.assert(
      fc.property(fc.uniqueArray(times, { maxLength: 50 }), (unsorted) => {
        const series = unsorted.sort((a, b) => a - b);
        const gaps = findGaps(series);
        for (const gap of gaps) {
          assert.equal(series[series.indexOf(gap.from) + 1], gap.to);
          assert.ok(gap.missing >= 1);
        }
        assert.deepEqual(
          gaps.map(({ from }) => from),
          gaps.map(({ from }) => from).sort((a, b) => a - b),
        );
      }),
    );
  });
});

onBothEngines("A series", (engine) => {
  /** What a series of these snapshots holds, from the first on. */
  const read = async (snapshots: readonly Snapshot[], from = 0) => {
    const { catalog } = await openCatalog(engine);
    await catalog.record([observation("o/other", [snapshot(1, 1)]), observation("o/r", snapshots)]);
    return catalog.series(2, from);
  };
  const every = (count: number, stepMs: number) =>
    Array.from({ length: count }, (_, i) => ({
      ...snapshot(0, i),
      capturedAt: NOW - (count - 1 - i) * stepMs,
    }));

  test("holds every snapshot up to the bound", async () => {
    const snapshots = every(MAX_POINTS, 7 * 60_000);
    const series = await read(snapshots);
    assert.equal(series.resolution, "all");
    assert.deepEqual(series.points, snapshots);
    assert.deepEqual(series.gaps, []);
  });

  test("starts at the requested time, inclusive", async () => {
    const snapshots = every(10, DAY_MS);
    const series = await read(snapshots, NOW - 3 * DAY_MS);
    assert.deepEqual(series.points, snapshots.slice(-4));
  });

  for (const [resolution, count, stepMs] of [
    ["1h", MAX_POINTS + 1, 20 * 60_000],
    ["2h", MAX_POINTS + 1, HOUR_MS],
    ["2h", 2 * MAX_POINTS - 2, HOUR_MS],
    ["6h", 2 * MAX_POINTS + 2, HOUR_MS],
    ["12h", 6 * MAX_POINTS + 6, HOUR_MS],
    ["1d", 2 * MAX_POINTS, 12 * HOUR_MS],
    ["1w", 2 * MAX_POINTS, DAY_MS],
  ] as const) {
    test(`of ${count} snapshots every ${stepMs / HOUR_MS} h has the last one of each ${resolution}, and ends with the newest`, async () => {
      const snapshots = every(count, stepMs);
      const series = await read(snapshots);
      assert.equal(series.resolution, resolution);
      const lastOf = new Map(snapshots.map((each) => [startOfStep(each.capturedAt, resolution), each]));
      assert.deepEqual(series.points, [...lastOf.values()]);
      assert.ok(series.points.length <= MAX_POINTS);
      assert.deepEqual(series.points.at(-1), snapshots.at(-1));
    });
  }

  test("never holds more than the bound, and then the newest", async () => {
    const { catalog } = await openCatalog(engine);
    const first = Date.UTC(1971, 0, 4, 12);
    const snapshots = Array.from({ length: 2_500 }, (_, i) => ({
      ...snapshot(0, i),
      capturedAt: first + i * WEEK_MS,
    }));
    await catalog.record([observation("o/r", snapshots)]);
    const series = await catalog.series(1, 0);
    assert.equal(series.resolution, "4w");
    assert.equal(series.points.length, 626);
    const shorter = await catalog.series(1, 0, { most: 100 });
    assert.deepEqual(shorter.points, series.points.slice(-100));
    const begun = await catalog.series(1, first, { most: 100 });
    assert.deepEqual(begun.points, [snapshots[0], ...series.points.slice(-99)]);
  });

  test("has the requested step, or the next longer one that fits", async () => {
    const { catalog } = await openCatalog(engine);
    const snapshots = every(1_000, HOUR_MS);
    await catalog.record([observation("o/r", snapshots)]);
    for (const [step, most, resolution] of [
      ["all", 1_000, "all"],
      ["all", 999, "2h"],
      ["6h", 1_000, "6h"],
      ["1h", 250, "6h"],
      ["1d", 250, "1d"],
      ["1w", 250, "1w"],
    ] as const) {
      const series = await catalog.series(1, 0, { step, most });
      assert.equal(series.resolution, resolution);
      const lastOf = new Map(
        snapshots.map((each) => [
          resolution === "all" ? each.capturedAt : startOfStep(each.capturedAt, resolution),
          each,
        ]),
      );
      assert.deepEqual(series.points, [...lastOf.values()]);
    }
  });

  test("by a longer step is the same from any shorter one, and keeps the snapshot that it begins with", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(times, { minLength: 1, maxLength: 60 }),
        fc.constantFrom(...TIME_STEPS),
        fc.integer({ min: 2, max: 60 }),
        (unsorted, step, most) => {
          const all = unsorted.sort((a, b) => a - b);
          const readings = readingsOf(all.map((at) => [at, 1, 1, 1, 1, 0]));
          const { points, resolution } = seriesFrom(readings, all[0] ?? 0, { most, step });
          const ats = points.map(({ capturedAt }) => capturedAt);
          assert.equal(ats[0], all[0]);
          assert.equal(ats.at(-1), all.at(-1));
          assert.ok(ats.length <= most);
          const lastOf = (one: typeof step) =>
            new Set([all[0], ...new Map(all.map((at) => [startOfStep(at, one), at])).values()]);
          const finer = TIME_STEPS.slice(TIME_STEPS.indexOf(step)).find((one) => lastOf(one).size <= most);
          assert.equal(resolution, finer ?? "4w");
          if (finer !== undefined) assert.deepEqual(new Set(ats), lastOf(finer));
        },
      ),
    );
  });

  test("snapshots between two times are found, both included", async () => {
    const snapshots = every(4, HOUR_MS);
    const { catalog } = await openCatalog(engine);
    await catalog.record([observation("o/other", snapshots), observation("o/r", snapshots)]);
    const [from = 0, until = 0] = [snapshots[1]?.capturedAt, snapshots[2]?.capturedAt];
    const found = await catalog.snapshotsBetween(2, { from, until });
    assert.deepEqual(found.snapshots(), snapshots.slice(1, 3));
    assert.equal((await catalog.snapshotsBetween(2, { from: from + 1, until: until - 1 })).length, 0);
    assert.equal((await catalog.snapshotsBetween(3, { from, until })).length, 0);
  });
});

describe("The series of a repository that was last seen before the end of a window", () => {
  test("holds the points in the window and at most one before it, or none", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.integer({ min: 0, max: 200 * 24 }), { minLength: 1, maxLength: 80 }),
        fc.array(fc.boolean(), { minLength: 80, maxLength: 80 }),
        fc.integer({ min: 0, max: 80 * 24 }),
        (hours, isHeld, staleHours) => {
          const all = hours.sort((a, b) => b - a).map((age) => NOW - age * HOUR_MS);
          const readings = readingsOf(all.map((at, i) => [at, i, 1, 1, 1, isHeld[i] ? 2 : 0]));
          const asOf = (all.at(-1) ?? 0) + staleHours * HOUR_MS;
          const start = seriesStart(readings, asOf, 30 * DAY_MS);
          const points = start === undefined ? [] : all.filter((at) => at >= start);
          const before = points.filter((at) => at < asOf - 30 * DAY_MS);
          assert.ok(before.length <= 1, `${before.length}`);
          assert.equal(points.length > before.length, staleHours <= 30 * 24);
        },
      ),
    );
  });
});
