import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../src/lib/clock.js";
import {
  compareNames,
  endedBy,
  type NameHistory,
  type NameVerdict,
  onlyCandidates,
} from "../../src/repositories/rename-rule.js";
import { Readings } from "../../src/repositories/snapshots/readings.js";
import { examples, fc } from "../support/properties.js";

type Day = readonly [day: number, stars: number, forks?: number];

/** A name with totals on days. */
function named(days: readonly Day[], more: Partial<NameHistory> = {}): NameHistory {
  const numbers = days.flatMap(([day, stars, forks = -1]) => [day * DAY_MS, stars, forks, -1, -1, 1]);
  const totals = new Readings(Float64Array.from(numbers));
  return { providerId: null, name: "tool", description: null, totals, ...more };
}

/** One reading a day, from a day on. */
const daily = (from: number, ...stars: number[]): Day[] => stars.map((count, i) => [from + i, count]);

const ENDED = named(daily(0, 9_980, 9_990, 10_000));

test("names are one repository if one begins or comes back within three days, with about as many stars", () => {
  const cases: [NameVerdict, Day[]][] = [
    ["SAME", daily(3, 10_050)],
    ["SAME", daily(5, 9_950)],
    // Files may have both names for a day or two.
    ["SAME", daily(1, 10_000, 10_000, 10_010)],
    ["APART", daily(6, 10_000)],
    ["APART", daily(-2, 10_000, 10_000, 10_000, 10_000, 10_000, 10_000)],
    // Back, after a pause in which the other name was there.
    ["SAME", [...daily(-5, 9_900, 9_920), ...daily(3, 10_000)]],
    // It was never away.
    ["APART", daily(-5, ...Array.from({ length: 10 }, () => 10_000))],
    ["APART", daily(-5, 9_990, 9_990, 9_990)],
    ["UNSURE", daily(3, 10_052)],
    ["UNSURE", daily(3, 20_000)],
    ["APART", daily(3, 20_001)],
    // Two usual days of the new name, known from its fourth reading on.
    ["UNSURE", daily(3, 10_090, 10_120, 10_170)],
    ["SAME", daily(3, 10_090, 10_120, 10_170, 10_215)],
  ];
  for (const [expected, days] of cases)
    assert.equal(compareNames(ENDED, named(days)), expected, String(days));
});

test("a name that was there all the while is another repository", () => {
  const long = named(daily(0, ...Array.from({ length: 20 }, () => 10_000)));
  const other = [...daily(0, 10_000, 10_000), ...daily(8, 10_000), ...daily(20, 10_000)];
  assert.equal(compareNames(long, named(other)), "APART");
  assert.equal(compareNames(long, named([...daily(0, 10_000, 10_000), ...daily(20, 10_000)])), "SAME");
});

test("one step of weekly files is near, and no pause", () => {
  const weekly = (first: number, length: number) =>
    Array.from({ length }, (_, i): Day => [first + 7 * i, 10_000]);
  const verdict = (...days: Day[]) => compareNames(named(weekly(0, 5)), named(days));
  assert.deepEqual([verdict(...weekly(35, 5)), verdict([42, 10_000])], ["SAME", "APART"]);
  assert.equal(verdict(...weekly(0, 9)), "APART");
  assert.equal(compareNames(named(weekly(0, 3)), named(weekly(21, 5))), "APART", "no rhythm yet");
});

test("forks may differ by 2 %, if both are known", () => {
  const ended = named([[0, 10_000, 1_000]]);
  const verdicts = [1_020, 1_021, 2_001, undefined].map((forks) =>
    compareNames(ended, named([forks === undefined ? [1, 10_000] : [1, 10_000, forks]])),
  );
  assert.deepEqual(verdicts, ["SAME", "UNSURE", "APART", "SAME"]);
});

test("name or description are the same; an empty description says nothing", () => {
  const compare = (old: Partial<NameHistory>, present: Partial<NameHistory>) =>
    compareNames(named(daily(0, 500), old), named(daily(1, 500), present));
  assert.equal(compare({ name: "Tool" }, { name: "tOOL" }), "SAME");
  assert.equal(
    compare({ name: "a", description: "Does it" }, { name: "b", description: " Does it " }),
    "SAME",
  );
  for (const description of ["", "  ", null])
    assert.equal(compare({ name: "a", description }, { name: "b", description }), "APART");
  assert.equal(compare({ name: "a", description: "One" }, { name: "b", description: "Two" }), "APART");
});

test("two ids of a forge that differ are two repositories", () => {
  const verdicts = [null, "7", "8"].map((providerId) =>
    compareNames({ ...ENDED, providerId: "7" }, named(daily(3, 10_000), { providerId })),
  );
  assert.deepEqual(verdicts, ["SAME", "SAME", "APART"]);
});

test("of two candidates none is taken", () => {
  const pair = (fromId: number, toId: number) => ({ fromId, toId });
  assert.deepEqual(onlyCandidates([pair(1, 2), pair(2, 3)]), [pair(1, 2), pair(2, 3)]);
  assert.deepEqual(onlyCandidates([pair(1, 2), pair(1, 3), pair(4, 5)]), [pair(4, 5)]);
  assert.deepEqual(onlyCandidates([pair(1, 3), pair(2, 3)]), []);
});

/** The rule as a sentence, tried on every pair of readings; without usual days, which fewer than four readings do not have. */
function model(ended: readonly Day[], other: readonly Day[]): NameVerdict {
  const [[first] = [0], last] = [ended[0], ended.at(-1) ?? [0, 0]];
  if ((other.at(-1)?.[0] ?? 0) <= last[0]) return "APART";
  const start = other.find(
    ([day], i) =>
      Math.abs(day - last[0]) <= 3 &&
      day > first &&
      other.slice(0, i).every(([before]) => day - before > 1.5 && before <= first + 3),
  );
  if (start === undefined) return "APART";
  const differ = (a = 0, b = 0) => (a === b ? 0 : Math.abs(a - b) / Math.max(a, b));
  const [stars, forks] = [differ(start[1], last[1]), differ(start[2], last[2])];
  return stars <= 0.005 && forks <= 0.02 ? "SAME" : stars <= 0.5 && forks <= 0.5 ? "UNSURE" : "APART";
}

test("the verdict is that of a plain model, whatever the readings are", () => {
  const day = fc.tuple(
    fc.integer({ min: 0, max: 12 }),
    fc.oneof(fc.integer({ min: 990, max: 1_010 }), fc.integer({ min: 0, max: 3_000 })),
    fc.oneof(fc.integer({ min: 98, max: 102 }), fc.integer({ min: 0, max: 300 })),
  );
  const days = fc
    .uniqueArray(day, { minLength: 1, maxLength: 3, selector: ([at]) => at })
    .map((list): Day[] => list.toSorted(([a], [b]) => a - b));
  const seen = new Set<NameVerdict>();
  fc.assert(
    fc.property(days, days, (ended, other) => {
      const verdict = compareNames(named(ended), named(other));
      seen.add(verdict);
      assert.equal(verdict, model(ended, other));
    }),
    { numRuns: examples(20_000) },
  );
  assert.equal(seen.size, 3);
});

test("of thousands of names with one description, those that ended near are found without comparing all", () => {
  let compared = 0;
  const ended = Array.from({ length: 5_000 }, (_, day) => ({
    day,
    discovered_at: 0,
    get counted_at() {
      compared++;
      return day * DAY_MS;
    },
  }));
  const endedFor = (discovered: number, counted: number) => {
    const other = { discovered_at: discovered * DAY_MS, counted_at: counted * DAY_MS };
    return [...endedBy(ended, other)].map(({ day }) => day);
  };
  for (let day = 10; day < 4_000; day++)
    assert.deepEqual(
      endedFor(day, day + 2),
      Array.from({ length: 12 }, (_, i) => day - 10 + i),
    );
  assert.deepEqual([endedFor(9_000, 9_001), endedFor(-9, 0), endedFor(-9, 2)], [[], [], [0, 1]]);
  assert.ok(compared < 4_000 * 40, `${compared} ends were compared`);
});
