import assert from "node:assert/strict";
import { test } from "node:test";
import { confidence } from "../../src/growth/confidence.js";
import { SCORE_NAMES, WINDOW_HOURS, WINDOWS } from "../../src/growth/definitions.js";
import { explain, type ScoreInput, score } from "../../src/growth/scores.js";
import { fc } from "../support/properties.js";

const count = fc.integer({ min: 0, max: 500_000 });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const inputs: fc.Arbitrary<ScoreInput> = fc
  .record({
    window: fc.constantFrom(...WINDOWS),
    covered: fc.double({ min: 0.5, max: 2, noNaN: true }),
    starsFrom: count,
    starsCounted: fc.integer({ min: -5_000, max: 100_000 }),
    forksFrom: maybe(count),
    forksCounted: maybe(fc.integer({ min: -500, max: 10_000 })),
    openIssuesFrom: maybe(count),
    openIssuesDelta: maybe(fc.integer({ min: -500, max: 500 })),
    ageDays: maybe(fc.double({ min: 0, max: 5_000, noNaN: true })),
    idleDays: maybe(fc.double({ min: 0, max: 5_000, noNaN: true })),
    usualPerDay: maybe(fc.double({ min: 0, max: 5_000, noNaN: true })),
  })
  .map(({ covered, ...rest }) => ({
    ...rest,
    windowHours: WINDOW_HOURS[rest.window],
    coveredHours: covered * WINDOW_HOURS[rest.window],
  }));

function repository(starsFrom: number, starsCounted: number, more: Partial<ScoreInput> = {}): ScoreInput {
  return {
    window: "24h",
    windowHours: 24,
    coveredHours: 24,
    starsFrom,
    starsCounted,
    forksFrom: Math.round(starsFrom / 8),
    forksCounted: Math.round(starsCounted / 10),
    openIssuesFrom: 20,
    openIssuesDelta: 0,
    ageDays: 800,
    idleDays: 1,
    usualPerDay: 4.5,
    ...more,
  };
}

test("every score is null, or at least 0 with two decimals; rising and activity are at most 100", () => {
  fc.assert(
    fc.property(inputs, (input) => {
      for (const [name, value] of Object.entries(score(input))) {
        if (value === null) continue;
        const isBounded = name === "rising" || name === "activity";
        assert.ok(value >= 0 && value <= (isBounded ? 100 : Number.MAX_VALUE), `${name} ${value}`);
        assert.equal(value, Math.round(value * 100) / 100);
      }
    }),
  );
});

test("forks count up to as many as stars were gained", () => {
  const forked = (forksCounted: number) => score(repository(1_000, 40, { forksCounted }));
  assert.deepEqual(forked(4_000), forked(40));
  assert.ok((forked(40).forkMomentum ?? 0) > (forked(20).forkMomentum ?? 0));
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

test("the same gain never counts more on a larger repository", () => {
  fc.assert(
    fc.property(inputs, count, (input, more) => {
      const small = score(input);
      const large = score({ ...input, starsFrom: input.starsFrom + more });
      for (const name of ["rising", "newHot", "starMomentum"] as const)
        assert.ok((large[name] ?? 0) <= (small[name] ?? 0), name);
    }),
  );
});

test("more forks, a later push and a younger age never lower the scores they are part of", () => {
  fc.assert(
    fc.property(inputs, fc.integer({ min: 0, max: 1_000 }), (input, more) => {
      const before = score(input);
      if (input.forksCounted !== null) {
        const forked = score({ ...input, forksCounted: input.forksCounted + more });
        assert.ok((forked.forkMomentum ?? 0) >= (before.forkMomentum ?? 0));
      }
      if (input.idleDays !== null)
        assert.ok(
          (score({ ...input, idleDays: input.idleDays + more }).activity ?? 0) <= (before.activity ?? 0),
        );
      if (input.ageDays !== null)
        assert.ok((score({ ...input, ageDays: input.ageDays + more }).newHot ?? 0) <= (before.newHot ?? 0));
    }),
  );
});

test("a gain over a longer time counts by its pace", () => {
  const inADay = score(repository(1_000, 50, { forksCounted: null, openIssuesDelta: null }));
  const inTwo = score(
    repository(1_000, 100, { coveredHours: 48, forksCounted: null, openIssuesDelta: null }),
  );
  assert.deepEqual(inTwo, inADay);
});

test("the same gain trends more where less is usual, and an unknown usual day counts as 0", () => {
  fc.assert(
    fc.property(inputs, fc.integer({ min: 1, max: 1_000 }), (input, more) => {
      const usual = score({ ...input, usualPerDay: (input.usualPerDay ?? 0) + more });
      assert.ok((usual.trending ?? 0) <= (score(input).trending ?? 0));
      const unknown = score({ ...input, usualPerDay: null });
      assert.deepEqual(unknown, score({ ...input, usualPerDay: 0 }));
    }),
  );
});

test("neither a giant as usual nor a repository of 3 stars with +5 leads", () => {
  const trending = (input: ScoreInput) => score(input).trending ?? 0;
  const honest = trending(repository(2_000, 60));
  assert.ok(trending(repository(150_000, 40, { usualPerDay: 40 })) < honest / 2);
  assert.ok(trending(repository(3, 5, { usualPerDay: null })) < honest / 2);
  assert.ok((score(repository(3, 5)).rising ?? 0) < (score(repository(500, 300)).rising ?? 0) / 2);
});

test("without a star gained nothing is trending, and without a known age nothing is new", () => {
  assert.equal(score(repository(1_000, 0)).trending, 0);
  assert.equal(score(repository(1_000, -20)).trending, 0);
  assert.equal(score(repository(1_000, 20, { ageDays: null })).newHot, null);
  assert.equal(score(repository(1_000, 20, { ageDays: 90 })).newHot, 0);
});

test("an explanation holds the known values that its formula uses", () => {
  const { trending, newHot, activity } = explain(repository(2_000, 60, { ageDays: null, idleDays: 1 }));
  assert.deepEqual(trending, {
    score: 15.76,
    formula: "gained ÷ √(usual day + 10)",
    values: { gained: 60, usualDay: 4.5 },
  });
  assert.deepEqual([newHot.score, newHot.values], [null, { gained: 60, stars: 2_000 }]);
  assert.deepEqual(activity.values, { idleDays: 1, issuesPerDay: 0, openIssues: 20 });
});

test("worked numbers of docs/RANKINGS.md", () => {
  assert.deepEqual(score(repository(2_000, 60, { ageDays: 40 })), {
    trending: 15.76,
    rising: 31.65,
    newHot: 0.99,
    starMomentum: 1.33,
    forkMomentum: 0.37,
    activity: 65.33,
  });
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
