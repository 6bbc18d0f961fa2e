import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reading } from "../../src/growth/anomalies.js";
import { readingsOf } from "../../src/growth/cleaning.js";
import { holesOf, type Series, STARS, seriesOf, valueAt } from "../../src/growth/series.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { examples, fc } from "../support/properties.js";

type Source = Reading["source"];

const reading = (day: number, stars: number, source: Source = "OBSERVED"): Reading => ({
  at: Math.round(day * DAY_MS),
  stars,
  forks: null,
  openIssues: null,
  watchers: null,
  source,
});

/** What a forge reports: stars still held at the end of each day, of gains a day from the day `from` on. */
const reported = (from: number, gains: readonly number[], before = 0): Reading[] => {
  let held = before;
  return gains.map((gained, i) => {
    held += gained;
    return reading(from + i + 1, held, "BACKFILLED");
  });
};

interface More {
  createdDay?: number | null;
  isWhole?: boolean;
}

/** Of two at one time, the total is the one that was stored first. */
function seriesFrom(all: readonly Reading[], { createdDay = null, isWhole = true }: More = {}): Series {
  const isTotal = ({ source }: Reading) => source !== "BACKFILLED";
  const stored = [...all.filter((one) => !isTotal(one)), ...all.filter(isTotal)];
  const times = new Map(stored.map((one) => [one.at, one]));
  const readings = readingsOf([...times.values()].sort((a, b) => a.at - b.at));
  const createdAt = createdDay === null ? null : createdDay * DAY_MS;
  return seriesOf({ readings, createdAt, isHistoryWhole: isWhole });
}

/** Day and stars of each point. */
const pointsOf = ({ points }: Series): [number, number][] =>
  Array.from({ length: points.length }, (_, i) => [points.at(i) / DAY_MS, points.stars(i)]);

const isHistory = ({ points }: Series): boolean[] =>
  Array.from({ length: points.length }, (_, i) => points.isRetained(i));

/** What is gained on each day from the first point to the last. */
function dailyGains(series: Series): number[] {
  const { points } = series;
  const times: number[] = [];
  const end = points.at(points.length - 1);
  for (let at = points.at(0); at < end; at = Math.min(end, Math.floor(at / DAY_MS) * DAY_MS + DAY_MS))
    times.push(at);
  return [...times, end]
    .slice(1)
    .map((at, i) => (valueAt(series, at, STARS) ?? 0) - (valueAt(series, times[i] ?? 0, STARS) ?? 0));
}

test("without a history the series is the totals, and a known creation a count of 0", () => {
  const totals = [10, 11, 12].map((day) => reading(day, 100 + day));
  assert.deepEqual(pointsOf(seriesFrom(totals)), [
    [10, 110],
    [11, 111],
    [12, 112],
  ]);
  const young = seriesFrom(totals, { createdDay: 9 });
  assert.deepEqual(pointsOf(young)[0], [9, 0]);
  assert.deepEqual([young.isFromCreation, young.points.count(0, 2), young.unseen], [true, 0, null]);
  assert.equal(valueAt(young, 0, STARS), 0, "before it was created");
  const old = seriesFrom(totals, { createdDay: 1 });
  assert.deepEqual(old.unseen, { from: DAY_MS, to: 10 * DAY_MS });
  assert.equal(seriesFrom(totals, { createdDay: 10.5 }).isFromCreation, false, "readings from before it");
});

test("a history comes before the first total, and is fitted to it", () => {
  const history = reported(0, [10, 20, 30, 40]);
  const series = seriesFrom([...history, reading(3.5, 80), reading(4.5, 120)], { createdDay: 0 });
  assert.deepEqual(pointsOf(series), [
    [0, 0],
    [1, 10],
    [2, 30],
    [3, 60],
    [3.5, 80],
    [4.5, 120],
  ]);
  assert.deepEqual(series.fit, { sum: 80, total: 80, undated: 0 });
  assert.deepEqual([series.firstTotal, isHistory(series).lastIndexOf(true)], [4, 3]);
});

test("a history that sums to up to 2 % less than the total, or to more, is scaled to begin at 0", () => {
  const history = reported(0, [1_000, 1_000, 0]);
  for (const total of [1_500, 1_999, 2_040])
    assert.deepEqual(pointsOf(seriesFrom([...history, reading(2.5, total)], { createdDay: 0 })), [
      [0, 0],
      [1, total / 2],
      [2, total],
      [2.5, total],
    ]);
});

test("one that sums to less begins with stars of unknown days, which are gained on no day", () => {
  const series = seriesFrom([...reported(0, [1_000, 1_000, 0]), reading(2.5, 2_500)], { createdDay: 0 });
  assert.deepEqual(pointsOf(series), [
    [0, 500],
    [1, 1_500],
    [2, 2_500],
    [2.5, 2_500],
  ]);
  assert.deepEqual(series.fit, { sum: 2_000, total: 2_500, undated: 500 });
  // As they are stored: from the creation to a millisecond before the first total.
  const ends = [
    reading(0, 500, "BACKFILLED"),
    { ...reading(2.5, 2_500, "BACKFILLED"), at: 2.5 * DAY_MS - 1 },
  ];
  const told = seriesFrom([...ends, ...reported(0, [1_000, 1_000], 500), reading(2.5, 2_500)], {
    createdDay: 0,
  });
  assert.deepEqual([pointsOf(told), told.fit], [pointsOf(series), series.fit]);
});

test("a history that an earlier version stored without the stars above the total has no negative day", () => {
  const held = [0, 0, 0, 40, 140, 240].map((stars, i) => reading(i + 1, stars, "BACKFILLED"));
  const series = seriesFrom([...held, reading(6.5, 240), reading(7.5, 250)], { createdDay: 0 });
  assert.deepEqual(pointsOf(series), [
    [0, 0],
    ...[0, 0, 0, 40, 140, 240].map((stars, i) => [i + 1, stars]),
    [6.5, 240],
    [7.5, 250],
  ]);
  assert.deepEqual(series.fit, { sum: 240, total: 240, undated: 0 });
});

test("two histories that alternate gain no more than either", () => {
  const [own, imported] = [
    reported(0, [100, 100, 100, 100]),
    [1.5, 2.5, 3.5].map((day) => reading(day, 80 * day, "BACKFILLED")),
  ];
  const series = seriesFrom([...own, ...imported, reading(4.5, 400)], { createdDay: 0 });
  assert.deepEqual(
    pointsOf(series).map(([, stars]) => stars),
    [0, 100, 120, 200, 200, 300, 300, 400, 400],
  );
});

test("a history that is not whole is anchored and never scaled, and does not begin with the creation", () => {
  const part = reported(10, [1_000, 1_000, 0], 1_000);
  for (const total of [3_000, 2_990, 3_500, 500]) {
    const series = seriesFrom([...part, reading(12.5, total)], { createdDay: 0, isWhole: false });
    assert.deepEqual(pointsOf(series), [
      [11, Math.max(0, total - 1_000)],
      [12, total],
      [12.5, total],
    ]);
    assert.equal(series.isFromCreation, false);
  }
});

test("a hole between the history and the first total is one, and its gain is the difference of both", () => {
  const series = seriesFrom([...reported(0, [10, 20]), reading(5, 90), reading(6, 100)], { createdDay: 0 });
  assert.deepEqual(pointsOf(series), [
    [0, 0],
    [1, 10],
    [2, 30],
    [5, 90],
    [6, 100],
  ]);
  assert.deepEqual([series.unseen, holesOf(series)], [{ from: 2 * DAY_MS, to: 5 * DAY_MS }, [series.unseen]]);
  assert.equal(seriesFrom([...reported(0, [10, 20]), reading(2.5, 90)], { createdDay: 0 }).unseen, null);
});

test("a history read later fills the time between totals further apart than a day and a half, in its shape", () => {
  const history = reported(0, [100, 100, 10, 20, 70, 100, 0]);
  const totals = [reading(1.5, 150), reading(2.5, 205), reading(5.5, 355)];
  const series = seriesFrom([...history, ...totals], { createdDay: 0 });
  // 145 of the history are 150 of the totals.
  const shape = [0, 5, 25, 95, 145].map((given) => 205 + (given * 150) / 145);
  assert.deepEqual(
    pointsOf(series).map(([day, stars]) => [day, Math.round(1e6 * stars)]),
    [
      [0, 0],
      [1, 100],
      [1.5, 150],
      [2.5, shape[0] ?? 0],
      [3, shape[1] ?? 0],
      [4, shape[2] ?? 0],
      [5, shape[3] ?? 0],
      [5.5, 355],
    ].map(([day = 0, stars = 0]) => [day, Math.round(1e6 * stars)]),
  );
  assert.deepEqual(holesOf(series), []);
  const fewer = [reading(1.5, 150), reading(2.5, 205), reading(5.6, 190)];
  const lost = seriesFrom([...history, ...fewer], { createdDay: 0 });
  assert.equal(pointsOf(lost).length, 5, "the days cannot say when it was lost");
  assert.deepEqual(holesOf(lost), [{ from: 2.5 * DAY_MS, to: Math.round(5.6 * DAY_MS) }]);
});

test("a return is bridged however long it took, and a purge stays", () => {
  const level = (days: readonly number[], stars: number) => days.map((day) => reading(day, stars));
  const days = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
  const returned = [...level(days(0, 10), 7_000), ...level(days(10, 50), 5_600), ...level([50, 51], 7_040)];
  assert.deepEqual(pointsOf(seriesFrom(returned)).slice(9), [
    [9, 7_000],
    [50, 7_040],
    [51, 7_040],
  ]);
  const purged = [...level(days(0, 10), 7_000), ...level(days(10, 50), 5_600)];
  assert.equal(pointsOf(seriesFrom(purged)).length, 50);
});

/** What is stored of a repository of random age: a history that is whole or not, close to its totals or not, and totals. */
const stored = fc
  .record({
    gains: fc.array(fc.nat(200), { minLength: 1, maxLength: 60 }),
    /** The history says this much for each star. */
    factor: fc.constantFrom(1, 1, 0.7, 0.95, 0.99, 1.01, 1.3),
    isWeekly: fc.boolean(),
    /** Days of its beginning that were not read. */
    unread: fc.constantFrom(0, 0, 10, 30),
    /** Days between its end and the last total. */
    late: fc.constantFrom(-6, -2, 0, 0, 1, 6),
    knowsCreation: fc.boolean(),
    /** Days from the creation to each total. */
    totals: fc.array(
      fc.record({
        days: fc.constantFrom(0.3, 1, 1, 1, 1.2, 2, 6),
        moved: fc.integer({ min: -150, max: 300 }),
      }),
      {
        maxLength: 20,
      },
    ),
    tracked: fc.nat(40),
  })
  .map(({ gains, factor, isWeekly, unread, late, knowsCreation, totals, tracked }) => {
    const sum = gains.reduce((all, gained) => all + gained, 0);
    // Never at midnight, when a total takes the place of a count of the history.
    const began = Math.max(0.5, gains.length - tracked / 2) + 0.01;
    let [day, stars] = [began, sum];
    const own = totals.map(({ days, moved }) => {
      day += days;
      stars = Math.max(0, stars + moved);
      return reading(day, stars);
    });
    const days = reported(
      0,
      gains.map((gained) => Math.round(gained * factor)),
    )
      .slice(unread)
      .filter(({ at }) => at <= (began - late) * DAY_MS || late < 0)
      .filter(({ at }) => !isWeekly || (at / DAY_MS) % 7 === 0);
    return {
      all: [reading(began, sum), ...own, ...days],
      more: { createdDay: knowsCreation ? 0 : null, isWhole: unread === 0 },
    };
  });

const numRuns = examples(5_000);

test("any series is in order of time, without counts below 0, and loses nothing while the history speaks", () => {
  fc.assert(
    fc.property(stored, ({ all, more }) => {
      const series = seriesFrom(all, more);
      const { points, firstTotal } = series;
      for (let i = 0; i < points.length; i++) {
        assert.ok(i === 0 || points.at(i) > points.at(i - 1), "order of time");
        assert.ok(points.stars(i) >= 0, "no count below 0");
        if (i > 0 && i <= firstTotal)
          assert.ok(points.stars(i) >= points.stars(i - 1) - 1e-6, "no negative day");
        assert.equal(
          points.isRetained(i) && i < firstTotal,
          i < firstTotal && (i > 0 || !series.isFromCreation || points.isRetained(0)),
        );
      }
    }),
    { numRuns },
  );
});

test("the gains of all days add up to the difference of both ends", () => {
  fc.assert(
    fc.property(stored, ({ all, more }) => {
      const series = seriesFrom(all, more);
      const { points } = series;
      const sum = dailyGains(series).reduce((total, gained) => total + gained, 0);
      assert.ok(Math.abs(sum - (points.stars(points.length - 1) - points.stars(0))) < 1e-6);
    }),
    { numRuns },
  );
});

test("the order in which readings are stored makes no difference", () => {
  fc.assert(
    fc.property(stored, fc.infiniteStream(fc.nat()), ({ all, more }, drawn) => {
      const shuffled = all
        .map((one) => ({ one, key: drawn.next().value }))
        .sort((a, b) => a.key - b.key)
        .map(({ one }) => one);
      const distinct = new Set(all.map(({ at }) => at)).size === all.length;
      if (distinct) assert.deepEqual(seriesFrom(shuffled, more), seriesFrom(all, more));
    }),
    { numRuns },
  );
});

test("no gain is one that no source shows", () => {
  fc.assert(
    fc.property(stored, ({ all, more }) => {
      const { points, firstTotal, unseen } = seriesFrom(all, more);
      const history = all.filter(({ source }) => source === "BACKFILLED").sort((a, b) => a.at - b.at);
      const heldAt = (at: number) => history.findLast((one) => one.at <= at)?.stars ?? 0;
      const totals = all.filter(({ source }) => source !== "BACKFILLED");
      for (let i = 1; i < firstTotal; i++) {
        if (points.at(i - 1) === 0) continue;
        const gained = points.stars(i) - points.stars(i - 1);
        const shown = heldAt(points.at(i)) - heldAt(points.at(i - 1));
        assert.ok(gained <= shown * 1.02 + 1e-6, `${gained} on a day of ${shown}`);
      }
      for (let i = firstTotal; i < points.length; i++) {
        if (points.isRetained(i)) continue;
        assert.ok(
          totals.some(({ at, stars }) => at === points.at(i) && stars === points.stars(i)),
          "totals are themselves",
        );
      }
      if (unseen !== null) assert.ok(unseen.to - unseen.from > DAY_MS);
    }),
    { numRuns },
  );
});

/** Totals that each rise by less than a doubt takes, after the history. */
const calm = stored.map(({ all, more }) => {
  const [first, ...rest] = all.filter(({ source }) => source !== "BACKFILLED").sort((a, b) => a.at - b.at);
  let stars = first?.stars ?? 0;
  const totals = rest.map((one, i) => {
    stars += (i * 13) % 29;
    return { ...one, stars };
  });
  return {
    history: all.filter(({ source }) => source === "BACKFILLED"),
    totals: first === undefined ? [] : [first, ...totals],
    more,
  };
});

test("a later reading changes nothing before the one before it", () => {
  fc.assert(
    fc.property(calm, ({ history, totals, more }) => {
      const whole = pointsOf(seriesFrom([...history, ...totals], more));
      for (let count = 1; count < totals.length; count++) {
        const some = pointsOf(seriesFrom([...history, ...totals.slice(0, count)], more));
        assert.deepEqual(some, whole.slice(0, some.length));
      }
    }),
    { numRuns: examples(1_000) },
  );
});

test("except that a doubted reading appears which it confirms", () => {
  const fallen = [0, 1, 2].map((day) => reading(day, 1_000)).concat(reading(3, 600));
  assert.deepEqual(
    pointsOf(seriesFrom(fallen)).map(([day]) => day),
    [0, 1, 2],
  );
  assert.deepEqual(
    pointsOf(seriesFrom([...fallen, reading(4, 601)])).map(([day]) => day),
    [0, 1, 2, 3, 4],
  );
});

test("except that readings disappear which it refutes", () => {
  const high = [0, 1, 2].map((day) => reading(day, 1_000)).concat([3, 4].map((day) => reading(day, 1_200)));
  assert.deepEqual(
    pointsOf(seriesFrom(high)).map(([day]) => day),
    [0, 1, 2, 3, 4],
  );
  assert.deepEqual(
    pointsOf(seriesFrom([...high, reading(5, 1_001)])).map(([day]) => day),
    [0, 1, 2, 5],
  );
});

test("except that a first total which it refutes fits the history anew", () => {
  const history = reported(0, [400, 400, 0]);
  const begun = [...history, reading(2.5, 0)];
  assert.deepEqual(
    pointsOf(seriesFrom(begun, { createdDay: 0 })).map(([, stars]) => stars),
    [0, 0, 0, 0],
  );
  assert.deepEqual(
    pointsOf(seriesFrom([...begun, reading(2.75, 800)], { createdDay: 0 })).map(([, stars]) => stars),
    [0, 400, 800, 800],
  );
});

test("hourly readings are judged by days", () => {
  const hours = Array.from({ length: 96 }, (_, hour) => reading(hour / 24, 5_000 + hour));
  const dip = hours.map((one, hour) => (hour >= 40 && hour < 60 ? { ...one, stars: one.stars - 600 } : one));
  const kept = pointsOf(seriesFrom(dip)).map(([day]) => Math.round(day * 24));
  assert.deepEqual(
    kept,
    Array.from({ length: 96 }, (_, hour) => hour).filter((hour) => hour < 40 || hour >= 60),
  );
  assert.ok(dip.every(({ at }) => at % HOUR_MS === 0));
});
