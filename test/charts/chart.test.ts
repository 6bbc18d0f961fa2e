import assert from "node:assert/strict";
import { test } from "node:test";
import { drawChart } from "../../src/charts/chart.js";
import { spansWithin } from "../../src/charts/events.js";
import type { ChartInput, ChartPoint } from "../../src/charts/series.js";
import { CHART_PAGE_STYLES } from "../../src/charts/themes.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { examples, fc } from "../support/properties.js";
import { checkTexts, type Picture, pointsOf, readPicture } from "../support/svg.js";

const END = Date.UTC(2026, 3, 30, 12);

/** Daily counts up to the end. */
function days(values: readonly number[], source: ChartPoint["source"] = "OBSERVED"): ChartPoint[] {
  return values.map((value, i) => ({ at: END - (values.length - 1 - i) * DAY_MS, value, source }));
}

const growing = (length: number, from: number, by: number) => Array.from({ length }, (_, i) => from + i * by);

function draw(points: readonly ChartPoint[], more: Partial<ChartInput> = {}): Picture {
  return drawAll([{ name: "owner/name", points, gaps: [] }], more);
}

function drawAll(series: ChartInput["series"], more: Partial<ChartInput> = {}): Picture {
  const picture = readPicture(
    drawChart({
      metric: "stars",
      series,
      scale: "linear",
      align: "date",
      asOf: END,
      width: 600,
      height: 380,
      theme: "auto",
      ...more,
    }),
  );
  checkTexts(picture);
  return picture;
}

const seen = (picture: Picture): string[] => picture.texts.map(({ text }) => text);
const lines = (picture: Picture) =>
  picture.elements.filter(({ attributes }) => attributes.class?.includes("chart-line-"));

test("a chart says what it shows, to those who see it and to those who do not", () => {
  const picture = draw(days(growing(61, 1_000, 20)));
  assert.equal(picture.title, "Stars: owner/name");
  assert.equal(
    picture.description,
    "owner/name: 1,000 on 1 Mar 2026, 2,200 on 30 Apr 2026, gained 1,200. As of 30 Apr 2026.",
  );
  for (const text of ["owner/name", "Stars · 1 Mar – 30 Apr 2026", "2,200", "+1,200"])
    assert.ok(seen(picture).includes(text), `${text} of ${seen(picture)}`);
  assert.ok(seen(picture).includes("Sidereal · as of 30 Apr 2026"));
  assert.equal(picture.elements[0]?.attributes.role, "img");
});

test("a loss is reported as a loss", () => {
  const picture = draw(days([9, 4]));
  assert.match(picture.description ?? "", /lost 5\. As of 30 Apr 2026\.$/);
  assert.ok(seen(picture).includes("−5"));
});

test("one picture follows the reader's colours; a fixed theme does not", () => {
  assert.match(draw(days([1, 2])).style ?? "", /@media \(prefers-color-scheme: dark\)/);
  for (const theme of ["light", "dark"] as const)
    assert.doesNotMatch(draw(days([1, 2]), { theme }).style ?? "", /@media/);
});

test("in a page a chart has classes for the page's style sheet, and no style of its own", () => {
  const all = Array.from({ length: 6 }, (_, i) => ({ name: `a/r${i}`, points: days([i, i + 9]), gaps: [] }));
  const picture = drawAll(all, { theme: "page", idPrefix: "stars-7" });
  assert.equal(picture.style, undefined);
  for (const { name, attributes } of picture.elements) {
    assert.equal(attributes.style, undefined);
    assert.ok(!/var\(/.test(Object.values(attributes).join()), name);
  }
  const styled = new Set([...CHART_PAGE_STYLES.matchAll(/\.([\w-]+)/g)].map((match) => match[1]));
  for (const one of picture.classes) assert.ok(styled.has(one) || ["chart", "chart-line"].includes(one), one);
  const properties = new Set([...CHART_PAGE_STYLES.matchAll(/var\((--[\w-]+)\)/g)].map((match) => match[1]));
  const wanted = [1, 2, 3, 4, 5, 6].map((n) => `--chart-line-${n}`);
  assert.deepEqual(
    [...properties].sort(),
    [...wanted, "--chart-bg", "--chart-grid", "--chart-muted", "--chart-text"].sort(),
  );
  assert.equal(picture.elements[0]?.attributes["aria-labelledby"], "stars-7-title stars-7-desc");
});

test("a bare chart has no heading and no foot", () => {
  const texts = seen(draw(days(growing(20, 5, 5)), { isBare: true, theme: "page" }));
  assert.ok(!texts.includes("owner/name") && !texts.some((text) => text.includes("Sidereal")), String(texts));
});

test("a gap is drawn as a gap, and a missing day that could not be seen is not", () => {
  const all = days(growing(365, 100, 3));
  const without = (from: number, to: number) => all.filter((_, i) => i <= from || i >= to);
  const gap = (from: number, to: number) => ({ from: all[from]?.at ?? 0, to: all[to]?.at ?? 0 });
  const wide = drawAll([{ name: "a/b", points: without(100, 160), gaps: [gap(100, 160)] }]);
  assert.equal(lines(wide).length, 2);
  assert.match(wide.description ?? "", /1 gap in the data\./);
  const narrow = drawAll([{ name: "a/b", points: without(100, 102), gaps: [gap(100, 102)] }]);
  assert.equal(lines(narrow).length, 1);
  const [before, after] = lines(wide).map(({ attributes }) => pointsOf(attributes.d ?? ""));
  assert.ok((before?.at(-1)?.[0] ?? 0) + 50 < (after?.[0]?.[0] ?? 0), "the gap has its width");
});

test("a point between two gaps is still seen", () => {
  const points = days([10, 20, 30]);
  const gaps = [0, 1].map((i) => ({ from: points[i]?.at ?? 0, to: points[i + 1]?.at ?? 0 }));
  const picture = drawAll([{ name: "a/b", points, gaps }]);
  assert.equal(lines(picture).length, 0);
  assert.equal(
    picture.elements.filter(({ name, attributes }) => name === "circle" && attributes.r === "1.8").length,
    3,
  );
});

test("counts that were not seen here are told apart, with an entry of the legend only then", () => {
  const legend = ["imported", "stars still held, as reported later"];
  assert.deepEqual(
    seen(draw(days(growing(60, 1, 1)))).filter((text) => legend.includes(text)),
    [],
  );
  const mixed = days(growing(90, 100, 5)).map((point, i) => {
    return {
      ...point,
      source: i < 30 ? ("BACKFILLED" as const) : i < 60 ? ("IMPORTED" as const) : point.source,
    };
  });
  const picture = draw(mixed);
  assert.deepEqual(
    seen(picture).filter((text) => legend.includes(text)),
    legend,
  );
  const strokes = lines(picture).map(
    ({ attributes }) => `${attributes["stroke-width"]} ${attributes["stroke-dasharray"]}`,
  );
  assert.equal(new Set(strokes).size, 3, String(strokes));
});

test("stars still held are dotted and not joined to totals, and no number compares the two", () => {
  const points = days([900, 950, 1_000, 1_200, 1_210]).map((point, i) => ({
    ...point,
    source: i < 3 ? ("BACKFILLED" as const) : ("OBSERVED" as const),
  }));
  const picture = draw(points);
  const [held, own, ...others] = lines(picture).map(({ attributes }) => attributes);
  assert.deepEqual(others, []);
  assert.ok(held?.["stroke-dasharray"] !== undefined && own?.["stroke-dasharray"] === undefined);
  assert.ok((pointsOf(held?.d ?? "").at(-1)?.[0] ?? 0) < (pointsOf(own?.d ?? "")[0]?.[0] ?? 0));
  assert.ok(seen(picture).includes("+100 still held"), String(seen(picture)));
  assert.match(
    picture.description ?? "",
    /900 on [^;]*, 1,000 on [^;]*, gained 100 \(stars still held, as reported later\); then 1,200 on [^;]*, 1,210 on [^;]*, gained 10\./,
  );
  const longer = draw([
    ...points,
    { at: (points[4]?.at ?? 0) + 9 * 86_400_000, value: 1_250, source: "OBSERVED" },
  ]);
  assert.ok(
    seen(longer).some((text) => text.startsWith("+50 since ")),
    String(seen(longer)),
  );
});

test("lines differ without their colours: each has its mark, beside its name and last value", () => {
  const names = ["a/one", "a/two", "b/one", "c/four", "d/five", "e/six"];
  const picture = drawAll(
    names.map((name, i) => ({ name, points: days(growing(30, 500 + i * 3, i)), gaps: [] })),
  );
  // Names without owners, but for the two that would be alike.
  for (const text of ["a/one", "two", "b/one", "four", "five", "six"])
    assert.ok(seen(picture).includes(text), text);
  const marks = picture.elements.filter(({ attributes }) => attributes.class?.startsWith("chart-mark "));
  // Along the way and at the end, and once more beside the name.
  const byLine = Map.groupBy(marks, ({ attributes }) => attributes.class);
  assert.equal(byLine.size, 6);
  for (const [line, all] of byLine) assert.ok(all.length >= 4, `${line}: ${all.length}`);
  const shapes = marks.map(({ name, attributes }) => {
    const [first = [0, 0], ...rest] = pointsOf(attributes.d ?? "");
    return `${name} ${rest.map(([x, y]) => `${Math.sign(x - first[0])},${Math.sign(y - first[1])}`).join(" ")} ${rest.length}`;
  });
  assert.ok(new Set(shapes).size >= 5, String([...new Set(shapes)]));
});

test("more than six lines are not drawn", () => {
  const all = Array.from({ length: 9 }, (_, i) => ({ name: `a/r${i}`, points: days([i, i + 9]), gaps: [] }));
  const picture = drawAll(all);
  assert.equal(lines(picture).length, 6);
  assert.ok(!seen(picture).includes("r6"));
});

test("a picture shows the place of a count: higher is more, in both scales", () => {
  for (const scale of ["linear", "log"] as const) {
    for (const [a, b] of [
      [1, 2],
      [0, 5],
      [10_000, 10_001],
      [3, 4_000_000],
    ] as const) {
      const [rising] = lines(draw(days([a, b]), { scale }));
      const [from, to] = pointsOf(rising?.attributes.d ?? "");
      assert.ok((from?.[1] ?? 0) > (to?.[1] ?? 0) + 1, `${scale} ${a} ${b}`);
      const [falling] = lines(draw(days([b, a]), { scale }));
      const [high, low] = pointsOf(falling?.attributes.d ?? "");
      assert.ok((high?.[1] ?? 0) < (low?.[1] ?? 0) - 1, `${scale} ${b} ${a}`);
    }
  }
});

test("what is no count is left out, and a chart of nothing is still a picture", () => {
  const bad = [Number.NaN, Number.POSITIVE_INFINITY, -5].map((value, i) => ({
    ...(days([1])[0] as ChartPoint),
    at: END + i,
    value,
  }));
  const picture = draw([...days([5, 6]), ...bad]);
  assert.match(picture.description ?? "", /gained 1\./);
  assert.match(draw([]).description ?? "", /nothing is known/);
});

test("every size, scale and series gives a picture of which all parts lie inside and no text on another", () => {
  const value = fc.oneof(fc.nat(3), fc.nat(1_000), fc.nat(5_000_000), fc.constant(Number.MAX_SAFE_INTEGER));
  const source = fc.constantFrom("OBSERVED" as const, "IMPORTED" as const, "BACKFILLED" as const);
  const point = fc.record({
    step: fc.constantFrom(1, 3_600_000, DAY_MS, 40 * DAY_MS, 3_000 * DAY_MS),
    value,
    source,
    gap: fc.boolean(),
  });
  const series = fc.array(point, { maxLength: 40 }).map((steps) => {
    let at = Date.UTC(2016, 1, 3, 4);
    const points = steps.map(({ step, value, source }) => {
      at += step;
      return { at, value, source };
    });
    const gaps = steps.flatMap(({ gap }, i) => {
      const [from, to] = [points[i - 1]?.at, points[i]?.at];
      return gap && from !== undefined && to !== undefined ? [{ from, to }] : [];
    });
    return { name: "some-owner/a-repository", points, gaps };
  });
  const input = fc.record({
    series: fc.array(series, { minLength: 1, maxLength: 6 }),
    scale: fc.constantFrom("linear" as const, "log" as const),
    align: fc.constantFrom("date" as const, "age" as const),
    width: fc.integer({ min: 320, max: 1_200 }),
    height: fc.integer({ min: 220, max: 800 }),
    metric: fc.constantFrom("stars" as const, "forks" as const, "openIssues" as const),
    isBare: fc.boolean(),
    view: fc.constantFrom("total" as const, "per-day" as const),
    spans: fc.array(
      fc.record({
        begin: fc.nat(3_000),
        days: fc.nat(400),
        isUnseen: fc.boolean(),
        isDoubtful: fc.boolean(),
      }),
      { maxLength: 9 },
    ),
  });
  fc.assert(
    fc.property(input, ({ series: all, spans: times, ...more }) => {
      const born = Date.UTC(2016, 1, 3, 4);
      const [begin = born, end = born] = [all[0]?.points[0]?.at, all[0]?.points.at(-1)?.at];
      const spans = spansWithin(
        times.map(({ begin: days, days: length, isUnseen, isDoubtful }) => ({
          from: born + days * DAY_MS,
          to: born + (days + length) * DAY_MS,
          kind: isUnseen ? ("unseen" as const) : ("unusual" as const),
          words: "something happened",
          isDoubtful,
        })),
        begin,
        end,
      );
      const shift = more.align === "age" ? born : 0;
      const shifted = all.map((one) => ({
        ...one,
        points: one.points.map((each) => ({ ...each, at: each.at - shift })),
        gaps: one.gaps.map(({ from, to }) => ({ from: from - shift, to: to - shift })),
      }));
      drawAll(shifted, { ...more, spans });
    }),
    { numRuns: examples(1_500) },
  );
});
