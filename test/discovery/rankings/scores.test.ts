import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { confidence } from "../../../src/growth/confidence.js";
import { SCORE_NAMES, WINDOW_HOURS, WINDOWS } from "../../../src/growth/definitions.js";
import { explain, type ScoreInput, score } from "../../../src/growth/scores.js";

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
    scales: fc.record({
      stars: fc.double({ min: 0.14, max: 50, noNaN: true }),
      forks: fc.double({ min: 0.14, max: 50, noNaN: true }),
    }),
  })
  .map(({ covered, ...rest }) => ({
    ...rest,
    windowHours: WINDOW_HOURS[rest.window],
    coveredHours: covered * WINDOW_HOURS[rest.window],
  }));

/** A repository on a forge where one in twenty growing repositories gains at least as much as 12 stars on 600. */
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
    scales: { stars: 0.48, forks: 0.42 },
    ...more,
  };
}

test("every score is null or between 0 and 100 with two decimals", () => {
  fc.assert(
    fc.property(inputs, (input) => {
      for (const [name, value] of Object.entries(score(input))) {
        if (value === null) continue;
        assert.ok(value >= 0 && value <= 100, `${name} ${value}`);
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

test("the same gain never counts more on a larger repository", () => {
  fc.assert(
    fc.property(inputs, count, (input, more) => {
      const small = score(input);
      const large = score({ ...input, starsFrom: input.starsFrom + more });
      for (const name of ["trending", "rising", "starMomentum"] as const)
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
        assert.ok((forked.trending ?? 0) >= (before.trending ?? 0));
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

test("neither a giant with +40 nor a repository of 3 stars with +5 leads", () => {
  const trending = (input: ScoreInput) => score(input).trending ?? 0;
  const honest = trending(repository(2_000, 60));
  assert.ok(trending(repository(150_000, 40)) < honest / 2);
  assert.ok(trending(repository(3, 5)) < honest / 2);
  assert.ok((score(repository(3, 5)).rising ?? 0) < (score(repository(500, 300)).rising ?? 0) / 2);
});

test("a repository as hot for its small forge as another for its large one scores the same", () => {
  const large = score(
    repository(1_000, 200, { forksCounted: null, openIssuesDelta: null, scales: { stars: 1.2, forks: 1 } }),
  );
  const hot = (gained: number) => gained / Math.sqrt(1_050);
  const small = score(
    repository(1_000, 200, { forksCounted: null, openIssuesDelta: null, scales: { stars: 1.2, forks: 1 } }),
  );
  assert.equal(small.starMomentum, large.starMomentum);
  const cooler =
    score(repository(1_000, 100, { scales: { stars: (1.2 * hot(100)) / hot(200), forks: 1 } }))
      .starMomentum ?? 0;
  assert.ok(Math.abs(cooler - (large.starMomentum ?? 0)) < 5);
});

test("without a star gained nothing is trending, and without a known age nothing is new", () => {
  assert.equal(score(repository(1_000, 0)).trending, 0);
  assert.equal(score(repository(1_000, -20)).trending, 0);
  assert.equal(score(repository(1_000, 20, { ageDays: null })).newHot, null);
  assert.equal(score(repository(1_000, 20, { ageDays: 90 })).newHot, 0);
});

test("an explanation adds up to the score", () => {
  fc.assert(
    fc.property(inputs, (input) => {
      for (const [name, { score: value, terms }] of Object.entries(explain(input))) {
        if (value === null || name === "newHot" || (name === "trending" && value === 0)) continue;
        const sum = terms.reduce((total, term) => total + 100 * term.value * term.weight, 0);
        assert.ok(Math.abs(sum - value) < 0.0051, `${name}: ${sum} is not ${value}`);
        assert.ok(Math.abs(terms.reduce((total, term) => total + term.weight, 0) - 1) < 1e-9);
      }
    }),
  );
});

test("worked numbers of docs/RANKINGS.md", () => {
  assert.deepEqual(score(repository(2_000, 60)), {
    trending: 53.61,
    rising: 31.65,
    newHot: 0,
    starMomentum: 62.92,
    forkMomentum: 25.63,
    activity: 65.33,
  });
});

test("confidence falls with missing coverage, few snapshots and doubtful readings", () => {
  const whole = {
    window: "24h",
    coveredHours: 24,
    snapshots: 2,
    availability: "AVAILABLE",
    hasDoubtfulReading: false,
    isRetained: false,
  } as const;
  assert.equal(confidence(whole), 1);
  assert.equal(confidence({ ...whole, coveredHours: 48 }), 0.5);
  assert.equal(confidence({ ...whole, coveredHours: 12 }), 0.5);
  assert.equal(confidence({ ...whole, window: "7d", coveredHours: 168 }), 0.5);
  assert.equal(confidence({ ...whole, hasDoubtfulReading: true }), 0.3);
  assert.equal(confidence({ ...whole, isRetained: true }), 0.8);
  assert.equal(confidence({ ...whole, availability: "GONE" }), 0);
});
