import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DAY_MS, HOUR_MS, WEEK_MS } from "../../src/lib/clock.js";
import { MAX_POINTS, median, STEPS, startOfStep, thin } from "../../src/repositories/series.js";
import { type Readings, readingsOf } from "../../src/repositories/snapshots/readings.js";
import { fc } from "../support/properties.js";
import { NOW } from "../support/world.js";

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

describe("A series", () => {
  const every = (count: number, stepMs: number) =>
    readingsOf(Array.from({ length: count }, (_, i) => [NOW - (count - 1 - i) * stepMs, i, 1, 1, 1, 0]));
  const timesOf = (readings: Readings) => Array.from({ length: readings.length }, (_, i) => readings.at(i));
  const thinned = (
    readings: Readings,
    { most = MAX_POINTS, step = "all", keepsFirst = false }: Partial<Parameters<typeof thin>[1]> = {},
  ) => {
    const { kept, resolution } = thin(readings, { most, step, keepsFirst });
    return { ats: kept.map((i) => readings.at(i)), resolution };
  };

  test("holds every snapshot up to the bound", () => {
    const { ats, resolution } = thinned(every(MAX_POINTS, 7 * 60_000));
    assert.deepEqual([resolution, ats.length], ["all", MAX_POINTS]);
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
    test(`of ${count} snapshots every ${stepMs / HOUR_MS} h has the last one of each ${resolution}, and ends with the newest`, () => {
      const readings = every(count, stepMs);
      const { ats, resolution: found } = thinned(readings);
      assert.equal(found, resolution);
      const lastOf = new Map(timesOf(readings).map((at) => [startOfStep(at, resolution), at]));
      assert.deepEqual(ats, [...lastOf.values()]);
      assert.ok(ats.length <= MAX_POINTS);
      assert.equal(ats.at(-1), NOW);
    });
  }

  test("never holds more than the bound, and then the newest", () => {
    const first = Date.UTC(1971, 0, 4, 12);
    const weekly = readingsOf(Array.from({ length: 2_500 }, (_, i) => [first + i * WEEK_MS, i, 1, 1, 1, 0]));
    const { ats, resolution } = thinned(weekly);
    assert.deepEqual([resolution, ats.length], ["4w", 626]);
    assert.deepEqual(thinned(weekly, { most: 100 }).ats, ats.slice(-100));
    assert.deepEqual(thinned(weekly, { most: 100, keepsFirst: true }).ats, [first, ...ats.slice(-99)]);
  });

  test("has the requested step, or the next longer one that fits", () => {
    const readings = every(1_000, HOUR_MS);
    for (const [step, most, expected] of [
      ["all", 1_000, "all"],
      ["all", 999, "2h"],
      ["6h", 1_000, "6h"],
      ["1h", 250, "6h"],
      ["1d", 250, "1d"],
      ["1w", 250, "1w"],
    ] as const) {
      const { ats, resolution } = thinned(readings, { step, most });
      assert.equal(resolution, expected);
      const startOf = (at: number) => (expected === "all" ? at : startOfStep(at, expected));
      assert.deepEqual(ats, [...new Map(timesOf(readings).map((at) => [startOf(at), at])).values()]);
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
          const { ats, resolution } = thinned(readings, { most, step, keepsFirst: true });
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
});
