import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { documentOf, queryWords, type Texts, wordsOf } from "../../../src/discovery/words.js";
import { examples, fc } from "../../support/properties.js";

describe("The words of a text", () => {
  for (const [what, text, words] of [
    [
      "are split at everything that is neither letter nor digit",
      "a_b-c.d/e f,g",
      ["a", "b", "c", "d", "e", "f", "g"],
    ],
    [
      "are in small letters, without accents",
      "Café ÀÉÎ Ångström naïve",
      ["cafe", "aei", "angstrom", "naive"],
    ],
    ["are the same however an accent is written", "e\u0301 \u00e9", ["e", "e"]],
    ["are folded to what they are compatible with", "ﬁle Ｆｕｌｌ ①② ㎏", ["file", "full", "12", "kg"]],
    ["tell C, C++ and C# apart", "C C++ c# F#, g++.", ["c", "c++", "c#", "f#", "g++"]],
    ["do not begin with + or #", "+1 #tag ++ #", ["1", "tag"]],
    [
      "are single characters where a script has no spaces",
      "深度学习 カナ x学y",
      ["深", "度", "学", "习", "カ", "ナ", "x", "学", "y"],
    ],
    [
      "are whole where a script has spaces",
      "한국어 처리 русский עברית",
      ["한국어", "처리", "русскии", "עברית"],
    ],
    ["may be emoji-free: there is nothing to look for in one", "🚀 to 🌙", ["to"]],
    ["keep digits", "python3 2026 v1.2", ["python3", "2026", "v1", "2"]],
    ["may be none", " \t\n-–—!?\u0000", []],
  ] as const) {
    test(what, () => assert.deepEqual(wordsOf(text), words));
  }

  test("are bounded in number and length, and no character is cut in half", () => {
    assert.equal(wordsOf("a ".repeat(1_000)).length, 200);
    assert.deepEqual(wordsOf("x".repeat(100)), ["x".repeat(40)]);
    assert.deepEqual(wordsOf(`${"x".repeat(39)}𐌰𐌱`), ["x".repeat(39)]);
  });

  test("of any text are words again, and mean nothing else to either engine", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 80 }), (text) => {
        for (const word of wordsOf(text)) {
          assert.match(word, /^[\p{L}\p{N}]+[+#]*$/u);
          assert.deepEqual(wordsOf(word), [word]);
          assert.ok(word.length <= 40 && word.isWellFormed());
        }
      }),
      { numRuns: examples(2_000) },
    );
  });
});

describe("The words of a query", () => {
  test("are counted once each, and at most eight", () => {
    assert.deepEqual(queryWords("Go go GO"), ["go"]);
    assert.deepEqual(queryWords("a b c d e f g h i j"), ["a", "b", "c", "d", "e", "f", "g", "h"]);
    assert.deepEqual(queryWords(' "" '), []);
  });
});

describe("A repository", () => {
  const document = (owner: string, name: string, more: Partial<Texts> = {}) => {
    const texts = { owner, name, description: null, topics: [], language: null, ...more };
    const { whole, names, terms } = documentOf(texts);
    const seen = new Set(["", whole]);
    const counting = (words: readonly string[]) =>
      words.filter((word) => {
        const isFirst = !seen.has(word);
        seen.add(word);
        return isFirst;
      });
    return { whole, names: counting(names), terms: counting(terms) };
  };
  const names = (fullName: string) => {
    const [owner = "", name = ""] = fullName.split("/");
    const { whole, names: others } = document(owner, name);
    return [whole, ...others];
  };

  test("is found by its name as written, by its parts, and as one word", () => {
    assert.deepEqual(names("vercel/next.js"), ["nextjs", "next", "js", "vercel"]);
    assert.deepEqual(names("o/TypeScriptCompiler2Go"), [
      "typescriptcompiler2go",
      "type",
      "script",
      "compiler2",
      "go",
      "o",
    ]);
    assert.deepEqual(names("o/XMLHttpRequest"), ["xmlhttprequest", "xml", "http", "request", "o"]);
    assert.deepEqual(names("深度/学习"), ["学习", "学", "习", "深度", "深", "度"]);
  });

  test("is also found by its group, description, topics and language, each word once", () => {
    const {
      whole,
      names: own,
      terms,
    } = document("group/sub-group", "app", {
      description: "An app, the app",
      topics: ["machine-learning", "c-plus-plus"],
      language: "C++",
    });
    assert.equal(whole, "app");
    assert.deepEqual(own, ["groupsubgroup", "group", "sub"]);
    assert.deepEqual(terms, [
      "c++",
      "an",
      "the",
      "machinelearning",
      "machine",
      "learning",
      "cplusplus",
      "c",
      "plus",
    ]);
  });

  test("of any name and description has only words that can be searched for", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (name, description) => {
        const { whole, names: others, terms } = document("o", name, { description });
        const own = whole === "" ? others : [whole, ...others];
        for (const word of [...own, ...terms]) assert.deepEqual(word.includes(" ") || word === "", false);
        for (const word of wordsOf(name)) assert.ok(own.includes(word));
      }),
    );
  });
});
