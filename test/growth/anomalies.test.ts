import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reading } from "../../src/growth/anomalies.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { fc } from "../support/properties.js";
import { counted, days, judged, kinds, ramp, series } from "../support/readings.js";

test("steady growth, and growth that forks follow, is no anomaly", () => {
  assert.deepEqual(kinds(days([1_000, 1_010, 1_022, 1_030, 1_041])), []);
  const forks = [100, 101, 102, 260, 400];
  assert.deepEqual(kinds(days([1_000, 1_010, 1_020, 3_020, 4_500], { forks })), []);
});

test("a zero between large readings is a failed reading, and is compared with nothing", () => {
  assert.deepEqual(kinds(days([29_300, 29_310, 0, 29_326, 29_330])), ["FAILED_READING 2"]);
  assert.deepEqual(kinds(days([29_300, 29_310, 120, 29_326])), ["FAILED_READING 2"]);
  assert.deepEqual(judged(days([29_300, 29_310, 0, 29_326])).doubtful, [false, false, true, false]);
  assert.deepEqual(kinds(days([0, 29_326, 29_330])), ["FAILED_READING 0"]);
});

test("a fall by a quarter waits for a second reading, a collapse for a third", () => {
  assert.deepEqual(kinds(days([1_000, 1_010, 700])), ["UNCONFIRMED 2"]);
  assert.deepEqual(kinds(days([1_000, 1_010, 700, 705])), ["PURGE 2"], "confirmed");
  assert.deepEqual(kinds(days([1_000, 1_010, 700, 1_012])), ["FAILED_READING 2"]);
  assert.deepEqual(kinds(days([1_000, 1_010, 0, 0])), ["UNCONFIRMED 2–3"]);
  assert.deepEqual(kinds(days([1_000, 1_010, 0, 0, 0])), ["PURGE 2"]);
  assert.deepEqual(kinds(days([40, 41, 20])), [], "few stars may fall as they like");
  assert.deepEqual(kinds(days([40, 41, 0])), ["UNCONFIRMED 2"], "but not to nothing");
  assert.deepEqual(kinds(days([4, 4, 0])), []);
  assert.deepEqual(kinds(days([1_145, 800, 560, 560])), ["PURGE 1", "PURGE 2"], "it goes on falling");
  assert.deepEqual(kinds(days([0, 0, 5_000])), ["FAILED_READING 0–1"]);
});

test("stars that leap within two days with hardly any forks wait for one more reading", () => {
  const leap = (forks: number | null, ...after: number[]) =>
    days([2_000, 2_010, 3_700, ...after], { forks: [200, 201, forks, ...after.map(() => forks)] });
  assert.deepEqual(kinds(leap(230)), ["UNCONFIRMED 2"]);
  assert.deepEqual(judged(leap(230)).doubtful, [false, false, true]);
  assert.ok(!kinds(leap(null)).includes("UNCONFIRMED 2"), "unknown forks");
  assert.deepEqual(kinds(leap(230, 2_020)), ["FAILED_READING 2"]);
  assert.deepEqual(judged(leap(230, 3_710)).doubtful, [false, false, false, false], "confirmed");
  assert.ok(!kinds(leap(240)).includes("UNCONFIRMED 2"), "two new forks for each hundred stars");
  const small = days([1_000, 1_000, 3_000], { forks: [200, 201, 202] });
  assert.ok(!kinds(small).includes("UNCONFIRMED 2"));
  const slow = leap(230).map((reading, i) => ({ ...reading, at: reading.at * (i === 2 ? 2 : 1) }));
  assert.ok(!kinds(slow).includes("UNCONFIRMED 2"), "more than two days");
});

test("forks and open issues are doubted like stars", () => {
  const stars = [40_000, 40_010, 40_020];
  assert.deepEqual(kinds(days(stars, { forks: [11_030, 11_039, 21] })), ["UNCONFIRMED 2"]);
  const [doubt] = judged(days(stars, { forks: [11_030, 11_039, 21] })).anomalies;
  assert.deepEqual([doubt?.measure, doubt?.before, doubt?.after], ["forks", 11_039, 21]);
  assert.deepEqual(kinds(days(stars, { issues: [900, 905, 0] })), ["UNCONFIRMED 2"]);
  assert.deepEqual(kinds(days(stars, { issues: [900, 905, 600] })), [], "issues are closed in numbers");
  const { points } = series(days(stars, { issues: [900, 905, 0] }));
  assert.deepEqual(
    [points.length, points.count(1, 3), points.count(2, 3)],
    [3, 905, null],
    "the stars still count",
  );
});

test("sources that report different counts do not hide a collapse, nor confirm it, nor make a burst of one another", () => {
  const stars = ramp(40_000, 10, 8);
  const forks = [11_030, null, 11_039, null, 21, null, 22, null];
  const mixed = (last: number): Reading[] =>
    days(stars.slice(0, last)).map((reading, i) => ({ ...reading, forks: forks[i] ?? null }));
  assert.deepEqual(kinds(mixed(5)), ["UNCONFIRMED 4"]);
  assert.deepEqual(kinds(mixed(6)), ["UNCONFIRMED 4–5"]);
  const twice = days(ramp(500, 4, 8)).flatMap((reading): Reading[] => [
    { ...reading, forks: 50 },
    { ...reading, at: reading.at + HOUR_MS },
  ]);
  const jumped = twice.map((reading, i) => ({
    ...reading,
    stars: reading.stars + (i >= 12 ? 400 : 0),
    forks: reading.forks === null ? null : reading.forks + (i >= 12 ? 40 : 0),
  }));
  assert.deepEqual(kinds(twice), []);
  assert.deepEqual(kinds(jumped), [], "forks that another source saw on the same day");
});

test("a loss of hundreds in one step is a purge", () => {
  assert.deepEqual(kinds(days([20_000, 20_100, 19_551, 19_600])), ["PURGE 2"]);
  assert.deepEqual(
    kinds(days([120_000, 120_000, 119_850])),
    [],
    "a few in a thousand of a large repository are not",
  );
  assert.deepEqual(kinds(days([120_000, 120_000, 119_399])), ["PURGE 2"], "more than half a percent");
});

test("a value that returns to the old level days later is one event, of which nothing counts", () => {
  const dropped = days([70_000, 70_010, 55_000, 55_010, 70_050, 70_060]);
  assert.deepEqual(kinds(dropped), ["RETURN 2–4"]);
  assert.equal(counted(dropped), 60, "what it has gained in the end");
  assert.equal(counted(days([1_000, 1_005, 4_000, 4_002, 1_010, 1_012])), 12);
});

test("a fall that is undone in one step is neither a loss nor a gain, however long it lasted", () => {
  for (const low of [0, 11, 3_500])
    for (const length of [3, 9, 11, 25]) {
      const stars = [...ramp(6_980, 1, 20), ...ramp(low, 0, length), 7_043, 7_044];
      const forks = [...ramp(800, 0, 20), ...ramp(Math.floor(low / 10), 0, length), 803, 803];
      const end = 20 + length;
      const title = `${length} days at ${low}`;
      for (const seen of [
        days(stars),
        days(stars, { forks }),
        days(stars, { forks: ramp(800, 0, end + 2) }),
      ]) {
        const { anomalies, doubtful } = judged(seen);
        assert.deepEqual(
          new Set(anomalies.map(({ kind, at, until }) => `${kind} ${at / DAY_MS}–${until / DAY_MS}`)),
          new Set([`RETURN 20–${end}`]),
          title,
        );
        assert.deepEqual(
          doubtful.flatMap((isDoubtful, day) => (isDoubtful ? [day] : [])),
          Array.from({ length }, (_, day) => 20 + day),
          `${title}: compared with nothing`,
        );
        assert.equal(counted(seen), 64, title);
      }
      assert.deepEqual(
        kinds(days(stars.slice(0, end))),
        ["PURGE 20"],
        `${title}: it counts until it is undone`,
      );
    }
});

test("what a smaller fall had taken is no gain when it comes back, in one step or a few", () => {
  const fallen = [...ramp(6_990, 1, 20), ...ramp(5_600, 0, 14)];
  for (const back of [[7_043], [6_100, 6_600, 7_043]]) {
    const stars = [...fallen, ...back, 7_044];
    const forks = [
      ...ramp(800, 0, 20),
      ...ramp(640, 0, 14),
      ...back.map((count) => Math.floor(count / 8.7)),
      810,
    ];
    const seen = days(stars, { forks });
    const found = judged(seen);
    assert.deepEqual(
      found.anomalies.map(({ kind, measure, at, until }) => [kind, measure, at / DAY_MS, until / DAY_MS]),
      [
        ["RETURN", "stars", 20, 33 + back.length],
        ["RETURN", "forks", 20, 33 + back.length],
      ],
    );
    assert.equal(counted(seen), 54);
    assert.deepEqual(
      found.doubtful.flatMap((isDoubtful, day) => (isDoubtful ? [day] : [])),
      Array.from({ length: 13 + back.length }, (_, i) => 20 + i),
    );
  }
});

test("two falls that one step undoes, with growth between them, are no gain either", () => {
  const stars = [...ramp(6_990, 1, 20), ...ramp(6_000, 100, 6), ...ramp(5_300, 0, 14), 7_043];
  assert.equal(counted(days(stars)), 7_043 - 6_990, "all up to the level before the first");
});

test("what a repository gains by usual days after a loss counts, even if it was there before", () => {
  const regained = days([...ramp(6_990, 1, 20), ...ramp(5_000, 60, 40)]);
  assert.deepEqual(kinds(regained), ["PURGE 20"]);
  assert.equal(counted(regained), 7_340 - 6_990);
  const fewer = days([...ramp(6_990, 1, 20), ...ramp(6_000, 40, 40)]);
  assert.deepEqual(kinds(fewer), ["PURGE 20"]);
  const other = days([...ramp(46_000, 10, 20), ...ramp(900, 20, 10), 1_500, 1_520], {
    forks: [...ramp(5_000, 1, 20), ...ramp(90, 2, 10), 170, 172],
  });
  assert.deepEqual(kinds(other), ["PURGE 20"], "far from that level a leap is a leap");
  assert.deepEqual(judged(other).doubtful.includes(true), false);
});

test("issues that are switched on again after weeks were not opened", () => {
  const issues = [...ramp(900, 1, 5), ...ramp(0, 0, 20), 915];
  const { points } = series(days(ramp(1_000, 1, 26), { issues }));
  const known = Array.from({ length: points.length }, (_, i) => points.count(i, 3)).filter(
    (count) => count !== null,
  );
  assert.deepEqual([points.length, known.length], [26, 6]);
});

test("what goes beyond a return is judged by itself: a leap that follows a small fall counts", () => {
  const stars = [...ramp(1_000, 5, 20), 995, 2_995, 3_000];
  const forks = [...ramp(60, 1, 20), 79, 380, 400];
  const leap = days(stars, { forks });
  assert.deepEqual(kinds(leap), ["RETURN 20–21"]);
  assert.equal(counted(leap), 2_000);
});

test("an anomaly gives figures and accuses nobody", () => {
  const [anomaly] = judged(days([20_000, 20_100, 19_551])).anomalies;
  assert.deepEqual(anomaly, {
    kind: "PURGE",
    measure: "stars",
    at: 2 * DAY_MS,
    until: 2 * DAY_MS,
    reason: "549 of 20,100 stars fewer in one step",
    before: 20_100,
    after: 19_551,
  });
});

test("any series is cleaned, with anomalies in order", () => {
  const known = (most: number) => fc.option(fc.integer({ min: 0, max: most }), { nil: null });
  const random = fc.array(fc.tuple(fc.integer({ min: 0, max: 300_000 }), known(9_999), known(9_999)), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(random, (values) => {
      const readings = values.map(
        ([stars, forks, watchers], day): Reading => ({
          at: day * DAY_MS,
          stars,
          forks,
          openIssues: forks,
          watchers,
          source: "OBSERVED",
        }),
      );
      const { anomalies, doubtful } = judged(readings);
      const times = anomalies.map(({ at }) => at);
      assert.deepEqual(
        times,
        times.toSorted((a, b) => a - b),
      );
      assert.equal(doubtful.length, readings.length);
    }),
  );
});
