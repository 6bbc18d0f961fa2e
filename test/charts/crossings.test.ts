import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type ChartPoint,
  countAt,
  crossingsOf,
  paceOf,
  standingsOf,
  storyOf,
} from "../../src/charts/charts.js";
import { LASTS_MS } from "../../src/charts/crossings.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { examples, fc } from "../support/properties.js";

const DAY = Date.UTC(2026, 0, 1);
const line = (...values: number[]): ChartPoint[] =>
  values.map((value, i) => ({ at: DAY + i * DAY_MS, value, source: "OBSERVED" }));
const story = (lines: Record<string, ChartPoint[]>) =>
  storyOf(
    Object.entries(lines).map(([name, points]) => ({ name, points, perDay: paceOf(points) })),
    "stars",
  );

test("a line passes another one between two counts, and only if it stays above for three days or to the end", () => {
  const steady = line(10, 10, 10, 10, 10, 10, 10, 10);
  assert.deepEqual(crossingsOf([line(8, 9, 11, 12, 13, 14, 15, 16), steady]), [
    { at: DAY + 1.5 * DAY_MS, value: 10, passer: 0, passed: 1, place: 1 },
  ]);
  assert.deepEqual(crossingsOf([line(8, 9, 11, 12, 9, 8, 8, 8), steady]), [], "above for two days");
  assert.deepEqual(
    crossingsOf([line(8, 9, 9, 9, 9, 9, 9, 11), steady]).map(({ passer }) => passer),
    [0],
    "the last one has passed",
  );
  assert.deepEqual(crossingsOf([line(8, 10, 10, 8), line(10, 10, 10, 10)]), [], "level is not above");
});

/** Lines that meet often, with counts at times of their own. */
const lines = fc.array(
  fc
    .array(fc.record({ hours: fc.integer({ min: 1, max: 72 }), value: fc.nat(6) }), { maxLength: 40 })
    .map((steps) => {
      let at = DAY;
      return steps.map(({ hours, value }): ChartPoint => {
        at += hours * 3_600_000;
        return { at, value, source: "OBSERVED" };
      });
    }),
  { minLength: 2, maxLength: 4 },
);

test("two lines pass each other in turn, each for three days at least; the last to pass is above at the end", () => {
  fc.assert(
    fc.property(lines, (all) => {
      const crossings = crossingsOf(all);
      for (const pair of Map.groupBy(crossings, ({ passer, passed }) =>
        [passer, passed].sort().join(),
      ).values())
        for (const [i, { at, value, passer, passed, place }] of pair.entries()) {
          const [own, other] = [all[passer] ?? [], all[passed] ?? []];
          const next = pair[i + 1];
          assert.ok(Math.abs((countAt(own, at) ?? -1) - value) < 1e-6 && place >= 1 && place < all.length);
          assert.ok(next === undefined || (next.passer === passed && next.at - at >= LASTS_MS));
          const end = Math.min(own.at(-1)?.at ?? 0, other.at(-1)?.at ?? 0);
          assert.ok(next !== undefined || (countAt(own, end) ?? 0) >= (countAt(other, end) ?? 0));
        }
      const mirrored = crossingsOf(all.toReversed()).map((one) => ({
        ...one,
        passer: all.length - 1 - one.passer,
        passed: all.length - 1 - one.passed,
      }));
      const key = (some: typeof crossings) =>
        some.map(({ at, passer, passed }) => `${Math.round(at)} ${passer} ${passed}`).sort();
      assert.deepEqual(key(mirrored), key(crossings), "whatever the order of the lines");
    }),
    { numRuns: examples(500) },
  );
});

test("a story names who passed whom and when, else who leads, and who is next", () => {
  const days = (count: number, value: (day: number) => number) =>
    line(...Array.from({ length: count }, (_, i) => value(i)));
  const flat = days(120, () => 1_000);
  const rising = days(120, (day) => 20 * day);
  assert.deepEqual(story({ flat, rising, low: days(120, () => 100) })?.clauses, [
    "rising passed both between January and February",
  ]);
  const passed = story({ flat, rising: days(120, (day) => 9 * day) });
  assert.deepEqual([passed?.clauses, passed?.next], [["rising passed flat on 22 April"], undefined]);
  assert.deepEqual(
    passed?.crossings.map(({ passer, place }) => [passer, place]),
    [[1, 1]],
    "the ring of the sentence",
  );
  const weekly = (points: ChartPoint[]) => points.filter((_, i) => i % 7 === 0);
  assert.deepEqual(
    story({ flat: weekly(flat), rising: weekly(days(120, (day) => 9 * day)) })?.clauses,
    ["rising passed flat in April"],
    "no day that is not known",
  );
  const late = days(120, (day) => Math.max(18 * day, 30 * day - 1_000));
  assert.deepEqual(story({ rising, late, flat })?.clauses, [
    "late passed both between February and April",
    "rising passed flat on 20 February",
  ]);
  assert.deepEqual(story({ flat, slow: days(120, (day) => 5 * day) }), {
    clauses: ["flat leads by 405", "slow gains 5 a day"],
    crossings: [],
    next: "slow is 405 behind flat, gains 5 a day, and would pass it in July.",
  });
  assert.deepEqual(story({ only: flat })?.clauses, ["only has 1,000 stars"]);
  assert.equal(story({ none: [] }), undefined);
  const [high, low] = standingsOf([
    { name: "high", points: flat, perDay: 0 },
    { name: "low", points: days(120, () => 10), perDay: 1 },
  ]);
  assert.deepEqual([high?.above, low?.above, low?.next], [undefined, 0, undefined], "not within two years");
});
