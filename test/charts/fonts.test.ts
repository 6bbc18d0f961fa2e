import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Resvg } from "@resvg/resvg-js";
import { type CardInput, repositoryCard } from "../../src/charts/card.js";
import { drawRepositoryCard } from "../../src/charts/card-drawing.js";
import { FONT_FAMILY, Fonts, readFace, withFonts } from "../../src/charts/fonts.js";
import { libraryFile } from "../../src/lib/package-files.js";
import { hostileText } from "../support/hostile-texts.js";
import { examples, fc } from "../support/properties.js";
import { readPicture } from "../support/svg.js";

const MATHS = libraryFile("dejavu-fonts-ttf/ttf/DejaVuMathTeXGyre.ttf");

/** A folder as of a system with one font for mathematical letters, and files that are no fonts. */
const folder = mkdtempSync(join(tmpdir(), "sidereal-fonts-"));
symlinkSync(MATHS, join(folder, "maths.ttf"));
writeFileSync(join(folder, "broken.ttf"), "not a font");
writeFileSync(join(folder, "short.otf"), Buffer.from("OTTO\0\xff\0\0\0\0\0\0", "latin1"));
writeFileSync(join(folder, "empty.ttc"), "");
after(() => rmSync(folder, { recursive: true }));

const bundled = new Fonts([]);
const withMaths = new Fonts([join(folder, "none"), folder]);
const system = new Fonts();

const SCRIPTS = {
  Chinese: "中文仓库说明",
  Japanese: "日本語のリポジトリ",
  Korean: "한국어 저장소",
  Arabic: "مستودع عربي",
  Hebrew: "מאגר עברי",
  Devanagari: "हिन्दी दुनिया क्षेत्र",
  Thai: "ภาษาไทย ที่นี่",
  Emoji: "fast 🚀 server 😀 👩‍💻 🇯🇵",
  "Private use": "a\uE000b\u{F8FF}c\u{10FFFD}",
  Mixed: "Hello नमस्ते বাংলা, 日本 и мир שלום",
  "Many marks": `a${"\u0301".repeat(3)}b`,
} as const;

type Facts = Parameters<typeof repositoryCard>[0];
const UNKNOWN: CardInput = { gained: [], rank: null, points: [], asOf: null };
const cardSvg = (facts: Facts, fonts: Fonts, more: Partial<CardInput> = {}) =>
  drawRepositoryCard(repositoryCard(facts, { ...UNKNOWN, ...more }), fonts);

const textOf = (text: string, more = "") =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="900" height="60" viewBox="0 0 900 60"><text x="10" y="40"${more} font-size="32">${text}</text></svg>`;

/** Characters of a drawing that a font of theirs lacks: the renderer draws boxes for them. */
function boxesOf(svg: string, fontFiles: readonly string[]): string[] {
  const faces = fontFiles.map(readFace);
  return readPicture(svg).elements.flatMap(({ attributes, text }) => {
    const family = attributes["font-family"] ?? FONT_FAMILY;
    const own = faces.filter((face) => face.family === family);
    return [...text].filter((one) => !own.some((face) => face.has(one.codePointAt(0) ?? 0)));
  });
}

for (const [where, fonts] of Object.entries({
  "without fonts of the system": bundled,
  "with them": system,
})) {
  test(`${where}, no text in any script becomes boxes, and all of it that can be drawn is`, () => {
    for (const [script, text] of Object.entries(SCRIPTS)) {
      const drawing = withFonts(textOf(text), fonts);
      assert.deepEqual(boxesOf(drawing.svg, drawing.fontFiles), [], script);
      const shown = readPicture(drawing.svg)
        .texts.map((one) => one.text)
        .join("");
      assert.equal(shown.replaceAll(" ", ""), fonts.partOf(text).replaceAll(" ", ""), script);
      assert.doesNotMatch(shown, /\p{Co}/u);
    }
  });
}

test("hostile texts have no boxes either, and a drawing stays well-formed", () => {
  fc.assert(
    fc.property(hostileText(), (text) => {
      const facts = {
        provider: "GITHUB",
        fullName: text,
        description: text,
        language: text,
        stars: 1,
      } as const;
      const drawn = cardSvg(facts, system, { rank: text });
      const { svg, fontFiles } = withFonts(drawn, system);
      assert.deepEqual(boxesOf(svg, fontFiles), []);
    }),
    { numRuns: examples(500) },
  );
});

test("a character that the bundled font lacks is drawn with a font of the system, and only then is its file loaded", () => {
  const text = "𝒜 and then 𝓑";
  assert.equal(bundled.drawable(text), "and then");
  assert.equal(withMaths.drawable(text), text);
  const drawing = withFonts(textOf(text), withMaths);
  assert.deepEqual(
    readPicture(drawing.svg).elements.flatMap(({ name, attributes: { "font-family": family }, text: one }) =>
      name === "text" ? [[family, one]] : [],
    ),
    [
      ["DejaVu Math TeX Gyre", "𝒜"],
      [FONT_FAMILY, "and then"],
      ["DejaVu Math TeX Gyre", "𝓑"],
    ],
  );
  assert.equal(drawing.fontFiles.length, 3);
  assert.equal(withFonts(textOf("Привет, שלום"), withMaths).fontFiles.length, 2);
  // It is really drawn: the renderer finds the face by this name.
  const ink = (files: readonly string[]) => {
    const font = { loadSystemFonts: false, fontFiles: [...files], defaultFontFamily: FONT_FAMILY };
    return new Resvg(withFonts(textOf("𝒜"), withMaths).svg, { font }).innerBBox()?.width ?? 0;
  };
  assert.ok(ink(drawing.fontFiles) > 10);
});

test("texts of several fonts keep their anchor", () => {
  const place = (anchor: string) =>
    readPicture(
      withFonts(textOf("𝒜 and then 𝓑", ` text-anchor="${anchor}"`).replace('x="10"', 'x="800"'), withMaths)
        .svg,
    );
  const end = place("end").texts;
  const width = withMaths.measure("𝒜 and then 𝓑", 32, "plain");
  assert.ok(Math.abs((end[0]?.box.left ?? 0) - (800 - width)) < 1);
  assert.ok(Math.abs((place("middle").texts[0]?.box.left ?? 0) - (800 - width / 2)) < 1);
});

test("a text of which little can be drawn is not shown, and a name is never left out entirely", () => {
  assert.equal(bundled.drawable("fast 🚀 server"), "fast server");
  assert.equal(bundled.drawable("日本語の説明文"), undefined);
  assert.equal(bundled.drawable("Ελληνικά, русский, עברית"), "Ελληνικά, русский, עברית");
  const of = (fullName: string, description: string | null = null) =>
    readPicture(
      cardSvg({ provider: "GITHUB", fullName, description, language: "🚀", stars: null }, bundled),
    ).texts.map(({ text }) => text);
  assert.ok(of("所有者/名前-kite").includes("-kite…"));
  assert.ok(of("acme/名前").includes("GitHub · acme"));
  assert.ok(of("所有者/名前").includes("GitHub · …"));
  assert.ok(!of("acme/kite", "日本語の説明文").some((text) => /日/.test(text)));
});

test("widths are those of the font's own tables", () => {
  // Advance widths of DejaVu Sans, in 2048ths: "i" 569, "M" 1767.
  assert.equal(bundled.measure("iM", 2_048, "plain"), 569 + 1_767);
  assert.ok(bundled.measure("iM", 10, "bold") > bundled.measure("iM", 10, "plain"));
});

const hasFonts = system.drawable("日한हไ") !== undefined;
test("a machine with fonts for these scripts draws them", { skip: !hasFonts }, () => {
  for (const script of ["Japanese", "Korean", "Devanagari", "Thai"] as const)
    assert.equal(system.drawable(SCRIPTS[script]), SCRIPTS[script]);
});
