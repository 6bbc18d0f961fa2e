import assert from "node:assert/strict";
import { test } from "node:test";
import { drawChart } from "../../src/charts/chart.js";
import { gainsOf, stepOf } from "../../src/charts/gains.js";
import type { ChartPoint } from "../../src/charts/series.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { fc } from "../support/properties.js";
import { checkTexts, pointsOf, readPicture } from "../support/svg.js";

const BEGIN = Date.UTC(2026, 0, 1, 4);

function every(
  hours: number,
  values: readonly number[],
  source: ChartPoint["source"] = "OBSERVED",
): ChartPoint[] {
  return values.map((value, i) => ({ at: BEGIN + i * hours * HOUR_MS, value, source }));
}

const growing = (length: number, by: number) => Array.from({ length }, (_, i) => 1_000 + i * by);

function draw(points: readonly ChartPoint[], more: Partial<Parameters<typeof drawChart>[0]> = {}) {
  const series = [{ name: "a/b", points, gaps: [] }];
  const picture = readPicture(
    drawChart({
      metric: "stars",
      series,
      view: "per-day",
      scale: "linear",
      align: "date",
      asOf: null,
      width: 760,
      height: 360,
      theme: "light",
      ...more,
    }),
  );
  checkTexts(picture);
  return picture;
}

/** The bars of a picture: left, right, and their ends. */
function barsOf(picture: ReturnType<typeof draw>) {
  return picture.elements
    .filter(({ attributes }) => attributes.d?.includes("V") && !/muted|hint/.test(attributes.class ?? ""))
    .flatMap(({ attributes }) => (attributes.d ?? "").split("Z").filter((d) => d !== ""))
    .map((d) => pointsOf(d))
    .map(([begin = [0, 0], tip = [0, 0], side = [0, 0]]) => ({
      left: begin[0],
      zero: begin[1],
      end: tip[1],
      right: side[0],
    }));
}

test("the gain per day is the difference of two points by the time between them", () => {
  assert.deepEqual(
    gainsOf(every(24, [100, 110, 105, 105])).map(({ change, perDay }) => [change, perDay]),
    [
      [10, 10],
      [-5, -5],
      [0, 0],
    ],
  );
  const week = gainsOf(every(7 * 24, [100, 170, 240]));
  assert.deepEqual(
    week.map(({ change, perDay }) => [change, perDay]),
    [
      [70, 10],
      [70, 10],
    ],
  );
});

test("hourly points make a bar a day, and the hours of the last day are one more when they are enough to divide by", () => {
  const whole = gainsOf(every(1, growing(24 * 10, 1)));
  for (const { since, at, perDay } of whole) {
    assert.ok(at - since >= 0.4 * DAY_MS && at - since <= 1.75 * DAY_MS, String((at - since) / HOUR_MS));
    assert.equal(perDay, 24);
  }
});

test("a missing day has no bar, and neither does the step after it", () => {
  const points = every(24, growing(12, 10)).filter((_, i) => i !== 5);
  const gains = gainsOf(points);
  const blank = gains.filter(({ perDay }) => perDay === null);
  assert.deepEqual(
    blank.map(({ since, at, change }) => [(since - BEGIN) / DAY_MS, (at - BEGIN) / DAY_MS, change]),
    [[4, 6, 20]],
  );
  const bars = barsOf(draw(points));
  assert.equal(bars.length, 9);
  const widest = Math.max(...bars.slice(1).map(({ left }, i) => left - (bars[i]?.right ?? 0)));
  assert.ok(widest > 1.5 * ((bars[0]?.right ?? 0) - (bars[0]?.left ?? 0)), "the gap is seen");
  assert.match(draw(points).description ?? "", /1 bar is left out, as snapshots are missing/);
});

test("no bar crosses from stars still held to totals", () => {
  const points = every(24, growing(10, 10)).map((point, i) => ({
    ...point,
    source: i < 5 ? ("BACKFILLED" as const) : ("OBSERVED" as const),
  }));
  const gains = gainsOf(points);
  assert.deepEqual(
    gains.map(({ change }) => change),
    [10, 10, 10, 10, null, 10, 10, 10, 10],
  );
  const looks = draw(points).elements.filter(({ attributes }) => attributes.d?.includes("Z"));
  assert.equal(new Set(looks.map(({ attributes }) => attributes["stroke-dasharray"])).size, 2);
});

test("daily snapshots that jitter around midnight keep a bar for every day", () => {
  const jitter = [0, 4, -3, 5, -6, 2, -1, 6, -5, 3, -4, 1];
  const points = jitter.map((minutes, i) => ({
    at: Date.UTC(2026, 0, 1 + i) + minutes * 60_000,
    value: 100 + i * 7,
    source: "IMPORTED" as const,
  }));
  const gains = gainsOf(points);
  assert.equal(gains.length, 11);
  assert.ok(gains.every(({ perDay }) => perDay !== null && Math.abs(perDay - 7) < 0.2));
});

test("a long time has bars of weeks, then of months", () => {
  const stepOfDays = (days: number) => stepOf(every(24, growing(days, 1))).name;
  assert.deepEqual([90, 130, 140, 900, 1_200].map(stepOfDays), ["day", "day", "week", "week", "month"]);
  assert.equal(stepOf(every(24 * 8, growing(10, 1))).name, "week", "points that come once a week");
});

test("losses are below the axis, and zero is not nothing", () => {
  const picture = draw(every(24, [100, 130, 120, 120, 140]));
  const [gain, loss, none] = barsOf(picture);
  assert.ok(gain !== undefined && loss !== undefined && none !== undefined);
  assert.ok(gain.end < gain.zero && loss.end > loss.zero);
  assert.equal(Math.round(gain.zero - gain.end), Math.round(3 * (loss.end - loss.zero)));
  assert.equal(barsOf(picture).length, 4);
  assert.equal(Math.abs(none.end - none.zero), 1);
  const labels = picture.texts.map(({ text }) => text);
  for (const label of ["−10", "0", "+10", "+20", "+30"]) assert.ok(labels.includes(label), String(labels));
});

test("a bar within a failed reading is cut, so that the other days can be seen", () => {
  const points = every(24, [1_000, 1_010, 1_020, 5, 1_040, 1_050]);
  const at = points[3]?.at ?? 0;
  const span = { from: at, to: at, kind: "unusual" as const, words: "a failed reading", isDoubtful: true };
  const all = draw(points, { spans: [span] });
  const bars = barsOf(all);
  assert.ok(bars.filter(({ zero, end }) => zero - end > 50).length >= 3, "ordinary days");
  assert.ok(
    draw(points).texts.some(({ text }) => text === "−1K"),
    "without the span all is in scale",
  );
});

test("gains add up to the whole difference, whatever the times and counts", () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 40 * 24 }), fc.integer({ min: -50, max: 500 })), {
    minLength: 2,
    maxLength: 200,
  });
  fc.assert(
    fc.property(steps, (all) => {
      let [at, value] = [BEGIN, 100_000];
      const points = all.map(([hours, by]) => {
        at += hours * HOUR_MS;
        value += by;
        return { at, value, source: "OBSERVED" as const };
      });
      const gains = gainsOf(points);
      const sum = gains.reduce((total, { change }) => total + (change ?? 0), 0);
      assert.equal(sum, (points.at(-1)?.value ?? 0) - (points[0]?.value ?? 0));
      for (const [i, gain] of gains.entries()) {
        assert.ok(gain.since < gain.at);
        if (i > 0) assert.equal(gain.since, gains[i - 1]?.at);
      }
      draw(points);
    }),
    { numRuns: 300 },
  );
});
