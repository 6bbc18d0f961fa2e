import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reading } from "../../src/growth/anomalies.js";
import { type Bursts, burstsBetween } from "../../src/growth/bursts.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { days, ramp, series } from "../support/readings.js";

/** The bursts of the last days of a repository with these readings. */
function bursts(readings: readonly Reading[], length = 7): Bursts {
  const own = series(readings);
  const to = own.points.at(own.points.length - 1);
  return burstsBetween(own, { from: Math.max(own.points.at(0), to - length * DAY_MS), to, since: 0 });
}

/** The days on which they end, counted from the first reading. */
const endsOf = ({ anomalies }: Bursts) => anomalies.map(({ until }) => until / DAY_MS);

test("a day of a hundred stars, five times the usual day and no fork for each hundred counts as a usual day", () => {
  const forks = [...ramp(100, 1, 20), 120];
  const day = (gained: number) => bursts(days([...ramp(1_000, 5, 20), 1_095 + gained], { forks }));
  assert.deepEqual(endsOf(day(101)), [20]);
  assert.equal(day(101).excess, 96);
  assert.deepEqual(endsOf(day(99)), [], "few stars");
  assert.deepEqual(endsOf(day(100)), [], "a fork for each hundred");
  const usual = days([...ramp(1_000, 30, 20), 1_570 + 149], { forks: ramp(100, 0, 21) });
  assert.deepEqual(endsOf(bursts(usual)), [], "less than five times the usual day");
});

test("a burst says what was seen and accuses nobody", () => {
  const [burst] = bursts(
    days([...ramp(9_000, 5, 20), 11_892], { forks: [...ramp(84, 0, 20), 95] }),
  ).anomalies;
  assert.deepEqual(burst, {
    kind: "BURST",
    measure: "stars",
    at: 20 * DAY_MS,
    until: 20 * DAY_MS,
    reason: "2,797 stars in a day against about 5, with 11 forks; 5 of them count",
    before: 9_095,
    after: 11_892,
    counted: 5,
  });
});

test("who buys from birth is flagged like anybody else", () => {
  const seen = days([995, 995, 995, 995, 3_551, 6_348], { forks: [4, 4, 4, 4, 14, 25] });
  assert.deepEqual(endsOf(bursts(seen)), [4, 5]);
});

test("a launch that people fork counts in full, however long it has been tracked", () => {
  const forks = (tracked: number) => [
    ...Array.from({ length: 20 - tracked }, () => null),
    ...ramp(1_000, 1, tracked),
    1_150,
  ];
  for (const tracked of [0, 1, 3, 20])
    assert.deepEqual(
      endsOf(bursts(days([...ramp(9_000, 10, 20), 10_690], { forks: forks(tracked) }))),
      [],
      `${tracked} days`,
    );
});

test("where nobody counted forks at the beginning of a day, even all of them must be too few", () => {
  const seen = (last: number | null, ...gains: number[]) => {
    const stars = ramp(1_000, 5, 20);
    for (const gained of gains) stars.push((stars.at(-1) ?? 0) + gained);
    return days(stars, { forks: stars.map((_, i) => (i + 1 === stars.length ? last : null)) });
  };
  assert.deepEqual(endsOf(bursts(seen(9, 1_000))), [20]);
  assert.deepEqual(endsOf(bursts(seen(10, 1_000))), []);
  assert.deepEqual(endsOf(bursts(seen(10, 1_000, 600))), [20, 21], "for all such days together");
  assert.deepEqual(endsOf(bursts(seen(null, 1_000))), [], "no source counts forks");
});

test("days are those of 24 hours, whether readings are hours or days apart", () => {
  const hourly = Array.from({ length: 20 * 24 }, (_, hour): Reading => {
    const bought = 12 * Math.max(0, Math.min(24, hour - 440));
    return {
      at: hour * HOUR_MS,
      stars: 1_000 + bought,
      forks: 100,
      openIssues: null,
      watchers: null,
      source: "OBSERVED",
    };
  });
  assert.deepEqual(bursts(hourly).excess, 288, "twelve an hour");
  const rare = days([...ramp(1_000, 1, 16), 2_800], { forks: ramp(100, 0, 17) }).map((one, i) => ({
    ...one,
    at: one.at + (i === 16 ? 2 * DAY_MS : 0),
  }));
  assert.deepEqual(endsOf(bursts(rare)), [16, 17, 18], "evenly between two readings");
});

test("nothing clears a burst while its day is in the window: neither forks that follow nor stars that stay", () => {
  const stars = [...ramp(9_000, 5, 20), 11_095, ...ramp(11_100, 5, 20)];
  const forks = [...ramp(100, 1, 20), 120, ...ramp(400, 1, 20)];
  for (let last = 21; last <= 41; last++)
    assert.deepEqual(
      endsOf(bursts(days(stars.slice(0, last), { forks }), 30)),
      [20],
      `after day ${last - 1}`,
    );
});
