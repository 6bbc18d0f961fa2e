import assert from "node:assert/strict";
import { test } from "node:test";
import { CARD_SIZE, type CardInput, drawCard, PngRenderer } from "../../src/embeds/embeds.js";
import { drawable, loadFont } from "../../src/embeds/font.js";
import { readPicture } from "../support/svg.js";

const renderer = new PngRenderer();

const card: CardInput = {
  provider: "GITHUB",
  fullName: "owner/name",
  description: "What it is for",
  language: "Rust",
  stars: 12_345,
  gained: [
    { window: "24h", stars: 10 },
    { window: "7d", stars: -5 },
    { window: "30d", stars: null },
  ],
  rank: "#3 trending in Rust · 7 days",
  points: Array.from({ length: 365 }, (_, i) => ({ at: i, value: 100 + i * i, source: "OBSERVED" as const })),
  asOf: Date.UTC(2026, 3, 30),
};

const PNG = Buffer.from("89504e470d0a1a0a", "hex");

test("a card is a PNG of the size that pages with links ask for", async () => {
  const png = await renderer.render(drawCard(card));
  assert.deepEqual(png.subarray(0, 8), PNG);
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [1_200, 630]);
});

test("a card says name, description, language, stars, gains, place and date, with what fits", () => {
  const texts = readPicture(drawCard(card)).texts.map(({ text }) => text);
  for (const text of [
    "GitHub · owner · Rust",
    "name",
    "What it is for",
    "12,345",
    "+10",
    "−5",
    "–",
    card.rank,
  ])
    assert.ok(texts.includes(text ?? ""), `${text} of ${texts}`);
  assert.ok(texts.includes("Sidereal · as of 30 Apr 2026"));
  const { plain, bold } = { plain: loadFont("plain"), bold: loadFont("bold") };
  const long = {
    fullName: `${"o".repeat(300)}/${"n".repeat(300)}`,
    description: "word ".repeat(400),
    rank: "#1 ".repeat(99),
  };
  for (const { attributes, text } of readPicture(drawCard({ ...card, ...long })).elements) {
    const font = attributes["font-weight"] === undefined ? plain : bold;
    const width = font.measure(text, Number(attributes["font-size"] ?? 0));
    assert.ok(width <= CARD_SIZE.width - 128 + 1, `${text} is ${width} wide`);
  }
});

test("characters the font lacks are left out, and a text of little else is not shown", async () => {
  const font = loadFont("plain");
  assert.equal(drawable("fast 🚀 server", font), "fast server");
  assert.equal(drawable("日本語の説明文", font), undefined);
  assert.equal(drawable("Ελληνικά, русский, עברית", font), "Ελληνικά, русский, עברית");
  const unknown = { description: "日本語の説明文", fullName: "所有者/名前", language: "🚀" };
  const svg = drawCard({ ...card, ...unknown, points: [], rank: null, asOf: null, stars: null });
  assert.doesNotMatch(svg, /日本/);
  assert.deepEqual((await renderer.render(svg)).subarray(0, 8), PNG);
});

test("widths are those of the font's own tables", () => {
  // Advance widths of DejaVu Sans, in 2048ths: "i" 569, "M" 1767.
  assert.equal(loadFont("plain").measure("iM", 2_048), 569 + 1_767);
  assert.ok(loadFont("bold").measure("iM", 10) > loadFont("plain").measure("iM", 10));
});

test("an invalid drawing does not affect the next", async () => {
  await assert.rejects(renderer.render("<svg"), /could not be rendered/);
  assert.deepEqual((await renderer.render(drawCard(card))).subarray(0, 8), PNG);
});

test("when the thread exits, pending drawings fail and the next drawing starts a new thread", async () => {
  const exits = `import { parentPort } from "node:worker_threads"; parentPort.on("message", () => process.exit(1));`;
  const crashing = new PngRenderer(new URL(`data:text/javascript,${encodeURIComponent(exits)}`));
  const drawings = [crashing.render("<svg/>"), crashing.render("<svg/>")];
  for (const drawing of drawings) await assert.rejects(drawing, /has exited/);
  await assert.rejects(crashing.render("<svg/>"), /has exited/, "a thread that is gone would never respond");
});
