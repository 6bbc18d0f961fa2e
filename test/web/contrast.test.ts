import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { COLOURS, TOKENS } from "../../src/web/styles/tokens.js";
import { contrast } from "../support/colours.js";

const LOOKS = {
  light: new Map<string, string>(Object.entries(COLOURS.light)),
  dark: new Map<string, string>(Object.entries(COLOURS.dark)),
};

describe("The colours", () => {
  test("have the same tokens in light and dark", () => {
    assert.ok(LOOKS.light.size > 15);
    assert.deepEqual([...LOOKS.light.keys()].sort(), [...LOOKS.dark.keys()].sort());
  });

  test("are dark for readers who chose dark, or whose system is dark and who did not choose light", () => {
    const rules = [...TOKENS.matchAll(/(:root[^{]*)\{([^}]*)\}/g)].map(([, selector = "", body = ""]) => ({
      selector: selector.trim(),
      paper: /--paper: ?(#\w+)/.exec(body)?.[1],
      scheme: /color-scheme: ([a-z ]+);/.exec(body)?.[1],
    }));
    const { paper: light } = COLOURS.light;
    const { paper: dark } = COLOURS.dark;
    assert.deepEqual(rules, [
      { selector: ":root", paper: light, scheme: "light dark" },
      { selector: ':root[data-theme="light"]', paper: undefined, scheme: "light" },
      { selector: ':root[data-theme="dark"]', paper: dark, scheme: "dark" },
      { selector: ':root:not([data-theme="light"])', paper: dark, scheme: undefined },
    ]);
  });

  for (const [name, look] of Object.entries(LOOKS)) {
    const check = (text: string, ground: string, least: number) => {
      const ratio = contrast(look.get(text) ?? "", look.get(ground) ?? "");
      assert.ok(ratio >= least, `--${text} on --${ground}, ${name}: ${ratio.toFixed(2)}`);
    };
    test(`of text have enough contrast on every background, ${name}`, () => {
      for (const ground of ["paper", "card", "sunk", "note", "bar"])
        for (const text of ["ink", "soft", "link"]) check(text, ground, 4.5);
      for (const ground of ["paper", "card", "note", "done"])
        for (const text of ["ink", "soft", "link", "star", "rise", "fall"]) check(text, ground, 4.5);
      check("on-press", "press", 4.5);
      // Initials of owners.
      for (let line = 1; line <= 6; line++) check("on-press", `chart-${line}`, 4.5);
    });
    test(`of lines and edges have enough contrast, ${name}`, () => {
      for (const ground of ["paper", "card"])
        for (let line = 1; line <= 6; line++) check(`chart-${line}`, ground, 3);
    });
  }
});
