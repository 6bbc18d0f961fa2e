import assert from "node:assert/strict";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Resvg } from "@resvg/resvg-js";
import { drawBadge } from "../../src/charts/badge.js";
import { FONT_FAMILY, Fonts, readFace, withFonts } from "../../src/charts/fonts.js";
import { estimateWidth, type FaceName, fit, graphemes, plainText } from "../../src/charts/markup.js";
import { drawNotice } from "../../src/charts/picture-young.js";
import { libraryFile } from "../../src/lib/package-files.js";
import { hostileText } from "../support/hostile-texts.js";
import { temporaryFolder } from "../support/imports.js";
import { examples, fc } from "../support/properties.js";
import { checkTexts, readPicture } from "../support/svg.js";

/** A folder as of a system with one font for mathematical letters, and files that are no fonts. */
const folder = temporaryFolder();
symlinkSync(libraryFile("dejavu-fonts-ttf/ttf/DejaVuMathTeXGyre.ttf"), join(folder, "maths.ttf"));
writeFileSync(join(folder, "broken.ttf"), "not a font");
writeFileSync(join(folder, "short.otf"), Buffer.from("OTTO\0\xff\0\0\0\0\0\0", "latin1"));
writeFileSync(join(folder, "empty.ttc"), "");

const bundled = new Fonts([]);
const withMaths = new Fonts([join(folder, "none"), folder]);
const system = new Fonts();
const FACES: readonly FaceName[] = ["sans", "bold", "serif", "serif-bold"];

/**
 * Names with the widths that they have, plain and bold, in the widest of Noto Sans, Noto Serif and their fonts of the script, by
 * a shaping engine; of emoji in those of Windows.
 */
const NAMES: readonly [script: string, name: string, plain: number, bold: number][] = [
  ["Arabic", "acme/مستودع-البيانات", 12.26, 13.63],
  ["Hebrew", "acme/מאגר-נתונים", 7.99, 8.53],
  ["Thai", "acme/คลังข้อมูลที่นี่", 8.25, 8.66],
  ["Devanagari", "acme/हिन्दी-क्षेत्र", 7.46, 8.1],
  ["Bengali", "acme/বাংলা-ভান্ডার", 8.49, 9.11],
  ["Tamil", "acme/தமிழ்-களஞ்சியம்", 11.54, 12.34],
  ["Han", "acme/观测数据可视化工具", 11.95, 12.05],
  ["Kana", "acme/リポジトリのかな", 10.95, 11.05],
  ["Hangul", "acme/한국어-저장소", 8.81, 8.94],
  ["Georgian", "acme/ვარსკვლავი", 9.22, 9.72],
  ["Armenian", "acme/Աստղադիտարան", 11.89, 12.65],
  ["Greek", "acme/Αστεροσκοπείο-ΩΦΨ", 12.88, 13.81],
  ["Cyrillic", "acme/Обсерватория-ЖШЩ", 13.35, 14.07],
  ["Ethiopic", "acme/የኮከብ-ማከማቻ", 8.9, 9.71],
  ["Khmer", "acme/ឃ្លាំងទិន្នន័យខ្មែរ", 11.14, 11.91],
  ["Joined emoji", "acme/👩‍👩‍👧‍👦-👩🏽‍💻", 6.06, 6.3],
  ["Flags", "acme/🇯🇵🇰🇪🇧🇷-🏴󠁧󠁢󠁳󠁣󠁴󠁿", 8.86, 9.1],
  ["Marks", "acme/Z̈ȧl̃g̊o-ṩtärs", 8.14, 8.65],
  ["Zero width", "acme/zero\u200Bwid\u200Cth\u2060-\u00ADname", 10.58, 11.28],
  ["Overrides", "acme/\u202Egpj.\u2066exe\u2069\u0007\u0000", 6.29, 6.68],
];

const textOf = (text: string, more = "") =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="900" height="60" viewBox="0 0 900 60"><text x="10" y="40"${more} font-size="32">${text}</text></svg>`;

/** The text of a drawing as PNG. Fails if a font of a text lacks one of its characters: the renderer draws boxes for them. */
function checkBoxes(drawing: string, fonts: Fonts): string {
  const { svg, fontFiles } = withFonts(drawing, fonts);
  const faces = fontFiles.map(readFace);
  const { elements, texts } = readPicture(svg);
  for (const { attributes, text } of elements.filter(({ name }) => name === "text")) {
    const own = faces.filter(({ family }) => family === (attributes["font-family"] ?? FONT_FAMILY));
    for (const one of text)
      assert.ok(
        own.some((face) => face.has(one.codePointAt(0) ?? 0)),
        `${one} of ${text}`,
      );
  }
  return texts.map(({ text }) => text).join("");
}

for (const [script, name, plain, bold] of NAMES)
  test(`a name in a script: ${script}`, () => {
    const shown = plainText(name);
    assert.doesNotMatch(shown, /[\p{Cc}\u202A-\u202E\u2066-\u2069]/u);
    for (const face of FACES) {
      const width = estimateWidth(shown, 1, face);
      const real = Math.max(/bold/.test(face) ? bold : plain, bundled.measure(shown, 1, face));
      assert.ok(width >= real - 0.01, `${face}: ${width} for ${real}`);
    }
    const parts = graphemes(shown);
    const starts = new Set(parts.map((_, i) => parts.slice(0, i).join("").trimEnd()));
    for (let width = 1; width < estimateWidth(shown, 1); width += 0.25) {
      const cut = fit(name, { size: 1, width });
      assert.ok(cut.endsWith("…") && starts.has(cut.slice(0, -1)), cut);
      assert.ok(estimateWidth(cut, 1) <= width, `${cut} in ${width}`);
    }
    for (const drawing of [
      drawBadge({ label: name, message: name, tone: "plain", title: name, theme: "auto" }),
      drawNotice(name, name, { theme: "light", width: 480, height: 96 }),
    ]) {
      checkTexts(readPicture(drawing));
      for (const fonts of [bundled, system]) assert.match(checkBoxes(drawing, fonts), /acme\//);
    }
    for (const fonts of [bundled, system]) {
      const prose = checkBoxes(textOf(shown, ` class="chart-prose"`), fonts).replaceAll(" ", "");
      const letters = (text: string) => text.match(/\p{L}/gu)?.length ?? 0;
      assert.ok(prose === "" || letters(prose) === letters(shown), `whole or not at all: ${prose}`);
    }
  });

test("no text becomes boxes, whatever it is", () => {
  fc.assert(
    fc.property(hostileText(), (text) => {
      for (const fonts of [bundled, system])
        assert.doesNotMatch(
          checkBoxes(drawNotice(text, text, { theme: "dark", width: 480, height: 96 }), fonts),
          /\p{Co}/u,
        );
    }),
    { numRuns: examples(300) },
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
  assert.equal(drawing.fontFiles.length, 5);
  assert.equal(withFonts(textOf("Привет, שלום"), withMaths).fontFiles.length, 4);
  // It is really drawn: the renderer finds the face by this name.
  const font = { loadSystemFonts: false, fontFiles: [...drawing.fontFiles], defaultFontFamily: FONT_FAMILY };
  const ink = new Resvg(withFonts(textOf("𝒜"), withMaths).svg, { font }).innerBBox()?.width ?? 0;
  assert.ok(ink > 10);
  const width = withMaths.measure(text, 32, "sans");
  for (const [anchor, left] of [
    ["end", 800 - width],
    ["middle", 800 - width / 2],
  ] as const) {
    const anchored = textOf(text, ` text-anchor="${anchor}"`).replace('x="10"', 'x="800"');
    const [first] = readPicture(withFonts(anchored, withMaths).svg).texts;
    assert.ok(Math.abs((first?.box.left ?? 0) - left) < 1, anchor);
  }
});

test("parts of a text keep their looks, in the serif if it has their characters", () => {
  const parts = `<tspan class="a" font-weight="700">Ελ</tspan> and <tspan class="b">שלום</tspan>`;
  const { svg } = withFonts(textOf(parts, ` class="m chart-serif"`), bundled);
  assert.deepEqual(
    readPicture(svg)
      .elements.slice(1)
      .map(({ attributes: of, text }) => [text, of["font-family"], of.class, of["font-weight"]]),
    [
      ["Ελ", "DejaVu Serif", "a", "700"],
      ["and", "DejaVu Serif", "m", undefined],
      ["שלום", FONT_FAMILY, "b", undefined],
    ],
  );
});

test("a text that can hardly be drawn is not shown, and a name is never left out entirely", () => {
  assert.equal(bundled.drawable("fast 🚀 server"), "fast server");
  assert.equal(bundled.drawable("日本語の説明文"), undefined);
  assert.equal(bundled.readable("所有者/名前-kite"), "/-kite…");
  assert.equal(bundled.readable("所有者"), "…");
});
