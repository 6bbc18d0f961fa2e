import assert from "node:assert/strict";
import { test } from "node:test";
import { ageAxis, dateAxis, linearAxis, logAxis } from "../../src/charts/axes.js";
import { BADGE_COLOURS } from "../../src/charts/badge.js";
import { spread } from "../../src/charts/lines.js";
import { estimateWidth, fit, fitFullName, wrap } from "../../src/charts/markup.js";
import { ageUnitOf, axisNumbers, datesText, shortNumber, signedNumber } from "../../src/charts/numbers.js";
import { PALETTES } from "../../src/charts/themes.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { contrast } from "../support/colours.js";
import { examples, fc } from "../support/properties.js";

test("lines contrast with their background by 3 to 1, texts by 4.5 to 1", () => {
  for (const { background, lines, text, muted } of Object.values(PALETTES)) {
    assert.equal(new Set(lines).size, 6);
    for (const line of lines) assert.ok(contrast(line, background) >= 3, `${line} on ${background}`);
    for (const one of [text, muted]) assert.ok(contrast(one, background) >= 4.5, `${one} on ${background}`);
  }
  for (const { label, onLabel, ink, tones } of Object.values(BADGE_COLOURS)) {
    assert.ok(contrast(onLabel, label) >= 4.5);
    for (const [tone, colour] of Object.entries(tones)) assert.ok(contrast(ink, colour) >= 4.5, tone);
  }
});

test("numbers are short where room is scarce, and never told rounder than the axis is", () => {
  const numbers = [0, 7, 999, 1_000, 1_049, 12_345, 999_949, 999_950, 1_234_567, 2.5e9, 9e15];
  const short = ["0", "7", "999", "1K", "1K", "12.3K", "999.9K", "1M", "1.2M", "2.5B", "9000T"];
  assert.deepEqual(numbers.map(shortNumber), short);
  assert.deepEqual(axisNumbers([0, 500, 1_000]), ["0", "500", "1K"]);
  assert.deepEqual(axisNumbers([1_000, 1_500]), ["1K", "1.5K"]);
  assert.deepEqual(axisNumbers([228_400, 228_450]), ["228,400", "228,450"]);
  assert.deepEqual([5, 0, -1_234].map(signedNumber), ["+5", "±0", "−1,234"]);
  const day = Date.UTC(2026, 3, 30);
  assert.equal(datesText(day, day + HOUR_MS), "30 Apr 2026");
  assert.equal(datesText(day - 40 * DAY_MS, day), "21 Mar – 30 Apr 2026");
  assert.equal(datesText(day - 200 * DAY_MS, day), "12 Oct 2025 – 30 Apr 2026");
});

test("an axis of counts has few, round, whole ticks, and every count lies on it", () => {
  const counts = fc.oneof(fc.nat(20), fc.nat(100_000), fc.nat(1_000_000_000_000));
  fc.assert(
    fc.property(counts, counts, fc.integer({ min: 2, max: 7 }), fc.boolean(), (a, b, count, isLog) => {
      const [min, max] = [Math.min(a, b), Math.max(a, b)];
      const { scale, ticks } = (isLog ? logAxis : linearAxis)(min, max, count);
      assert.ok(ticks.length >= 1 && ticks.length <= count + 3, `${ticks.length} ticks for ${count}`);
      assert.equal(new Set(ticks.map(({ label }) => label)).size, ticks.length, "labels differ");
      for (const value of [...ticks.map((tick) => tick.value), min, max]) {
        assert.ok(Number.isInteger(value));
        assert.ok(scale(value) >= -1e-9 && scale(value) <= 1 + 1e-9, `${value} of ${min} to ${max}`);
      }
      if (min < max) assert.ok(scale(min) < scale(max));
      if (isLog) assert.ok((ticks[0]?.value ?? 0) <= min, "a label is not above the lowest line");
    }),
    { numRuns: examples(3_000) },
  );
});

test("date ticks are at the start of days, weeks, months and years, and ages are counted from birth", () => {
  const at = (text: string) => Date.parse(`${text}Z`);
  const dates = (from: string, to: string, count: number) =>
    dateAxis(at(from), at(to), count).ticks.map(({ label }) => label);
  assert.deepEqual(dates("2025-05-05T00:00", "2026-04-30T00:00", 7), ["Jul", "Sep", "Nov", "2026", "Mar"]);
  assert.deepEqual(dates("2026-04-01T06:00", "2026-04-30T00:00", 7), ["6 Apr", "13 Apr", "20 Apr", "27 Apr"]);
  assert.deepEqual(dates("2026-01-30T00:00", "2026-04-30T00:00", 4), ["Feb 2026", "Mar", "Apr"]);
  assert.deepEqual(dates("2018-12-18T00:00", "2026-04-30T00:00", 5), ["2020", "2022", "2024", "2026"]);
  assert.deepEqual(dates("2026-04-29T20:00", "2026-04-30T08:00", 4), ["21:00", "30 Apr", "03:00", "06:00"]);
  for (const count of [2, 4, 7, 16])
    for (let days = 1; days < 9_000; days = Math.ceil(days * 1.3)) {
      const { ticks } = dateAxis(at("2001-03-05T07:11"), at("2001-03-05T07:11") + days * DAY_MS, count);
      assert.ok(ticks.length >= 1 && ticks.length <= count + 2, `${ticks.length} ticks for ${days} days`);
    }
  const ages = (days: number) =>
    ageAxis([0, days * DAY_MS], ageUnitOf(days * DAY_MS), 5).ticks.map(({ label }) => label);
  assert.deepEqual(ages(9), ["0", "2 d", "4 d", "6 d", "8 d"]);
  assert.deepEqual(ages(300), ["0", "2 mo", "4 mo", "6 mo", "8 mo"]);
  assert.deepEqual(ages(1_500), ["0", "1 y", "2 y", "3 y", "4 y"]);
});

test("labels keep their distance and stay in their column", () => {
  const places = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(places, (wanted) => {
      const positions = spread(wanted, 15, [0, 300]).sort((a, b) => a - b);
      for (const [i, position] of positions.entries()) {
        assert.ok(position >= -1e-9 && position <= 300 + 1e-9, String(positions));
        assert.ok((positions[i + 1] ?? 400) - position >= 15 - 1e-9, String(positions));
      }
    }),
  );
  assert.deepEqual(spread([10, 100, 200], 15, [0, 300]), [10, 100, 200]);
});

test("a name that is too long loses its owner before its end, and lines break where their script does", () => {
  assert.equal(fit("short", { size: 12, width: 100 }), "short");
  const cut = fit("a-name-that-is-much-too-long", { size: 12, width: 80 });
  assert.match(cut, /^a-name.*…$/);
  assert.ok(estimateWidth(cut, 12) <= 80);
  assert.equal(fitFullName("organisation/name", { size: 12, width: 60 }), "name");
  const lines = (text: string) => wrap(text, { size: 10, width: 50.9 }, 3);
  assert.deepEqual(lines("a kite and its line"), ["a kite and", "its line"]);
  assert.deepEqual(lines("日本語の説明文です。"), ["日本語の", "説明文で", "す。"]);
  assert.deepEqual(lines("日本語の、説明"), ["日本語", "の、説明"]);
  assert.deepEqual(lines("日本語の説明文日本語の説明文日本語"), ["日本語の", "説明文日", "本語の説…"]);
});
