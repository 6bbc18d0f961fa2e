import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TOKENS } from "../../src/web/styles/tokens.js";

/** The colours of one of the two looks, by token. */
function colours(css: string): Map<string, string> {
  return new Map(
    [...css.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map((match) => [match[1] ?? "", match[2] ?? ""]),
  );
}

const [light = "", dark = ""] = TOKENS.split("@media (prefers-color-scheme: dark)");
const LOOKS = { light: colours(light), dark: colours(dark) };

/** Relative luminance (WCAG 2.2). */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((one, other) => one - other);
  return (high + 0.05) / (low + 0.05);
}

describe("The colours", () => {
  test("have the same tokens in light and dark", () => {
    assert.ok(LOOKS.light.size > 15);
    assert.deepEqual([...LOOKS.light.keys()].sort(), [...LOOKS.dark.keys()].sort());
  });

  for (const [name, look] of Object.entries(LOOKS)) {
    const check = (text: string, ground: string, least: number) => {
      const ratio = contrast(look.get(text) ?? "", look.get(ground) ?? "");
      assert.ok(ratio >= least, `--${text} on --${ground}, ${name}: ${ratio.toFixed(2)}`);
    };
    test(`of text have enough contrast on every background, ${name}`, () => {
      for (const ground of ["paper", "card", "sunk", "note", "bar"])
        for (const text of ["ink", "soft", "link"]) check(text, ground, 4.5);
      for (const ground of ["paper", "card", "note"])
        for (const text of ["star", "rise", "fall"]) check(text, ground, 4.5);
      check("on-press", "press", 4.5);
    });
    test(`of lines and edges have enough contrast, ${name}`, () => {
      for (const ground of ["paper", "card"])
        for (let line = 1; line <= 6; line++) check(`chart-${line}`, ground, 3);
    });
  }
});
