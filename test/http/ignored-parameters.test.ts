import assert from "node:assert/strict";
import { test } from "node:test";
import { prefersCsv } from "../../src/http/message.js";
import { ignoredParameters } from "../../src/http/targets.js";
import { fc } from "../support/properties.js";

const KNOWN = ["q", "language", "sort", "order", "limit", "page", "cursor", "window", "format", "minStars"];

test("unknown parameters are listed once each, with the nearest known name", () => {
  for (const [given, expected] of [
    [[], undefined],
    [["q", "limit"], undefined],
    [["per_page"], '"per_page";nearest="limit"'],
    [["langauge", "langauge"], '"langauge";nearest="language"'],
    [["Language"], '"Language";nearest="language"'],
    [["language[]"], '"language%5B%5D";nearest="language"'],
    [["direction", "limit", "utm_source"], '"direction";nearest="order", "utm_source"'],
    [["minstars"], '"minstars";nearest="minStars"'],
    [[""], '""'],
    [['a"b\r\nSet-Cookie: x'], '"a%22b%0D%0ASet-Cookie%3A%20x"'],
    [["\ud800"], '"%EF%BF%BD"'],
  ] as const)
    assert.equal(ignoredParameters(given, KNOWN), expected, JSON.stringify(given));
  assert.equal(ignoredParameters(["per_page"], ["window"]), '"per_page"', "a route without limit");
});

test("the header is printable, short, and has at most five names, whatever they are", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", maxLength: 80 }), { maxLength: 12 }), (names) => {
      const header = ignoredParameters(names, KNOWN) ?? "";
      assert.match(header, /^[\x20-\x7e]*$/);
      assert.ok(header.length <= 5 * 70, header);
      assert.ok(header.split(", ").length <= 5);
    }),
  );
});

test("a caller that names text/csv, and no other format above it, gets CSV", () => {
  for (const [accept, expected] of [
    [undefined, false],
    ["*/*", false],
    ["application/json", false],
    ["text/csv", true],
    ["TEXT/CSV; charset=utf-8", true],
    ["text/csv, */*", true],
    ["text/csv, */*;q=0.1", true],
    ["text/csv, application/json", false],
    ["text/csv, application/json;q=0.9", true],
    ["text/csv;q=0.5, application/json;q=0.9", false],
    ["text/csv;q=0.5, */*", false],
    ["text/csv;q=0", false],
    ["text/csv;q=x", true],
    ["text/html, application/xhtml+xml, */*;q=0.8", false],
  ] as const)
    assert.equal(prefersCsv(accept), expected, accept);
});
