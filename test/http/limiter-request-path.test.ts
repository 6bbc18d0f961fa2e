import assert from "node:assert/strict";
import { test } from "node:test";
import { createToken, storablePath, TOKEN_PREFIXES } from "../../src/lib/tokens.js";
import { fc } from "../support/properties.js";

test("a path is stored decoded, without its query, at most 200 characters long", () => {
  assert.equal(storablePath("/api/repos/github/a%20b/c?key=hidden#x"), "/api/repos/github/a b/c");
  assert.equal(storablePath("/api/%"), "/api/%");
  assert.equal(storablePath(`/${"x".repeat(5_000)}`).length, 200);
});

test("no token and no control character is stored, however it is written", () => {
  const encodings = [
    (text: string) => text,
    (text: string) => [...text].map((each) => `%${each.charCodeAt(0).toString(16)}`).join(""),
    (text: string) => [...text].map((each) => `%25${each.charCodeAt(0).toString(16)}`).join(""),
    (text: string) => `%00${text.slice(0, 2)}%0a${text.slice(2)}`,
  ];
  const path = fc.record({
    prefix: fc.constantFrom(...TOKEN_PREFIXES),
    encode: fc.constantFrom(...encodings),
    before: fc.constantFrom("/api/watchlists/", "/api/repos/", "/api/me/keys/x", `/${"y".repeat(190)}/`),
    after: fc.constantFrom("", "/items/7", "?q=1", "%0d%0aSet-Cookie:%20a"),
  });
  fc.assert(
    fc.property(path, ({ prefix, encode, before, after }) => {
      const token = createToken(prefix);
      const stored = storablePath(before + encode(token) + after);
      assert.ok(!stored.includes(token.slice(6, 16)), stored);
      assert.doesNotMatch(stored, /\p{C}/u);
      assert.ok(stored.length <= 200);
    }),
  );
  assert.equal(storablePath("/api/watchlists/mistyped-secret/items/7"), "/api/watchlists/…/items/7");
});
