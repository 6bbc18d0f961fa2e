import assert from "node:assert/strict";
import { test } from "node:test";
import { type CardInput, type PageCardInput, pageCard, repositoryCard } from "../../src/charts/card.js";
import { drawCard } from "../../src/charts/card-drawing.js";
import { Fonts } from "../../src/charts/fonts.js";
import { CARD_SIZE, type Picture, PngRenderer } from "../../src/charts/png.js";
import { readPicture } from "../support/svg.js";

const renderer = new PngRenderer();
const bundled = new Fonts([]);

const facts = {
  ...{ provider: "GITHUB", fullName: "owner/name", description: "What it is for", language: "Rust" },
  stars: 12_345,
};
const card: CardInput = {
  gained: [
    { window: "24h", stars: 10 },
    { window: "7d", stars: -5 },
    { window: "30d", stars: null },
  ],
  rank: "#3 trending in Rust · 7 days",
  points: Array.from({ length: 365 }, (_, i) => ({ at: i, value: 100 + i * i, source: "OBSERVED" as const })),
  gaps: [{ from: 200, to: 240 }],
  asOf: Date.UTC(2026, 3, 30),
};
const page: PageCardInput = {
  title: "Rust",
  lead: "312 repositories, by stars gained",
  rows: [1, 2, 3].map((i) => ({
    name: `owner/name-${i}`,
    detail: "GitHub · Rust",
    value: `+${i}`,
    unit: "stars in 7 days",
  })),
  asOf: Date.UTC(2026, 3, 30),
};

const cardSvg = (more: Partial<typeof facts & CardInput> = {}) =>
  drawCard(repositoryCard({ ...facts, ...more }, { ...card, ...more }), bundled);

const PNG = Buffer.from("89504e470d0a1a0a", "hex");
const repository: Picture = { kind: "card", card: repositoryCard(facts, card) };
const svgPicture = (svg: string, zoom = 1): Picture => ({ kind: "svg", svg, zoom });
const sizeOf = (png: Buffer) => [png.readUInt32BE(16), png.readUInt32BE(20)];

test("cards are PNGs of the size that pages with links ask for", async () => {
  for (const picture of [repository, { kind: "card", card: pageCard(page) } as const]) {
    const png = await renderer.render(picture);
    assert.deepEqual(png.subarray(0, 8), PNG);
    assert.deepEqual(sizeOf(png), [1_200, 630]);
  }
});

test("pictures that wait together do not keep each other's pixels in memory", async () => {
  const { width, height } = CARD_SIZE;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"/>`;
  await renderer.render(svgPicture(svg));
  const pictures = 96;
  const before = process.memoryUsage.rss();
  for (let i = 0; i < pictures; i += 8)
    await Promise.all(Array.from({ length: 8 }, () => renderer.render(svgPicture(svg))));
  const grown = process.memoryUsage.rss() - before;
  assert.ok(grown < (pictures * width * height * 4) / 3, `it has grown by ${Math.round(grown / 1e6)} MB`);
});

test("a drawing is rendered with as many pixels as requested", async () => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="300" height="100"/>`;
  assert.deepEqual(sizeOf(await renderer.render(svgPicture(svg, 2))), [600, 200]);
});

/** The texts of a card. None is wider than the card between its margins. */
function textsOf(svg: string): string[] {
  const { elements } = readPicture(svg);
  for (const { attributes, text } of elements) {
    const weight = attributes["font-weight"] === undefined ? "sans" : "bold";
    const width = bundled.measure(text, Number(attributes["font-size"] ?? 0), weight);
    assert.ok(width <= CARD_SIZE.width - 128 + 1, `${text} is ${width} wide`);
  }
  return elements.map(({ text }) => text);
}

test("a card says name, description, language, stars, gains, rank and date, with what fits", () => {
  const texts = textsOf(cardSvg());
  const expected = ["GitHub · owner · Rust", "name", "What it is for", "12,345", "+10", "−5", "–"];
  for (const text of [...expected, "#3 trending in Rust · 7 days", "Sidereal · as of 30 Apr 2026"])
    assert.ok(texts.includes(text), `${text} of ${texts}`);
  const [fullName, description] = [`${"o".repeat(300)}/${"n".repeat(300)}`, "word ".repeat(400)];
  textsOf(cardSvg({ fullName, description, rank: "#1 ".repeat(99) }));
  const foot = (ageDays: number) =>
    readPicture(cardSvg({ ageDays })).elements.find(({ text }) => /as of/.test(text));
  assert.equal(foot(91)?.text, "Sidereal · as of 30 Apr 2026, 91 days ago");
  assert.notEqual(foot(91)?.attributes.fill, foot(1)?.attributes.fill);
});

test("the card of a page says its title, what it shows, the first three of its list and the date", () => {
  const texts = textsOf(drawCard(pageCard(page), bundled));
  const expected = ["Rust", page.lead, "1", "owner/name-3", "GitHub · Rust", "+2", "stars in 7 days"];
  for (const text of [...expected, "Sidereal · as of 30 Apr 2026"])
    assert.ok(texts.includes(text), `${text} of ${texts}`);
  const [name, detail] = ["n".repeat(300), "d ".repeat(200)];
  const row = { name, detail, value: "9".repeat(99), unit: "u".repeat(99) };
  const long = { ...page, title: "t".repeat(400), lead: "word ".repeat(99) };
  for (const rows of [[row], []]) textsOf(drawCard(pageCard({ ...long, rows }), bundled));
});

test("an invalid drawing does not affect the next", async () => {
  await assert.rejects(renderer.render(svgPicture("<svg")), /could not be rendered/);
  assert.deepEqual((await renderer.render(repository)).subarray(0, 8), PNG);
});

test("when the thread exits, pending drawings fail and the next drawing starts a new thread", async () => {
  const exits = `import { parentPort } from "node:worker_threads"; parentPort.on("message", () => process.exit(1));`;
  const script = new URL(`data:text/javascript,${encodeURIComponent(exits)}`);
  const crashing = new PngRenderer(script);
  const drawings = [crashing.render(repository), crashing.render(repository)];
  for (const drawing of drawings) await assert.rejects(drawing, /has exited/);
  await assert.rejects(
    crashing.render(repository),
    /has exited/,
    "a thread that is gone would never respond",
  );
});
