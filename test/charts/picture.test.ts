import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { drawChart } from "../../src/charts/chart.js";
import { type ChartInput, type ChartPoint, SHAPES } from "../../src/charts/series.js";
import { headlineText } from "../../src/charts/story.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { readPicture } from "../support/svg.js";

const BEGIN = Date.UTC(2026, 0, 1);
const line = (...values: number[]): ChartPoint[] =>
  values.map((value, i) => ({ at: BEGIN + i * DAY_MS, value, source: "OBSERVED" }));
const days = (count: number, value: (day: number) => number) =>
  line(...Array.from({ length: count }, (_, i) => value(i)));
type Lines = Readonly<Record<string, readonly ChartPoint[]>>;
const svgOf = (lines: Lines, more: Partial<ChartInput> = {}) =>
  drawChart({
    ...{ metric: "stars", scale: "linear", align: "date", theme: "light", asOf: BEGIN + 200 * DAY_MS },
    ...SHAPES[more.shape ?? "readme"],
    series: Object.entries(lines).map(([name, points]) => ({ name, points, gaps: [] })),
    ...more,
  }).svg;
const draw = (lines: Lines, more: Partial<ChartInput> = {}) => readPicture(svgOf(lines, more));
const textsOf = (lines: Lines, more: Partial<ChartInput> = {}) =>
  draw(lines, more).texts.map(({ text }) => text);
const rising = { "acme/kite": days(100, (day) => 1_000 + 10 * day) };
const pair = { ...rising, "acme/crane": days(100, () => 1_500) };

test("a comparison is titled by its names in the colours of their lines, and says who passed whom", () => {
  for (const shape of ["readme", "post", "square", "card"] as const) {
    const { elements, texts } = draw(pair, { shape });
    const title = elements.filter(
      ({ name, attributes }) => name === "tspan" && attributes.class !== undefined,
    );
    assert.deepEqual(
      title.map(({ attributes, text }) => [attributes.class, text]),
      [
        ["chart-mark-1", "kite"],
        ["chart-mark-2", "crane"],
      ],
    );
    assert.ok(texts.some(({ text }) => text === "kite passed crane on 20 February and leads by 490."));
    assert.ok(
      texts.some(({ text }) => text === "20 Feb 2026"),
      "the day of the ring is that of the sentence",
    );
  }
  const own = textsOf(pair, { title: "Things that fly" });
  assert.ok(own.includes("Things that fly") && !own.includes("kite and crane"));
});

test("every line of a picture ends in a star, and only a fifth one has marks along it", () => {
  const stars = (lines: Lines) => draw(lines).elements.filter(({ attributes }) => attributes["paint-order"]);
  assert.equal(stars(rising).length, 1);
  assert.equal(stars(pair).length, 2);
  const five = Object.fromEntries([1, 2, 3, 4, 5].map((n) => [`acme/r${n}`, days(100, (day) => n * day)]));
  const marks = draw(five).elements.filter(
    ({ attributes }) => attributes.class?.startsWith("chart-mark chart-") && !attributes["paint-order"],
  );
  assert.ok(marks.length >= 5 * 4, `${marks.length} marks`);
});

test("a sketch bends shapes and never texts, and a clear picture has no paper", () => {
  for (const shape of ["readme", "post"] as const) {
    const sketch = svgOf(rising, { shape, style: "sketch" });
    const [, bent = ""] = /<g filter="url\(#chart-hand\)">(.*?)<\/g>/s.exec(sketch) ?? [];
    assert.ok(bent.includes("<path") && !bent.includes("<text"));
    assert.match(sketch, /<\/g><text/);
  }
  const papers = (isClear: boolean) =>
    draw(rising, { isClear }).elements.filter(({ name }) => name === "rect");
  assert.deepEqual([papers(false).length, papers(true).length], [1, 0]);
  assert.match(draw(rising, { isClear: true }).style ?? "", /\.chart-halo\{stroke:none\}/);
});

test("few stars are drawn as stars at their times, none as a hollow one, and one count on a dotted level", () => {
  const few = draw({ "acme/kite": line(0, 1, 1, 3) }, { bornAt: BEGIN });
  const stars = few.elements.filter(({ attributes }) => attributes["paint-order"]);
  assert.equal(stars.length, 3);
  const texts = few.texts.map(({ text }) => text);
  for (const text of ["Created on 1 Jan 2026. Its first 3 stars are here.", "3", "stars", "10", "next"])
    assert.ok(texts.includes(text), `${text} of ${texts}`);
  assert.ok(textsOf({ "acme/kite": line(0, 0) }).includes("Its first star will appear here."));
  const [one] = [textsOf({ "acme/kite": line(412) })];
  assert.ok(one.includes("First seen on 1 Jan 2026. The line begins with the next count."), String(one));
  assert.ok(
    textsOf({ "acme/kite": line(3, 2) }).includes("1 star fewer than on 1 Jan 2026."),
    "a loss is a line",
  );
});

test("gains are bars below a line; a best one that dwarfs the others is cut, and an axis begins at 0 or has no area", () => {
  const cut = (lines: Lines) =>
    draw(lines).elements.filter(
      ({ attributes }) => attributes.class === "chart-mark" && !attributes["paint-order"],
    );
  assert.equal(cut(rising).length, 0);
  assert.equal(cut({ "acme/kite": days(100, (day) => 1_000 + 10 * day + (day > 50 ? 900 : 0)) }).length, 1);
  const areas = (lines: Lines) =>
    draw(lines).elements.filter(({ attributes }) => attributes.fill?.includes("area"));
  assert.equal(areas({ "acme/kite": days(100, (day) => 20 * day) }).length, 1);
  assert.equal(areas({ "acme/kite": days(100, (day) => 200_000 - day) }).length, 0);
});

test("the time that is not read yet is hatched from its beginning, and the line does not move for it", () => {
  const points = days(100, (day) => 1_000 + 10 * day);
  const { elements, texts } = draw(
    { "acme/kite": points },
    { bornAt: BEGIN - 100 * DAY_MS, unread: "being read" },
  );
  const hatch = elements.find(({ attributes }) => attributes.fill === "url(#chart-hatch)");
  assert.ok(Number(hatch?.attributes.width) > 200);
  assert.ok(texts.some(({ text }) => text === "being read"));
});

test("a hatch stays below the headline of a post", () => {
  const points = days(100, (day) => 1_000 + 10 * day);
  const { elements } = draw(
    { "acme/kite": points },
    { ...SHAPES.post, shape: "post", bornAt: BEGIN - 100 * DAY_MS },
  );
  const hatch = elements.find(({ attributes }) => attributes.fill === "url(#chart-hatch)");
  assert.ok(Number(hatch?.attributes.y) > 200, String(hatch?.attributes.y));
});

test("a headline is that of the page: a gain, a round number, or what a year brought", () => {
  const none = { "24h": null, "7d": null, "30d": null };
  assert.equal(headlineText(none, [], line(5)), undefined);
  assert.equal(
    headlineText(
      none,
      [],
      days(400, (day) => 100 + day),
    ),
    "+365 stars in a year, 3.7 times what it had.",
  );
});

test("a picture in a README keeps nearly all of its bytes from one day to the next", () => {
  const life = days(480, (day) => 10 * day + ((day * day) % 97));
  const pictures = Array.from({ length: 65 }, (_, i) => svgOf({ "acme/kite": life.slice(0, 416 + i) }));
  // As git stores it: what is new, and references to the picture before.
  const sizes = pictures.slice(1).map((one, i) => {
    return deflateRawSync(one, { level: 9, dictionary: Buffer.from(pictures[i] ?? "") }).length;
  });
  const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  assert.ok(mean < 450, `${mean} bytes`);
});

test("same input, same bytes: nothing in charts looks at the time or draws lots", () => {
  assert.equal(svgOf(pair, { style: "sketch" }), svgOf(pair, { style: "sketch" }));
  for (const file of readdirSync("src/charts"))
    assert.doesNotMatch(
      readFileSync(`src/charts/${file}`, "utf8"),
      /Math\.random|Date\.now|new Date\(\)/,
      file,
    );
});
