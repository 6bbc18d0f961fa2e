import assert from "node:assert/strict";
import { test } from "node:test";
import { drawChart } from "../../src/charts/chart.js";
import { anomalySpans, MAX_SPANS, milestonesOf, spansWithin } from "../../src/charts/events.js";
import { gainsOf, stepOf } from "../../src/charts/lines.js";
import { type ChartInput, type ChartPoint, type ChartSpan, SHAPES, STYLES } from "../../src/charts/series.js";
import { CHART_PAGE_STYLES } from "../../src/charts/themes.js";
import { milestoneWords, noteOfSpan } from "../../src/charts/words.js";
import type { Anomaly } from "../../src/growth/anomalies.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { examples, fc } from "../support/properties.js";
import { checkTexts, type Picture, pointsOf, readPicture } from "../support/svg.js";

const BEGIN = Date.UTC(2026, 2, 1, 12);
const day = (n: number) => BEGIN + n * DAY_MS;

/** Counts once in so many hours, from 1 March on. */
const points = (values: readonly number[], hours = 24, source: ChartPoint["source"] = "OBSERVED") =>
  values.map((value, i): ChartPoint => ({ at: BEGIN + i * hours * HOUR_MS, value, source }));
const growing = (length: number, by: number, from = 1_000) => Array.from({ length }, (_, i) => from + i * by);
/** The picture of one line, or of several, which has no text on another. */
function draw(all: readonly ChartPoint[] | ChartInput["series"], more: Partial<ChartInput> = {}) {
  const series = all.flatMap((one) => ("points" in one ? [one] : []));
  const line = all.flatMap((one) => ("points" in one ? [] : [one]));
  const picture = readPicture(
    drawChart({
      ...{ metric: "stars", scale: "linear", align: "date", theme: "auto", asOf: day(60) },
      ...{ width: 600, height: 380 },
      series: series.length > 0 ? series : [{ name: "owner/name", points: line, gaps: [] }],
      ...more,
    }).svg,
  );
  checkTexts(picture);
  return picture;
}

/** The same as an instrument on a page. */
const onPage = (all: Parameters<typeof draw>[0], more: Partial<ChartInput> = {}) =>
  draw(all, { theme: "page", ...more });

const seen = ({ texts }: Picture): string[] => texts.map(({ text }) => text);
const withClass = ({ elements }: Picture, part: string) =>
  elements.flatMap(({ attributes }) => (attributes.class?.includes(part) ? [attributes] : []));
const pathsOf = (picture: Picture) => withClass(picture, "chart-line-").map(({ d = "" }) => pointsOf(d));

test("a chart says what it shows, to those who see it and to those who do not", () => {
  const picture = draw(points(growing(61, 20)));
  assert.equal(picture.title, "Stars: owner/name");
  assert.equal(
    picture.description,
    "owner/name: 1,000 on 1 Mar 2026, 2,200 on 30 Apr 2026, gained 1,200. As of 30 Apr 2026.",
  );
  const texts = ["owner/name", "+1,200 stars since 1 Mar 2026.", "2,200", "stars", "+140", "in 7 days"];
  for (const text of [...texts, "Sidereal", "30 Apr 2026"])
    assert.ok(seen(picture).includes(text), `${text} of ${seen(picture)}`);
  assert.equal(picture.elements[0]?.attributes.role, "img");
  const fallen = draw(points([9, 4]));
  assert.match(fallen.description ?? "", /lost 5\./);
  assert.ok(seen(fallen).includes("5 stars fewer than on 1 Mar 2026."));
  assert.match(draw([]).description ?? "", /nothing is known/);
  const wrong = [Number.NaN, Number.POSITIVE_INFINITY, -5];
  assert.match(
    draw(points([5, 6, ...wrong])).description ?? "",
    /gained 1\./,
    "what is no count is left out",
  );
});

test("a picture follows the reader's colours unless its theme is fixed; in a page it has those of the page", () => {
  assert.match(draw(points([1, 2])).style ?? "", /@media \(prefers-color-scheme: dark\)/);
  for (const theme of ["light", "dark"] as const)
    assert.doesNotMatch(draw(points([1, 2]), { theme }).style ?? "", /@media/);
  const all = Array.from({ length: 9 }, (_, i) => ({
    name: `a/r${i}`,
    points: points([i, i + 9]),
    gaps: [],
  }));
  const picture = draw(all, { theme: "page", idPrefix: "stars-7" });
  assert.equal(picture.style, undefined);
  const styled = new Set([...CHART_PAGE_STYLES.matchAll(/\.([\w-]+)/g)].map((match) => match[1]));
  for (const one of picture.classes) assert.ok(styled.has(one) || ["chart", "chart-line"].includes(one), one);
  const colours = [...Array.from({ length: 6 }, (_, i) => `line-${i + 1}`), "bg", "grid", "muted", "text"];
  const used = [...CHART_PAGE_STYLES.matchAll(/var\(--chart-([\w-]+)\)/g)].map((match) => match[1] ?? "");
  assert.deepEqual(new Set(used), new Set(colours));
  assert.equal(picture.elements[0]?.attributes["aria-labelledby"], "stars-7-title stars-7-desc");
  assert.ok(!seen(picture).some((text) => /Sidereal|repositories/.test(text)), "without heading and foot");
  assert.equal(pathsOf(picture).length, 6, "more than six lines are not drawn");
});

test("a gap is drawn as a gap, a missing day that could not be seen is not, and a point alone is seen", () => {
  const all = points(growing(365, 3));
  const without = (from: number, to: number) => onPage([holed(from, to)]);
  const holed = (from: number, to: number) => ({
    name: "a/b",
    points: all.filter((_, i) => i <= from || i >= to),
    gaps: [{ from: day(from), to: day(to) }],
  });
  const wide = without(100, 160);
  assert.match(wide.description ?? "", /; no readings between 9 Jun 2026 and 8 Aug 2026\./);
  const [before, after] = pathsOf(wide);
  assert.ok((before?.at(-1)?.[0] ?? 0) + 50 < (after?.[0]?.[0] ?? 0), "the gap has its width");
  const [left = 0] = before?.at(-1) ?? [];
  const [right = 0, level = 0] = after?.[0] ?? [];
  const strokes = withClass(wide, "chart-hint").flatMap(({ d = "" }) => pointsOf(d));
  assert.ok(strokes.length > 40, "hatched between its ends and below them");
  assert.ok(strokes.every(([x, y]) => x > left - 0.1 && x < right + 0.1 && y > level - 0.1));
  assert.equal(withClass(without(100, 102), "chart-hint").length, 0);
  assert.equal(pathsOf(without(100, 102)).length, 1);
  const gaps = [0, 1].map((i) => ({ from: day(i), to: day(i + 1) }));
  const picture = draw([holed(100, 160)]);
  assert.ok(picture.elements.some(({ attributes }) => attributes.fill === "url(#chart-hatch)"));
  assert.ok(seen(picture).includes("no counts"));
  const alone = onPage([{ name: "a/b", points: points([10, 20, 30]), gaps }]);
  assert.equal(pathsOf(alone).length, 0);
  assert.equal(withClass(alone, "chart-mark-1").filter(({ r }) => r === "1.8").length, 3);
});

test("a line is one, whatever its sources, and no number compares what nobody saw between", () => {
  const mixed = points(growing(90, 5)).map((one, i): ChartPoint => {
    return { ...one, source: i < 30 ? "BACKFILLED" : i < 60 ? "IMPORTED" : "OBSERVED" };
  });
  const [path, ...others] = withClass(onPage(mixed), "chart-line-");
  assert.deepEqual([others, path?.["stroke-dasharray"]], [[], undefined]);
  assert.equal(barsOf(mixed).length, 89);
  assert.ok(seen(draw(mixed)).includes("+445 stars since 1 Mar 2026."));

  const apart = points([900, 950, 1_000, 1_200, 1_210]).map((one, i) => ({ ...one, isApart: i === 3 }));
  const [before, after] = pathsOf(onPage(apart));
  assert.ok((before?.at(-1)?.[0] ?? 0) < (after?.[0]?.[0] ?? 0), "they are not joined");
  assert.deepEqual(
    gainsOf(apart).map(({ change }) => change),
    [50, 50, null, 10],
  );
});

test("lines differ without their colours: each has its mark and its name at its own end", () => {
  const names = ["a/one", "a/two", "b/one", "c/four", "d/five", "e/six"];
  const picture = draw(
    names.map((name, i) => ({ name, points: points(growing(30, i, 500 + i * 3)), gaps: [] })),
  );
  // Names without owners, but for the two that would be alike.
  for (const text of ["a/one", "two", "b/one", "four", "five", "six"])
    assert.ok(seen(picture).includes(text), text);
  const marks = Map.groupBy(withClass(picture, "chart-mark "), (one) => one.class);
  assert.equal(marks.size, 6);
  const shapes = [...marks.values()].map(([one]) => {
    const [first = [0, 0], ...rest] = pointsOf(one?.d ?? "");
    return rest.map(([x, y]) => `${Math.sign(x - first[0])},${Math.sign(y - first[1])}`).join(" ");
  });
  assert.ok(new Set(shapes).size >= 5, String(shapes));
});

test("a picture shows the place of a count: higher is more, in both scales", () => {
  const pairs = [
    [1, 2],
    [0, 5],
    [10_000, 10_001],
    [3, 4_000_000],
  ] as const;
  for (const scale of ["linear", "log"] as const)
    for (const pair of pairs) {
      const [path] = pathsOf(draw(points([...pair, pair[0]]), { scale }));
      const [low = 0, high = 0, end] = path?.map(([, y]) => y) ?? [];
      assert.ok(low > high + 1 && low === end, `${scale} ${pair}`);
    }
});

test("a milestone is the first count that reaches a round number, with its day or the days around it", () => {
  const reached = (all: readonly ChartPoint[]) =>
    milestonesOf({ metric: "stars", align: "date", series: [{ points: all }] }).map(milestoneWords);
  assert.deepEqual(reached(points([990, 1_010, 999, 1_020, 4_000, 6_000])), [
    "reached 1,000 on 2 Mar 2026",
    "reached 5,000 on 6 Mar 2026",
  ]);
  const gap: ChartPoint = { at: day(6), value: 1_100, source: "OBSERVED" };
  assert.deepEqual(reached([...points([900]), gap]), ["reached 1,000 between 1 Mar and 7 Mar 2026"]);
  assert.deepEqual(reached(points([1_200, 900, 1_300])), [], "reached before");
  const apart = points([900, 1_100, 1_200]).map((one, i) => ({ ...one, isApart: i === 1 }));
  assert.deepEqual(reached(apart), [], "by a step that is no movement");
  const values = points([10, 1_500, 6_000, 20_000, 70_000, 200_000, 600_000]);
  assert.equal(withClass(onPage(values), "chart-ring").length, 4, "the highest are marked");
  const many = draw(points([10, 900, 1_500, 2_200, 3_000, 4_000, 6_000, 7_500, 9_000, 11_000, 600_000]));
  const flags = many.elements.filter(
    ({ name, attributes }) => name === "text" && attributes.class === "chart-paper",
  );
  assert.ok(flags.length > 0 && flags.length <= 4, "flags, where there is room");
  assert.match(many.description ?? "", /It reached 500,000 on 11 Mar 2026\./);
});

function spanAt(from: number, to: number, more: Partial<ChartSpan> = {}): ChartSpan {
  return { from: day(from), to: day(to), kind: "unusual", words: "something", ...more };
}

test("anomalies of all windows are one span each, of this metric, the newest nine, in plain words", () => {
  const anomaly = (more: Partial<Anomaly> = {}): Anomaly => ({
    ...{ kind: "RETURN", measure: "stars", at: day(3), until: day(4), reason: "" },
    ...{ before: 108_000, after: 107_900, ...more },
  });
  const all = points([107_000, 107_500, 108_000, 86_000, 107_900]);
  const counts = { points: all.toSpliced(3, 1), leftOut: all.slice(3, 4) };
  const trends = [
    { anomalies: [anomaly()] },
    null,
    { anomalies: [anomaly(), anomaly({ measure: "forks" })] },
  ];
  assert.deepEqual(anomalySpans(trends, "stars", counts).map(noteOfSpan), [
    "4 Mar – 5 Mar 2026: dropped by 22,000 and recovered; neither counts",
  ]);
  const words: [Partial<Anomaly>, RegExp][] = [
    [
      { kind: "BURST", before: 1_000, after: 9_000, counted: 700 },
      /^4 Mar 2026: rose by 8,000, far more than usual; 700 of it count$/,
    ],
    [{ kind: "FAILED_READING", before: 9_000, after: 0 }, /read as 0 instead of about 9,000/],
    [{ kind: "PURGE", before: 9_000, after: 8_000 }, /dropped by 1,000/],
    [{ kind: "UNCONFIRMED", before: 9_000, after: 10 }, /counts once another reading/],
  ];
  for (const [more, expected] of words) {
    const spans = anomalySpans([{ anomalies: [anomaly({ until: day(3), ...more })] }], "stars", counts);
    assert.match(spans.map(noteOfSpan).join(), expected);
  }
  const many = Array.from({ length: 30 }, (_, i) => anomaly({ at: day(i), until: day(i) }));
  const spans = anomalySpans([{ anomalies: many }], "stars", { points: [], leftOut: [] });
  assert.deepEqual([spans.length, spans.at(-1)?.from], [MAX_SPANS, day(29)]);
});

test("spans are shaded and, on pages, numbered in their order; an embed has them in its description", () => {
  const spans = [spanAt(2, 5), ...[2.01, 2.02].map((n) => spanAt(n, n)), spanAt(9, 9, { kind: "unseen" })];
  for (const width of [330, 760]) {
    const page = onPage(points(growing(10, 1)), { spans, width });
    const numbers = page.texts.filter(({ text }) => /^[1-4]$/.test(text));
    const inOrder = numbers.toSorted((a, b) => a.box.left - b.box.left).map(({ text }) => text);
    assert.deepEqual(inOrder, ["1", "2", "3", "4"]);
    const dashed = page.elements.filter(({ attributes }) => attributes["stroke-dasharray"] === "3 3");
    assert.equal(dashed.length, 1, "what was not seen has dashed edges");
    const embed = draw(points(growing(10, 1)), { spans, width });
    assert.ok(!seen(embed).includes("1"));
    assert.match(embed.description ?? "", /3 Mar – 6 Mar 2026: something\. .* 10 Mar 2026: something\./);
  }
  const endOf = (more: Partial<ChartInput>) =>
    Number(withClass(onPage(points([1, 2, 3, 4]), more), "chart-mark-1").at(-1)?.cx);
  const unseen = spanAt(3, 9, { kind: "unseen" });
  assert.ok(endOf({ spans: [unseen] }) < endOf({}) / 2, "the axis reaches to its end");
});

/** The bars of a chart of gains: left, right, and their ends. */
function barsOf(all: readonly ChartPoint[], more: Partial<ChartInput> = {}) {
  return onPage(all, { view: "per-day", width: 760, ...more })
    .elements.filter(
      ({ attributes: { d, class: look = "" } }) => d?.includes("V") && !/muted|hint/.test(look),
    )
    .flatMap(({ attributes }) => (attributes.d ?? "").split("Z").filter((d) => d !== ""))
    .map((d) => pointsOf(d))
    .map(([begin = [0, 0], tip = [0, 0], side = [0, 0]]) => {
      return { left: begin[0], zero: begin[1], end: tip[1], right: side[0] };
    });
}

test("the gain per day is the difference of two points by the time between them, once a day, week or month", () => {
  const gains = (values: readonly number[], hours: number) =>
    gainsOf(points(values, hours)).map(({ change, perDay }) => [change, perDay]);
  assert.deepEqual(gains([100, 110, 105, 105], 24), [
    [10, 10],
    [-5, -5],
    [0, 0],
  ]);
  assert.deepEqual(gains([100, 170, 240], 7 * 24), [
    [70, 10],
    [70, 10],
  ]);
  for (const { since, at, perDay } of gainsOf(points(growing(240, 1), 1))) {
    assert.ok(at - since >= 0.4 * DAY_MS && at - since <= 1.75 * DAY_MS, "the last hours may be one more");
    assert.equal(perDay, 24);
  }
  const jitter = [0, 4, -3, 5, -6, 2, -1, 6, -5, 3, -4, 1].map((minutes, i): ChartPoint => {
    return { at: Date.UTC(2026, 0, 1 + i) + minutes * 60_000, value: 100 + i * 7, source: "IMPORTED" };
  });
  assert.equal(gainsOf(jitter).length, 11, "around midnight");
  for (const { perDay } of gainsOf(jitter)) assert.ok(Math.abs((perDay ?? 0) - 7) < 0.2);
  const steps = [90, 130, 140, 900, 1_200].map((days) => stepOf(points(growing(days, 1))).name);
  assert.deepEqual(steps, ["day", "day", "week", "week", "month"]);
  assert.equal(stepOf(points(growing(10, 1), 24 * 8)).name, "week", "points that come once a week");
});

test("losses are below the axis, zero is not nothing, and a missing day has no bar", () => {
  const [gain, loss, none, last, ...others] = barsOf(points([100, 130, 120, 120, 140]));
  assert.ok(gain !== undefined && loss !== undefined && none !== undefined && last !== undefined);
  assert.deepEqual(others, []);
  assert.ok(gain.end < gain.zero && loss.end > loss.zero);
  assert.equal(Math.round(gain.zero - gain.end), Math.round(3 * (loss.end - loss.zero)));
  assert.equal(Math.abs(none.end - none.zero), 1);
  const missing = points(growing(12, 10)).filter((_, i) => i !== 5);
  const blank = gainsOf(missing).filter(({ perDay }) => perDay === null);
  assert.deepEqual(
    blank.map(({ since, at, change }) => [since, at, change]),
    [[day(4), day(6), 20]],
  );
  assert.equal(barsOf(missing).length, 9);
  const { description } = draw(missing, { view: "per-day" });
  assert.match(description ?? "", /Per day: at most \+10 on .*; 1 bar is left out, as snapshots are missing/);
});

test("gains add up to the whole difference, whatever the times and counts", () => {
  const step = fc.tuple(fc.integer({ min: 1, max: 40 * 24 }), fc.integer({ min: -50, max: 500 }));
  fc.assert(
    fc.property(fc.array(step, { minLength: 2, maxLength: 200 }), (all) => {
      let [at, value] = [BEGIN, 100_000];
      const line = all.map(([hours, by]): ChartPoint => {
        at += hours * HOUR_MS;
        value += by;
        return { at, value, source: "OBSERVED" };
      });
      const gains = gainsOf(line);
      const sum = gains.reduce((total, { change }) => total + (change ?? 0), 0);
      assert.equal(sum, value - (line[0]?.value ?? 0));
      for (const [i, gain] of gains.entries())
        assert.equal(gain.since, i === 0 ? line[0]?.at : gains[i - 1]?.at);
    }),
    { numRuns: 300 },
  );
});

test("every size, scale and series gives a picture of which all parts lie inside and no text on another", () => {
  const point = fc.record({
    step: fc.constantFrom(1, HOUR_MS, DAY_MS, 40 * DAY_MS, 3_000 * DAY_MS),
    value: fc.oneof(fc.nat(3), fc.nat(1_000), fc.nat(5_000_000), fc.constant(Number.MAX_SAFE_INTEGER)),
    source: fc.constantFrom("OBSERVED" as const, "IMPORTED" as const, "BACKFILLED" as const),
    gap: fc.boolean(),
  });
  const series = fc.array(point, { maxLength: 40 }).map((steps) => {
    let at = 0;
    const line = steps.map(({ step, value, source }) => {
      at += step;
      return { at, value, source };
    });
    const gaps = steps.flatMap(({ gap }, i) => {
      const [from, to] = [line[i - 1]?.at, line[i]?.at];
      return gap && from !== undefined && to !== undefined ? [{ from, to }] : [];
    });
    return { name: "some-owner/a-repository", points: line, gaps };
  });
  const span = fc.record({
    begin: fc.nat(3_000),
    days: fc.nat(400),
    isUnseen: fc.boolean(),
  });
  const input = fc.record({
    series: fc.array(series, { minLength: 1, maxLength: 6 }),
    scale: fc.constantFrom("linear" as const, "log" as const),
    align: fc.constantFrom("date" as const, "age" as const),
    width: fc.integer({ min: 320, max: 1_200 }),
    height: fc.integer({ min: 220, max: 800 }),
    metric: fc.constantFrom("stars" as const, "forks" as const, "openIssues" as const),
    theme: fc.constantFrom("page" as const, "auto" as const),
    shape: fc.constantFrom("readme" as const, ...(["readme", "post", "square", "card"] as const)),
    style: fc.constantFrom(...STYLES),
    hasBars: fc.boolean(),
    bornAt: fc.option(fc.constant(Date.UTC(2014, 0)), { nil: undefined }),
    view: fc.constantFrom("total" as const, "per-day" as const),
    spans: fc.array(span, { maxLength: 9 }),
  });
  fc.assert(
    fc.property(input, ({ series: all, spans: times, ...given }) => {
      const isPost = given.theme === "auto" && given.shape !== "readme";
      const more = { ...given, ...(isPost && SHAPES[given.shape]) };
      const begin = more.align === "age" ? 0 : Date.UTC(2016, 0, 3, 4);
      const moved = all.map((one) => ({
        ...one,
        points: one.points.map((each) => ({ ...each, at: each.at + begin })),
        gaps: one.gaps.map(({ from, to }) => ({ from: from + begin, to: to + begin })),
      }));
      const spans = times.map(({ begin: from, days, isUnseen }): ChartSpan => {
        const span = { from: begin + from * DAY_MS, to: begin + (from + days) * DAY_MS };
        return { ...span, kind: isUnseen ? "unseen" : "unusual", words: "something happened" };
      });
      const [first = begin, last = begin] = [moved[0]?.points[0]?.at, moved[0]?.points.at(-1)?.at];
      draw(moved, { ...more, spans: spansWithin(spans, first, last) });
    }),
    { numRuns: examples(1_500) },
  );
});

test("a line leaves out the points that nobody could see, and no other", () => {
  const picture = draw(
    points([...growing(300, 1), ...growing(300, 0, 1_300).map((one, i) => one + (i % 50 === 0 ? 40 : 0))]),
  );
  const [[first, second, ...others] = []] = pathsOf(picture);
  const end = others.at(-1);
  assert.equal(others.length, 2 + 5 * 3 + 1);
  assert.ok(first && second && end);
  assert.ok(Math.abs(second[0] - (first[0] + end[0]) / 2) < 2, "half of the line is straight");
});
