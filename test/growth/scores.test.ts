import assert from "node:assert/strict";
import { test } from "node:test";
import { confidence } from "../../src/growth/confidence.js";
import { SCORE_NAMES, WINDOW_HOURS, WINDOWS } from "../../src/growth/definitions.js";
import { explain, type ScoreInput, score } from "../../src/growth/scores.js";
import { fc } from "../support/properties.js";

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const inputs: fc.Arbitrary<ScoreInput> = fc
  .record({
    window: fc.constantFrom(...WINDOWS),
    covered: fc.double({ min: 0.5, max: 2, noNaN: true }),
    starsCounted: fc.integer({ min: -5_000, max: 100_000 }),
    isYoung: maybe(fc.boolean()),
    usualPerDay: maybe(fc.double({ min: 0, max: 5_000, noNaN: true })),
  })
  .map(({ covered, ...rest }) => ({
    ...rest,
    windowHours: WINDOW_HOURS[rest.window],
    coveredHours: covered * WINDOW_HOURS[rest.window],
  }));

function gained(starsCounted: number, more: Partial<ScoreInput> = {}): ScoreInput {
  return {
    window: "24h",
    windowHours: 24,
    coveredHours: 24,
    starsCounted,
    isYoung: false,
    usualPerDay: 4.5,
    ...more,
  };
}

test("every score is null, or at least 0 with two decimals", () => {
  fc.assert(
    fc.property(inputs, (input) => {
      for (const value of Object.values(score(input))) {
        if (value === null) continue;
        assert.ok(value >= 0);
        assert.equal(value, Math.round(value * 100) / 100);
      }
    }),
  );
});

test("more stars gained never lower a score", () => {
  fc.assert(
    fc.property(inputs, fc.integer({ min: 0, max: 10_000 }), (input, more) => {
      const less = score(input);
      const greater = score({ ...input, starsCounted: input.starsCounted + more });
      for (const name of SCORE_NAMES) assert.ok((greater[name] ?? 0) >= (less[name] ?? 0), name);
    }),
  );
});

test("a gain over a longer time counts by its pace", () => {
  assert.deepEqual(score(gained(100, { coveredHours: 48 })), score(gained(50)));
});

test("the same gain trends more where less is usual, and an unknown usual day is the pace of the window", () => {
  fc.assert(
    fc.property(inputs, fc.integer({ min: 1, max: 1_000 }), (input, more) => {
      const less = input.usualPerDay ?? 0;
      const [known, usual] = [less, less + more].map((usualPerDay) => score({ ...input, usualPerDay }));
      assert.ok((usual?.trending ?? 0) <= (known?.trending ?? 0));
      const pace = (24 * Math.max(0, input.starsCounted)) / input.coveredHours;
      const unknown = score({ ...input, usualPerDay: null });
      assert.equal(unknown.trending, score({ ...input, usualPerDay: pace }).trending);
    }),
  );
});

test("rising is what gains a hundred stars and twice its usual day, by how many times, and of no month", () => {
  const rising = (stars: number, usualPerDay: number | null, more: Partial<ScoreInput> = {}) =>
    score(gained(stars, { usualPerDay, ...more })).rising;
  assert.deepEqual([rising(100, 50), rising(300, 100), rising(500, 0)], [2, 3, 500]);
  assert.deepEqual([rising(99, 1), rising(100, 51)], [0, 0], "nothing unusual");
  assert.equal(rising(700, 50, { window: "7d", windowHours: 168, coveredHours: 168 }), 2);
  assert.equal(rising(9_000, 50, { window: "30d", windowHours: 720, coveredHours: 720 }), null);
  assert.equal(rising(9_000, null), null);
});

test("new and hot is the Trending score of what is young and gains its usual day", () => {
  const scores = (stars: number, more: Partial<ScoreInput>) => score(gained(stars, more));
  const young = scores(60, { isYoung: true });
  assert.equal(young.newHot, young.trending);
  assert.equal(scores(60, { isYoung: true, usualPerDay: 61 }).newHot, 0);
  const unknown = scores(60, { isYoung: true, usualPerDay: null });
  assert.equal(unknown.newHot, unknown.trending);
  assert.deepEqual([scores(60, { isYoung: false }).newHot, scores(60, { isYoung: null }).newHot], [0, null]);
});

test("without a star gained nothing is trending", () => {
  assert.deepEqual([score(gained(0)).trending, score(gained(-20)).trending], [0, 0]);
});

test("an explanation holds the known values that its formula uses", () => {
  const { trending, newHot } = explain(gained(60, { isYoung: null }));
  assert.deepEqual(trending, {
    score: 12.06,
    formula: "gained ÷ (usual day + 10)^0.6",
    values: { gained: 60, usualDay: 4.5 },
  });
  assert.deepEqual([newHot.score, newHot.values], [null, { gained: 60, pace: 60, usualDay: 4.5 }]);
});

test("worked numbers of docs/RANKINGS.md", () => {
  assert.deepEqual(score(gained(60, { isYoung: true })), { trending: 12.06, rising: 0, newHot: 12.06 });
});

test("confidence falls with missing coverage, a hole, few snapshots, doubtful readings and an unknown usual day", () => {
  const whole = {
    window: "24h",
    coveredHours: 24,
    snapshots: 2,
    availability: "AVAILABLE",
    hasDoubtfulReading: false,
    hasUsualDay: true,
    unseenHours: 0,
    isYounger: false,
  } as const;
  assert.equal(confidence(whole), 1);
  assert.equal(confidence({ ...whole, coveredHours: 48 }), 0.5);
  assert.equal(confidence({ ...whole, coveredHours: 12 }), 0.5);
  assert.equal(confidence({ ...whole, window: "7d", coveredHours: 168 }), 0.5);
  assert.equal(confidence({ ...whole, hasDoubtfulReading: true }), 0.3);
  assert.equal(confidence({ ...whole, unseenHours: 12 }), 0.5);
  assert.equal(confidence({ ...whole, coveredHours: 12, isYounger: true }), 1);
  assert.equal(confidence({ ...whole, hasUsualDay: false }), 0.8);
  assert.equal(confidence({ ...whole, availability: "GONE" }), 0);
});
