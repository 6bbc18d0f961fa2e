import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TOKENS } from "../../src/web/styles/tokens.js";
import { contrast } from "../support/colours.js";

/** The colours of one of the two looks, by token. */
function colours(css: string): Map<string, string> {
  return new Map(
    [...css.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map((match) => [match[1] ?? "", match[2] ?? ""]),
  );
}

const [light = "", dark = ""] = TOKENS.split("@media (prefers-color-scheme: dark)");
const LOOKS = { light: colours(light), dark: colours(dark) };

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
