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

test("forks that come alone are a burst of forks; course work is as usual", () => {
  const stars = [...ramp(1_000, 5, 20), 1_100];
  const bought = judged(days(stars, { forks: [...ramp(60, 1, 20), 5_079] }));
  assert.deepEqual(
    bought.anomalies.map(({ kind, measure, counted: part }) => [kind, measure, part]),
    [["BURST", "forks", 5]],
  );
  assert.equal(bought.uncounted[0]?.forks, 4_995);
  assert.deepEqual(kinds(days(ramp(1_000, 1, 21), { forks: ramp(40_000, 90, 21) })), []);
});

test("a step to many times the stars without forks to match is a change of level", () => {
  const shift = days([6_690, 6_700, 6_710, 6_720, 70_255, 70_265], {
    forks: [19_999, 20_000, 20_001, 20_003, 20_010, 20_011],
  });
  assert.deepEqual(kinds(shift), ["LEVEL_SHIFT 4"]);
  assert.equal(counted(shift), 50);
});

test("a sudden gain without forks to match is a burst, of which the supported part counts", () => {
  const stars = [500, 503, 505, 508, 1_400, 1_402];
  const flat = [40, 40, 40, 40, 41, 41];
  assert.deepEqual(kinds(days(stars, { forks: flat })), ["BURST 4"]);
  assert.ok(counted(days(stars, { forks: flat })) < 60);
  assert.deepEqual(kinds(days(stars, { forks: [40, 40, 40, 40, 95, 97] })), [], "forked");
});

test("hours are not judged: a repository that is starred by day and sleeps at night is as usual", () => {
  const hourly = Array.from({ length: 20 * 24 }, (_, hour): Reading => {
    const stars = 1_000 + 40 * Math.floor(hour / 24) + 8 * Math.min(5, hour % 24);
    return { at: hour * HOUR_MS, stars, forks: 100, openIssues: null, watchers: null, source: "OBSERVED" };
  });
  assert.deepEqual(kinds(hourly), []);
});

test("where nothing is known but stars, only a gain that hardly ever is real is a burst", () => {
  assert.deepEqual(kinds(days([500, 503, 505, 508, 1_400, 1_700])), ["BURST 4–5"]);
  assert.deepEqual(kinds(days([500, 503, 505, 508, 708, 858])), []);
  assert.deepEqual(kinds(days([500, 503, 505, 508, 708, 710])), ["BURST 4"], "it ends abruptly");
  assert.deepEqual(kinds(days([500, 1_400, 1_700])), [], "too little is known of its usual day");
});

test("the flag of a campaign stays while it lasts: its own days are not usual ones", () => {
  const stars = [...ramp(960, 5, 8), 2_640, 4_300, 5_900, 7_579, ...ramp(7_584, 5, 6)];
  const forks = [...ramp(60, 0, 8), 67, 74, 80, 87, ...ramp(87, 0, 6)];
  for (let last = 9; last <= stars.length; last++) {
    const seen = days(stars.slice(0, last), { forks });
    const [burst] = judged(seen).anomalies;
    assert.equal(burst?.kind, "BURST", `after day ${last - 1}`);
    assert.equal(burst?.cleared, undefined);
    assert.ok(counted(seen) < 1_000, `${counted(seen)} of ${stars[last - 1]} count after day ${last - 1}`);
  }
});

test("a campaign spread over days, each of them small, is found by its sum", () => {
  const stars = [...ramp(5_000, 4, 10), ...ramp(5_166, 130, 10)];
  const forks = [...ramp(500, 1, 10), ...ramp(510, 1, 10)];
  assert.deepEqual(
    kinds(days(stars, { forks })).map((text) => text.split(" ")[0]),
    ["BURST"],
  );
});

test("a leap that goes on varies less: forks that one day may lack by chance, three days do not", () => {
  const [stars, forks] = [ramp(10_000, 5, 20), ramp(1_000, 0, 20)];
  const after = (length: number) =>
    kinds(days([...stars, ...ramp(10_395, 300, length)], { forks: [...forks, ...ramp(1_003, 3, length)] }));
  assert.deepEqual(after(1), []);
  assert.deepEqual(after(2), []);
  assert.deepEqual(after(3), ["BURST 20–22"]);
});

test("until a burst is cleared, it counts as a usual day, whatever its forks", () => {
  const stars = [...ramp(1_000, 5, 20), 3_095, 3_100, 3_105, 3_110];
  const seen = (...forks: number[]) =>
    days(stars.slice(0, 20 + forks.length), { forks: [...ramp(100, 0, 20), ...forks] });
  assert.deepEqual(kinds(seen(115, 115)), ["BURST 20"]);
  assert.equal(counted(seen(115, 115)), 95 + 10, "15 forks are as many as 150 stars bring");
  const cleared = seen(115, 160, 190, 200);
  assert.equal(judged(cleared).anomalies[0]?.cleared?.by, "BREADTH");
  assert.ok(counted(cleared) > 1_000, `${counted(cleared)} count once forks have followed`);
});

test("an unusual gain that is no burst is pending until forks support it", () => {
  const gain = (...forks: number[]) =>
    judged(
      days([...ramp(1_000, 5, 20), 1_180, 1_185].slice(0, 20 + forks.length), {
        forks: [...ramp(100, 0, 20), ...forks],
      }),
    );
  assert.deepEqual(gain(100).anomalies, []);
  assert.deepEqual(gain(100).pending, [20 * DAY_MS]);
  assert.deepEqual(gain(100, 103).pending, [], "a day later they have come");
  assert.deepEqual(gain(103).pending, []);
  assert.deepEqual(judged(days(ramp(1_000, 10, 20), { forks: ramp(100, 0, 20) })).pending, [], "as usual");
  const unknown = judged(days([...ramp(1_000, 2, 20), 1_138]));
  assert.deepEqual([unknown.anomalies, unknown.pending], [[], [20 * DAY_MS]], "nothing is known but stars");
});

test("a leap is judged as a whole: a day of it with few forks is no burst, but far more stars without forks are", () => {
  const stars = [...ramp(8_500, 3, 20), 8_880, 9_130];
  const forks = [...ramp(690, 0, 20), 707, 719];
  const leap = (gained: number, next: number) =>
    days([...stars, 9_130 + gained, 9_130 + gained + next], { forks: [...forks, 720, 721] });
  assert.deepEqual(kinds(leap(266, 80)), []);
  assert.deepEqual(kinds(leap(266, 2)), [], "nor is one that ends there");
  assert.deepEqual(kinds(leap(4_000, 3_000)), ["BURST 22–23"]);
  const later = [...stars, ...ramp(9_133, 3, 8), 9_154 + 266];
  assert.deepEqual(
    kinds(days(later, { forks: [...forks, ...ramp(719, 0, 8), 720] })),
    ["BURST 30"],
    "what comes more than a week later is another one",
  );
});

test("forks that follow later clear a burst, and so does a month in which the stars stay", () => {
  const stars = [500, 503, 505, 508, 1_400, 1_402, 1_404, 1_406];
  const late = days(stars, { forks: [40, 40, 40, 40, 41, 60, 75, 80] });
  const [burst] = judged(late).anomalies;
  assert.deepEqual(burst?.cleared, { at: 6 * DAY_MS, by: "BREADTH" });
  const part = counted(late);
  assert.ok(part > 500 && part < 700, `${part} count: as many as these forks support`);
  const kept = days([...stars, ...ramp(1_408, 2, 40)], { forks: Array.from({ length: 48 }, () => 40) });
  assert.deepEqual(judged(kept).anomalies[0]?.cleared, { at: 34 * DAY_MS, by: "TIME" });
});

test("stars of a burst that leave one by one are not counted as lost either", () => {
  const stars = [500, 503, 505, 508, 1_400, ...ramp(1_370, -30, 20)];
  assert.ok(Math.abs(counted(days(stars, { forks: stars.map(() => 40) }))) < 20);
});

test("owners cannot excuse a burst by closing their own issues", () => {
  const stars = [500, 503, 505, 508, 1_400, 1_402];
  const forks = [40, 40, 40, 40, 41, 41];
  assert.deepEqual(kinds(days(stars, { forks, issues: [30, 30, 30, 30, 4, 4] })), ["BURST 4"]);
});

test("stars that did not count when they came do not count when they go", () => {
  const stars = [500, 503, 505, 508, 1_400, 1_402, 1_000, 1_002];
  const forks = [40, 40, 40, 40, 40, 40, 40, 40];
  const purged = days(stars, { forks });
  assert.deepEqual(kinds(purged), ["BURST 4", "PURGE 6"]);
  assert.ok(Math.abs(counted(purged) - 14) <= 3, String(counted(purged)));
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

test("any series is judged: anomalies in order, and no more stars in doubt than moved", () => {
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
      const { anomalies, uncounted, doubtful } = judged(readings);
      const times = anomalies.map(({ at }) => at);
      assert.deepEqual(
        times,
        times.toSorted((a, b) => a - b),
      );
      assert.equal(doubtful.length, readings.length);
      for (const { step, stars, forks } of uncounted) {
        assert.ok(Number.isFinite(stars) && Number.isFinite(forks));
        assert.ok(Math.abs(stars) <= Math.abs(step.gained) + 1e-6, `${stars} of ${step.gained}`);
      }
    }),
  );
});

test("a judgement does not change with readings that come later, unless they confirm, revert or clear", () => {
  const stars = [...ramp(960, 5, 8), 2_640, 4_300, 5_900, 7_579];
  const forks = [...ramp(60, 0, 8), 67, 74, 80, 87];
  const early = judged(days(stars.slice(0, 10), { forks }));
  const late = judged(days(stars, { forks }));
  assert.equal(early.anomalies[0]?.at, late.anomalies[0]?.at);
});
