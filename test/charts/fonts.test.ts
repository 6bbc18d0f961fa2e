import assert from "node:assert/strict";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Resvg } from "@resvg/resvg-js";
import { repositoryCard } from "../../src/charts/card.js";
import { drawCard } from "../../src/charts/card-drawing.js";
import { FONT_FAMILY, Fonts, readFace, withFonts } from "../../src/charts/fonts.js";
import { libraryFile } from "../../src/lib/package-files.js";
import { hostileText } from "../support/hostile-texts.js";
import { examples, fc } from "../support/properties.js";
import { readPicture } from "../support/svg.js";

/** A folder as of a system with one font for mathematical letters, and files that are no fonts. */
const folder = mkdtempSync(join(tmpdir(), "sidereal-fonts-"));
symlinkSync(libraryFile("dejavu-fonts-ttf/ttf/DejaVuMathTeXGyre.ttf"), join(folder, "maths.ttf"));
writeFileSync(join(folder, "broken.ttf"), "not a font");
writeFileSync(join(folder, "short.otf"), Buffer.from("OTTO\0\xff\0\0\0\0\0\0", "latin1"));
writeFileSync(join(folder, "empty.ttc"), "");
after(() => rmSync(folder, { recursive: true }));

const bundled = new Fonts([]);
const withMaths = new Fonts([join(folder, "none"), folder]);
const system = new Fonts();

const SCRIPTS = {
  ...{ Japanese: "日本語のリポジトリ", Korean: "한국어 저장소", Devanagari: "हिन्दी दुनिया क्षेत्र" },
  ...{ Thai: "ภาษาไทย ที่นี่", Arabic: "مستودع عربي", Hebrew: "מאגר עברי", Emoji: "fast 🚀 server 😀 👩‍💻 🇯🇵" },
  ...{ "Private use": "a\uE000b\u{F8FF}c\u{10FFFD}", "Many marks": `a${"\u0301".repeat(3)}b` },
  Mixed: "Hello नमस्ते বাংলা, 日本 и мир שלום",
};

function cardSvg(fullName: string, description: string | null, fonts: Fonts): string {
  const facts = { provider: "GITHUB", fullName, description, language: description, stars: null };
  return drawCard(
    repositoryCard(facts, { gained: [], rank: fullName, points: [], gaps: [], asOf: null }),
    fonts,
  );
}

const textOf = (text: string, more = "") =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="900" height="60" viewBox="0 0 900 60"><text x="10" y="40"${more} font-size="32">${text}</text></svg>`;

/** Fails if a font of a text lacks one of its characters: the renderer draws boxes for them. */
function checkBoxes(drawing: string, fonts: Fonts): string {
  const { svg, fontFiles } = withFonts(drawing, fonts);
  const faces = fontFiles.map(readFace);
  const { elements, texts } = readPicture(svg);
  for (const { attributes, text } of elements) {
    const own = faces.filter(({ family }) => family === (attributes["font-family"] ?? FONT_FAMILY));
    for (const one of text)
      assert.ok(
        own.some((face) => face.has(one.codePointAt(0) ?? 0)),
        `${one} of ${text}`,
      );
  }
  return texts.map(({ text }) => text).join("");
}

test("no text in any script becomes boxes, and all of it that can be drawn is", () => {
  for (const fonts of [bundled, system])
    for (const [script, text] of Object.entries(SCRIPTS)) {
      const shown = checkBoxes(textOf(text), fonts);
      assert.equal(shown.replaceAll(" ", ""), fonts.partOf(text).replaceAll(" ", ""), script);
      assert.doesNotMatch(shown, /\p{Co}/u);
    }
  fc.assert(
    fc.property(hostileText(), (text) => {
      checkBoxes(cardSvg(text, text, system), system);
    }),
    { numRuns: examples(500) },
  );
});

test("a character that is not in the bundled font is drawn with a font of the system, and only then is its file loaded", () => {
  const text = "𝒜 and then 𝓑";
  assert.equal(bundled.drawable(text), "and then");
  assert.equal(withMaths.drawable(text), text);
  const drawing = withFonts(textOf(text), withMaths);
  const shown = readPicture(drawing.svg).elements.filter(({ name }) => name === "text");
  assert.deepEqual(
    shown.map((one) => [one.attributes["font-family"], one.text]),
    [
      ["DejaVu Math TeX Gyre", "𝒜"],
      [FONT_FAMILY, "and then"],
      ["DejaVu Math TeX Gyre", "𝓑"],
    ],
  );
  assert.equal(drawing.fontFiles.length, 3);
  assert.equal(withFonts(textOf("Привет, שלום"), withMaths).fontFiles.length, 2);
  // It is really drawn: the renderer finds the face by this name.
  const font = { loadSystemFonts: false, fontFiles: [...drawing.fontFiles], defaultFontFamily: FONT_FAMILY };
  const ink = new Resvg(withFonts(textOf("𝒜"), withMaths).svg, { font }).innerBBox()?.width ?? 0;
  assert.ok(ink > 10);
  const width = withMaths.measure(text, 32, "plain");
  for (const [anchor, left] of [
    ["end", 800 - width],
    ["middle", 800 - width / 2],
  ] as const) {
    const anchored = textOf(text, ` text-anchor="${anchor}"`).replace('x="10"', 'x="800"');
    const [first] = readPicture(withFonts(anchored, withMaths).svg).texts;
    assert.ok(Math.abs((first?.box.left ?? 0) - left) < 1, anchor);
  }
});

test("a text that can hardly be drawn is not shown, and a name is never left out entirely", () => {
  assert.equal(bundled.drawable("fast 🚀 server"), "fast server");
  assert.equal(bundled.drawable("日本語の説明文"), undefined);
  assert.equal(bundled.drawable("Ελληνικά, русский, עברית"), "Ελληνικά, русский, עברית");
  const of = (fullName: string, description: string | null = null) =>
    readPicture(cardSvg(fullName, description, bundled)).texts.map(({ text }) => text);
  assert.ok(of("所有者/名前-kite").includes("-kite…"));
  assert.ok(of("acme/名前").includes("GitHub · acme"));
  assert.ok(of("所有者/名前").includes("GitHub ·…"));
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
