import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DAY_MS } from "../../src/clock.js";
import { countedPart, findAnomalies, type Reading } from "../../src/rankings/growth/anomalies.js";

/** One reading a day; forks and issues are unknown unless given. */
function days(
  stars: readonly number[],
  more: { forks?: readonly number[]; issues?: readonly number[] } = {},
): Reading[] {
  return stars.map((count, day) => ({
    at: day * DAY_MS,
    stars: count,
    forks: more.forks?.[day] ?? null,
    openIssues: more.issues?.[day] ?? null,
    source: "OBSERVED",
  }));
}

const kinds = (readings: readonly Reading[], pushedAt: number | null = null): string[] =>
  findAnomalies(readings, pushedAt).map((anomaly) => `${anomaly.kind} ${anomaly.at / DAY_MS}`);

test("steady growth, and growth that forks and issues follow, is no anomaly", () => {
  assert.deepEqual(kinds(days([1_000, 1_010, 1_022, 1_030, 1_041])), []);
  const forks = [100, 101, 102, 180, 230];
  assert.deepEqual(
    kinds(days([1_000, 1_010, 1_020, 3_020, 4_500], { forks, issues: [5, 5, 6, 40, 60] })),
    [],
  );
});

test("a zero between large readings is a failed reading", () => {
  assert.deepEqual(kinds(days([29_300, 29_310, 0, 29_326, 29_330])), ["FAILED_READING 2"]);
  assert.deepEqual(kinds(days([29_300, 29_310, 120, 29_326])), ["FAILED_READING 2"]);
});

test("a fall to almost nothing is doubted even before the next reading", () => {
  assert.deepEqual(kinds(days([29_300, 29_310, 0])), ["FAILED_READING 2"]);
});

test("a loss of hundreds in one step is a purge", () => {
  assert.deepEqual(kinds(days([20_000, 20_100, 19_551, 19_600])), ["PURGE 2"]);
  assert.deepEqual(
    kinds(days([120_000, 120_000, 119_850])),
    [],
    "a few in a thousand of a large repository are not",
  );
});

test("a value that returns to the old level days later is marked at both ends", () => {
  assert.deepEqual(kinds(days([70_000, 70_010, 55_000, 55_010, 70_050, 70_060])), ["RETURN 2", "RETURN 4"]);
  assert.deepEqual(kinds(days([1_000, 1_005, 4_000, 4_002, 1_010])), ["RETURN 2", "RETURN 4"]);
});

test("a step to many times the stars without forks to match is a change of level", () => {
  assert.deepEqual(kinds(days([6_700, 6_710, 6_720, 70_255], { forks: [20_000, 20_001, 20_003, 20_010] })), [
    "LEVEL_SHIFT 3",
  ]);
});

test("a sudden gain without forks, issues or pushes to match is a burst; any one of them makes it plausible", () => {
  const stars = [500, 503, 505, 508, 1_400, 1_402];
  const flat = [40, 40, 40, 40, 41, 41];
  const issues = [7, 7, 7, 7, 7, 7];
  assert.deepEqual(kinds(days(stars, { forks: flat, issues })), ["BURST 4"]);
  assert.deepEqual(kinds(days(stars, { forks: flat, issues }), 4 * DAY_MS), [], "pushed on the day");
  assert.deepEqual(kinds(days(stars, { forks: [40, 40, 40, 40, 80, 80], issues })), [], "forked");
  assert.deepEqual(kinds(days(stars)), [], "nothing is known of forks, issues and pushes");
});

test("an anomaly gives figures and accuses nobody", () => {
  const [anomaly] = findAnomalies(days([20_000, 20_100, 19_551]), null);
  assert.deepEqual(anomaly, {
    kind: "PURGE",
    at: 2 * DAY_MS,
    reason: "549 of 20100 stars fewer in one step",
    starsBefore: 20_100,
    starsAfter: 19_551,
  });
});

test("the counted part of a gain shrinks with its anomalies and is never more than the whole", () => {
  const burst = findAnomalies(
    days([500, 503, 505, 508, 1_400, 1_402], { forks: [4, 4, 4, 4, 4, 4], issues: [1, 1, 1, 1, 1, 1] }),
    null,
  );
  assert.equal(
    countedPart(burst, { at: 0, stars: 500 }, { at: 5 * DAY_MS, stars: 1_402 }),
    1 - 0.75 * (892 / 902),
  );
  assert.equal(
    countedPart(burst, { at: 4 * DAY_MS, stars: 1_400 }, { at: 5 * DAY_MS, stars: 1_402 }),
    1,
    "the burst was before this window",
  );
  const failed = findAnomalies(days([29_300, 0, 29_326]), null);
  assert.equal(
    countedPart(failed, { at: DAY_MS, stars: 0 }, { at: 2 * DAY_MS, stars: 29_326 }),
    0,
    "a gain from a failed reading",
  );
});

test("a series of any length and shape gives ordered anomalies and a counted part from 0 to 1", () => {
  const series = fc.array(
    fc.tuple(
      fc.integer({ min: 0, max: 300_000 }),
      fc.option(fc.integer({ min: 0, max: 9_999 }), { nil: null }),
    ),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(
      series,
      fc.option(fc.integer({ min: 0, max: 40 * DAY_MS }), { nil: null }),
      (values, pushedAt) => {
        const readings = values.map(
          ([stars, forks], day): Reading => ({
            at: day * DAY_MS,
            stars,
            forks,
            openIssues: forks,
            source: "OBSERVED",
          }),
        );
        const found = findAnomalies(readings, pushedAt);
        assert.deepEqual(
          found.map(({ at }) => at),
          found.map(({ at }) => at).sort((a, b) => a - b),
        );
        const part = countedPart(
          found,
          { at: 0, stars: readings[0]?.stars ?? 0 },
          { at: 40 * DAY_MS, stars: readings.at(-1)?.stars ?? 0 },
        );
        assert.ok(part >= 0 && part <= 1);
      },
    ),
  );
});
