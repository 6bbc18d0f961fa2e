import assert from "node:assert/strict";
import { test } from "node:test";
import { BADGE_COLOURS, drawBadge, type Tone } from "../../src/charts/badge.js";
import { Fonts } from "../../src/charts/fonts.js";
import { contrast } from "../support/colours.js";
import { checkTexts, readPicture } from "../support/svg.js";

const fonts = new Fonts([]);
const draw = (label: string, message: string) =>
  readPicture(drawBadge({ label, message, tone: "plain", title: "a", theme: "auto" }));

test("text on badges has enough contrast, in light and dark", () => {
  for (const { label, onLabel, ink, tones } of Object.values(BADGE_COLOURS)) {
    assert.ok(contrast(onLabel, label) >= 4.5);
    for (const [tone, colour] of Object.entries(tones) as [Tone, string][])
      assert.ok(contrast(ink, colour) >= 4.5, `${tone}: ${contrast(ink, colour)}`);
  }
});

test("texts of known widths have the length that they have in DejaVu Sans", () => {
  const every = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).filter(
    (one) => one !== " ",
  );
  for (const text of [...every, "trending #12 · 7 days", "−1,234 ± 5 – …"]) {
    const { elements } = draw(`x${text}x`, "y");
    const shown = elements.find((one) => one.text === `x${text}x`);
    const width = fonts.measure(`x${text}x`, 11, "plain");
    assert.ok(Math.abs(Number(shown?.attributes.textLength) - width) < 0.15, `${text}: ${width}`);
  }
});

test("texts in other scripts have no fixed length, and are in the middle of the room that they may need", () => {
  for (const text of ["我们的星", "نجوم المستودع", "सितारे", "ดาว", "⭐️ stars", "별"]) {
    const picture = draw(text, "1,234");
    checkTexts(picture);
    const label = picture.elements.find((one) => one.text === text);
    assert.equal(label?.attributes.textLength, undefined);
    assert.equal(label?.attributes["text-anchor"], "middle");
  }
});

test("words in other scripts have at least the room that they take in DejaVu Sans", () => {
  const words = [
    ...["Русский ЖШЩ", "Звёзды за месяц", "Ελληνικά ΩΦΨ", "Αστέρια", "כוכבים בשבוע", "نجوم المستودع"],
    ...["Ստեղծված", "ვარსკვლავი", "Škoda čeština", "Tiếng Việt", "Ďakujem ŒÆ"],
  ];
  for (const word of words) {
    const { width } = draw(word, "");
    const room = width - (7 + 15 + 7) - (7 + 7);
    assert.ok(room >= fonts.measure(word, 11, "plain"), `${word}: ${room}`);
  }
});

test("a message that is too long is cut, and a badge stays narrower than a column of a README", () => {
  const picture = draw("l".repeat(200), "m".repeat(900));
  assert.ok(picture.width <= 720, String(picture.width));
  checkTexts(picture);
});
