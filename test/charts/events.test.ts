import assert from "node:assert/strict";
import { test } from "node:test";
import { drawChart } from "../../src/charts/chart.js";
import { anomalySpans, MAX_SPANS, milestonesOf } from "../../src/charts/events.js";
import type { ChartPoint, ChartSpan } from "../../src/charts/series.js";
import { milestoneWords, noteOfSpan } from "../../src/charts/words.js";
import type { Anomaly } from "../../src/growth/anomalies.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { checkTexts, readPicture } from "../support/svg.js";

const BEGIN = Date.UTC(2026, 7, 1, 4);
const day = (n: number) => BEGIN + n * DAY_MS;

const daily = (...values: number[]): ChartPoint[] =>
  values.map((value, i) => ({ at: day(i), value, source: "OBSERVED" }));

const reached = (points: readonly ChartPoint[], spans: readonly ChartSpan[] = []) =>
  milestonesOf({ metric: "stars", align: "date", series: [{ points }], spans });

function draw(points: readonly ChartPoint[], spans: readonly ChartSpan[], isBare = true, width = 760) {
  const picture = readPicture(
    drawChart({
      metric: "stars",
      series: [{ name: "a/b", points, gaps: [] }],
      scale: "linear",
      align: "date",
      asOf: null,
      width,
      height: 300,
      theme: "light",
      spans,
      isBare,
    }),
  );
  checkTexts(picture);
  return picture;
}

const anomaly = (more: Partial<Anomaly>): Anomaly => ({
  kind: "RETURN",
  measure: "stars",
  at: day(3),
  until: day(4),
  reason: "",
  before: 108_000,
  after: 107_900,
  ...more,
});

test("a milestone is the first time that a round number is reached, with its day", () => {
  const points = daily(990, 1_010, 999, 1_020, 4_000, 6_000);
  const found = reached(points);
  assert.deepEqual(
    found.map((one) => [one.value, (one.point.at - BEGIN) / DAY_MS]),
    [
      [1_000, 1],
      [5_000, 5],
    ],
  );
  assert.deepEqual(found.map(milestoneWords), ["reached 1,000 on 2 Aug 2026", "reached 5,000 on 6 Aug 2026"]);
});

test("a milestone within a gap is between two days, and one that was reached before is none", () => {
  const gap = [...daily(900), { at: day(6), value: 1_100, source: "OBSERVED" as const }];
  assert.deepEqual(reached(gap).map(milestoneWords), ["reached 1,000 between 1 Aug and 7 Aug 2026"]);
  assert.deepEqual(reached(daily(1_200, 900, 1_300)), []);
});

test("a failed reading reaches no milestone, and neither do stars still held", () => {
  const points = daily(4_000, 90_000, 4_100, 4_200);
  const span = { from: day(1), to: day(1), kind: "unusual" as const, words: "x", isDoubtful: true };
  assert.equal(reached(points).length, 1);
  assert.deepEqual(reached(points, [span]), []);
  const held = daily(900, 1_100, 1_200).map((point) => ({ ...point, source: "BACKFILLED" as const }));
  assert.deepEqual(reached(held), []);
});

test("of many milestones the four highest are marked on the line", () => {
  const picture = draw(daily(10, 1_500, 6_000, 20_000, 70_000, 200_000, 600_000), []);
  const rings = picture.elements.filter(({ attributes }) => attributes.class === "chart-ring");
  assert.equal(rings.length, 4);
  assert.match(picture.description ?? "", /It reached 500,000 on 7 Aug 2026\./);
});

test("anomalies of all windows are one span each, of this metric, in plain words", () => {
  const returned = anomaly({});
  const points = daily(107_000, 107_500, 108_000, 86_000, 107_900);
  const forks = anomaly({ measure: "forks" });
  const spans = anomalySpans(
    [{ anomalies: [returned] }, null, { anomalies: [returned, forks] }],
    "stars",
    points,
  );
  assert.deepEqual(spans.map(noteOfSpan), [
    "4 Aug – 5 Aug 2026: dropped by 22,000 and recovered; neither counts",
  ]);
  const words = (more: Partial<Anomaly>) =>
    anomalySpans([{ anomalies: [anomaly({ until: day(3), ...more })] }], "stars", points).map(noteOfSpan)[0];
  assert.equal(
    words({ kind: "BURST", before: 1_000, after: 9_000, counted: 700 }),
    "4 Aug 2026: rose by 8,000, far more than usual; 700 of it count",
  );
  assert.match(
    words({ kind: "BURST", before: 1, after: 900, counted: 300, cleared: { at: 1, by: "BREADTH" } }) ?? "",
    /; 300 of it count$/,
    "forks that followed support a part",
  );
  assert.match(
    words({ kind: "BURST", before: 1, after: 900, cleared: { at: 1, by: "TIME" } }) ?? "",
    /all of it counts by now/,
  );
  assert.match(
    words({ kind: "FAILED_READING", before: 9_000, after: 0 }) ?? "",
    /read as 0 instead of about 9,000/,
  );
  assert.match(words({ kind: "PURGE", before: 9_000, after: 8_000 }) ?? "", /dropped by 1,000/);
  assert.match(words({ kind: "LEVEL_SHIFT", before: 1, after: 2_001 }) ?? "", /rose by 2,000 in one step/);
  assert.match(words({ kind: "UNCONFIRMED", before: 9_000, after: 10 }) ?? "", /counts once another reading/);
});

test("spans are shaded and, on pages, numbered in their order; an embed has them in its description", () => {
  const spans: ChartSpan[] = [2, 2.01, 2.02, 9].map((n) => ({
    from: day(n),
    to: day(n),
    kind: n === 9 ? "unseen" : "unusual",
    words: `event ${n}`,
    isDoubtful: false,
  }));
  const points = daily(...Array.from({ length: 10 }, (_, i) => 100 + i));
  for (const width of [330, 760]) {
    const page = draw(points, spans, true, width);
    assert.deepEqual(
      page.texts.map(({ text }) => text).filter((text) => /^[1-4]$/.test(text)),
      ["1", "2", "3", "4"],
    );
    const dashes = page.elements.filter(({ attributes }) => attributes["stroke-dasharray"] === "3 3");
    assert.equal(dashes.length, 1, "what was not seen has dashed edges");
    const embed = draw(points, spans, false, width);
    assert.ok(!embed.texts.some(({ text }) => text === "1"));
    for (const n of [2, 9]) assert.match(embed.description ?? "", new RegExp(`event ${n}\\.`));
  }
});

test("the axis reaches to the end of a time in which nothing was seen", () => {
  const points = daily(1, 2, 3, 4);
  const endOf = (spans: readonly ChartSpan[]) =>
    Math.max(
      ...draw(points, spans)
        .elements.filter(({ attributes }) => attributes.class?.includes("chart-mark-1"))
        .map(({ attributes }) => Number(attributes.cx)),
    );
  const unseen = { from: day(3), to: day(9), kind: "unseen" as const, words: "not seen", isDoubtful: false };
  assert.ok(endOf([unseen]) < endOf([]) / 2, "the line ends where it was last seen");
});

test("at most nine anomalies are shown, the newest", () => {
  const many = Array.from({ length: 30 }, (_, i) => anomaly({ at: day(i), until: day(i) }));
  const spans = anomalySpans([{ anomalies: many }], "stars", []);
  assert.equal(spans.length, MAX_SPANS);
  assert.equal(spans.at(-1)?.from, day(29));
});
