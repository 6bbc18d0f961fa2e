import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { withEmoji } from "../../src/web/components/numbers.js";

describe("Short names of emoji in descriptions", () => {
  test("are shown as emoji, and dropped if they are not known", () => {
    for (const [written, shown] of [
      [":books: Freely available books", "📚 Freely available books"],
      ["Fast :zap::rocket: and :heart:.", "Fast ⚡🚀 and ❤️."],
      ["(:+1: for this) :trollface: yes", "(👍 for this) yes"],
      [":octocat:", ""],
      [":constructor: :toString:", ":toString:"],
    ] as const)
      assert.equal(withEmoji(written), shown, written);
  });

  test("are not seen in code, times and addresses", () => {
    for (const text of [
      "Wraps std::io::Read",
      "At 10:30:00 sharp",
      "Note: this: that",
      "http://a:b:c@example.org/:id:",
      "a:star:b",
      "Two  spaces",
      ":ref:`x`",
    ])
      assert.equal(withEmoji(text), text.includes(":") ? text.replaceAll("  ", " ") : text, text);
  });

  test("a long text of colons is read, which takes minutes if each is tried to the end", () => {
    const long = `:${"a".repeat(50_000)} ${":x".repeat(50_000)}`;
    assert.equal(withEmoji(long), long);
  });
});
