import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanText, isHomepage, isTopic, splitFullName } from "../../src/repositories/record-rules.js";
import { examples, fc } from "../support/properties.js";

const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
  fc.string({
    unit: fc.constantFrom("a", " ", "\u0301", "\u202E", "\u2067", "\n", "\uFFFE", "😀", "\uD83D"),
  }),
);

test("a text is stored without control characters and well-formed, and nothing in it reverses what is shown around it", () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 1, max: 40 }), (text, length) => {
      const clean = cleanText(text, length) ?? "";
      assert.ok(clean.length <= length && clean.isWellFormed() && clean === clean.trim());
      assert.doesNotMatch(clean, /[\p{Cc}\p{NChar}\u202A-\u202E\u2066-\u2069]|\p{M}{9}/u);
      assert.equal(cleanText(clean, length) ?? "", clean, "it is stored unchanged the next time");
    }),
    { numRuns: examples(5_000) },
  );
  assert.equal(cleanText("a\u0085b\u0000\tc", 100), "a b c");
  assert.equal(cleanText("\u202Eexe.gnp\u2066 x\u2069", 100), "exe.gnp x");
  assert.equal(cleanText("\u202E\uFFFF ", 100), null);
});

test("marks of scripts and emoji stay; a flood of marks does not", () => {
  const texts = [
    "Tiếng Việt".normalize("NFD"),
    "שָׁלוֹם עֲלֵיכֶם",
    "👩‍👩‍👧‍👦🏳️‍🌈👍🏽",
    "ༀརྒྱ",
    "\u200Fשלום\u200E",
    "क्षत्रिय",
  ];
  for (const text of texts) assert.equal(cleanText(text, 100), text);
  assert.equal(cleanText(`z${"\u0300".repeat(500)}o`, 1_000), `z${"\u0300".repeat(8)}o`);
});

test("names and topics that would be stored differently are refused", () => {
  for (const text of ["a\u202Eb", "a\u2066", "\uFFFE", `z${"\u0300".repeat(9)}`, "\uD83D", "a\u0000"]) {
    assert.equal(isTopic(text), false, JSON.stringify(text));
    assert.equal(splitFullName(`owner/${text}`), undefined, JSON.stringify(text));
  }
  for (const text of ["שלום", "日本語", "=1+1", "constructor", "<script>", `z${"\u0300".repeat(8)}`]) {
    assert.equal(isTopic(text), true, text);
    assert.deepEqual(splitFullName(`owner/${text}`), { owner: "owner", name: text });
  }
});

test("a homepage has no scheme, or that of the web", () => {
  for (const text of [
    "https://example.org/a",
    "HTTP://x",
    "example.org",
    "example.org:8080/x",
    "see the wiki",
  ])
    assert.equal(isHomepage(text), true, text);
  for (const text of [
    "javascript:alert(1)",
    " JavaScript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,x",
    "data:1",
    "vbscript:x",
    "file:///etc/passwd",
  ])
    assert.equal(isHomepage(text), false, text);
});
