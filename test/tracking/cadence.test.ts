import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS, WEEK_MS } from "../../src/lib/clock.js";
import {
  beforeEnd,
  detailsInterval,
  intervalOf,
  nextStretch,
  restAfter,
  retryAfter,
  scheduledInterval,
  spread,
  walkInterval,
} from "../../src/tracking/cadence.js";
import { fc } from "../support/properties.js";

const stars = fc.integer({ min: 0, max: 2_000_000 });
const pace = fc.double({ min: 0, max: 1e6, noNaN: true });
const idleDays = fc.option(fc.double({ min: 0, max: 5_000, noNaN: true }));
const chance = fc.double({ min: 0, max: 1, noNaN: true });

test("every interval is between an hour and a week", () => {
  fc.assert(
    fc.property(stars, fc.option(pace), idleDays, (count, starsPerDay, idle) => {
      const interval = intervalOf({ stars: count, starsPerDay, idleDays: idle });
      assert.ok(Number.isSafeInteger(interval) && interval >= HOUR_MS && interval <= WEEK_MS, `${interval}`);
    }),
  );
});

test("faster growth and recent pushes never make the interval longer", () => {
  fc.assert(
    fc.property(stars, pace, pace, idleDays, (count, one, other, idle) => {
      const [slow, fast] = one < other ? [one, other] : [other, one];
      const of = (starsPerDay: number) => intervalOf({ stars: count, starsPerDay, idleDays: idle });
      assert.ok(of(fast) <= of(slow));
      const worked = intervalOf({ stars: count, starsPerDay: one, idleDays: 1 });
      assert.ok(worked <= intervalOf({ stars: count, starsPerDay: one, idleDays: 400 }));
    }),
  );
});

test("at the same growth, the smaller repository is refreshed sooner", () => {
  const of = (count: number) => intervalOf({ stars: count, starsPerDay: 30, idleDays: 0 });
  assert.ok(of(1_000) < of(100_000));
});

test("what gains in a window is refreshed before half of it has passed, at whatever spread", () => {
  const latest = (gainedWithinMs: number) =>
    beforeEnd(scheduledInterval({ stars: 100, starsPerDay: 0.1, idleDays: 90, gainedWithinMs }, 1), 1);
  // An hour late at most.
  assert.ok(latest(DAY_MS) <= DAY_MS / 2 - HOUR_MS, `${latest(DAY_MS)}`);
  assert.ok(latest(WEEK_MS) <= WEEK_MS / 2 - HOUR_MS, `${latest(WEEK_MS)}`);
});

test("a small quota stretches all intervals, and those of repositories with little growth most", () => {
  const of = (starsPerDay: number, stretch: number) =>
    scheduledInterval({ stars: 100, starsPerDay, idleDays: 0, gainedWithinMs: DAY_MS }, stretch) / HOUR_MS;
  assert.equal(of(1, 1), 9.6);
  assert.equal(of(1, 1.5), 48.6);
  assert.equal(of(12, 1), 4);
  assert.equal(of(12, 1.5), 6);
  fc.assert(
    fc.property(
      stars,
      fc.option(pace),
      fc.double({ min: 1, max: 48, noNaN: true }),
      (count, perDay, stretch) => {
        const heat = { stars: count, starsPerDay: perDay, idleDays: null, gainedWithinMs: DAY_MS };
        const interval = scheduledInterval(heat, stretch);
        assert.ok(
          Number.isSafeInteger(interval) && interval >= HOUR_MS && interval <= WEEK_MS,
          `${interval}`,
        );
        assert.ok(interval <= scheduledInterval({ ...heat, gainedWithinMs: null }, stretch));
      },
    ),
  );
});

test("waits grow with each failure, up to a week for a repository and a quarter of an hour for a forge", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e9 }), chance, (failures, part) => {
      assert.ok(retryAfter(failures) >= HOUR_MS && retryAfter(failures) <= WEEK_MS);
      assert.ok(retryAfter(failures + 1) >= retryAfter(failures));
      const rest = restAfter(failures, part);
      assert.ok(rest >= 27_000 && rest < 15 * 60_000, `${rest}`);
      assert.ok(restAfter(failures + 1, part) >= rest);
    }),
  );
});

test("spreading changes a time by at most a tenth", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 * WEEK_MS }), chance, (ms, part) => {
      const spreadMs = spread(ms, part);
      assert.ok(spreadMs >= Math.floor(0.9 * ms) && spreadMs <= Math.ceil(1.1 * ms));
    }),
  );
});

test("a refresh is due within the last fifth of its interval", () => {
  fc.assert(
    fc.property(fc.integer({ min: HOUR_MS, max: WEEK_MS }), chance, (ms, part) => {
      const wait = beforeEnd(ms, part);
      assert.ok(wait >= 0.8 * ms && wait < ms, `${wait} of ${ms}`);
    }),
  );
});

test("walks are four to twenty hours apart, and take 5,000 requests a day if that is in between", () => {
  assert.equal(walkInterval(1), 4 * HOUR_MS);
  assert.equal(walkInterval(35), 4 * HOUR_MS);
  assert.equal(walkInterval(2_500), DAY_MS / 2);
  assert.equal(walkInterval(6_000), 20 * HOUR_MS);
  assert.ok(spread(walkInterval(1e9), 1) < DAY_MS - HOUR_MS, "counts are read again within a day");
});

test("own records are due after a week with lists, and within a month with whatever stretch", () => {
  assert.ok(spread(detailsInterval(1), 1) <= WEEK_MS);
  assert.ok(spread(detailsInterval(2), 1) <= 2 * WEEK_MS);
  assert.equal(detailsInterval(48), 4 * WEEK_MS);
});

test("intervals are stretched while repositories are late, up to a maximum, and shrink back", () => {
  let stretch = 1;
  for (let i = 0; i < 200; i++) {
    const next = nextStretch(stretch, 2 * HOUR_MS, HOUR_MS / 2);
    assert.ok(next >= stretch && next <= 48);
    stretch = next;
  }
  assert.equal(stretch, 48);
  assert.equal(nextStretch(stretch, HOUR_MS / 2, HOUR_MS), stretch, "neither early nor late");
  for (let i = 0; i < 200; i++) stretch = nextStretch(stretch, 0, HOUR_MS);
  assert.equal(stretch, 1);
  assert.ok(nextStretch(1, 2 * HOUR_MS, 60_000) < 1.01, "a minute of catching up");
});
