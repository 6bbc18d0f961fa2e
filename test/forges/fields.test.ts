import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import {
  count,
  fullName,
  homepage,
  id,
  label,
  orNull,
  parseRecord,
  parseRecords,
  text,
  time,
  topics,
  webUrl,
} from "../../src/forges/fields.js";
import { isHomepage } from "../../src/repositories/record-rules.js";
import { examples, fc } from "../support/properties.js";

const read = <T extends z.ZodType>(type: T, value: unknown) => orNull(type).parse(value);

test("counts and ids are integers", () => {
  for (const value of [0, 1, 1e12]) assert.equal(read(count, value), value);
  for (const value of [-1, 0.5, 1e12 + 1, 2 ** 53, Number.NaN, "1", true, null, undefined, {}, [1]]) {
    assert.equal(read(count, value), null);
  }
  for (const value of [1, "1", "9007199254740993"]) assert.equal(read(id, value), String(value));
  for (const value of [0, -1, 2 ** 53, "", "01", "1e3", "x", "1/../2", null, {}])
    assert.equal(read(id, value), null);
});

test("a homepage keeps its form if it has no scheme, and anything but an address is dropped", () => {
  for (const value of [
    "www.gradle.org",
    "developer.github.com/v3",
    "example.org:8080/a?b#c",
    "bücher.example",
  ]) {
    assert.equal(read(homepage, value), value);
    assert.ok(isHomepage(value));
  }
  assert.equal(read(homepage, " HTTPS://Example.ORG/a "), "https://example.org/a");
  for (const value of [
    "",
    "wiki",
    "See the wiki.",
    "//example.org",
    "javascript:alert(1)",
    "javascript.x:alert(1)",
    "data:text/html,x.y",
    "mailto:someone@example.org",
    "user:password@example.org",
    "someone@example.org",
    "https://user:password@example.org/",
    "example.org/a b",
    "example.org\u0000",
    "\\\\example.org",
    `example.org/${"x".repeat(2_000)}`,
    1,
    null,
  ]) {
    assert.equal(read(homepage, value), null, String(value));
  }
});

test("texts are cut to a maximum length, without control characters", () => {
  assert.equal(read(text, " a\u0000b\n\u009fc "), "a b c");
  assert.equal(read(text, " \u0000\n"), null);
  assert.equal(read(text, "x".repeat(20_000))?.length, 10_000);
  assert.equal(read(text, `${"x".repeat(9_999)}😀`), "x".repeat(9_999), "no half of a character");
  assert.equal(read(label, "x".repeat(101)), null);
});

test("topics are unique labels, at most a hundred", () => {
  assert.deepEqual(read(topics, ["a", "a", 1, null, {}, "", "x".repeat(101), "b"]), ["a", "b"]);
  assert.equal(
    read(
      topics,
      Array.from({ length: 500 }, (_, i) => `t${i}`),
    )?.length,
    100,
  );
  assert.equal(read(topics, "a"), null);
});

test("only web addresses are accepted", () => {
  assert.equal(read(webUrl, " HTTPS://Example.ORG/a b "), "https://example.org/a%20b");
  for (const value of [
    "javascript:alert(1)",
    "data:text/html,x",
    "//example.org",
    "example.org",
    "",
    "ftp://a/b",
  ]) {
    assert.equal(read(webUrl, value), null, value);
  }
  for (const value of [
    "https://user:pass@example.org/",
    `https://example.org/${"x".repeat(2_000)}`,
    1,
    null,
  ]) {
    assert.equal(read(webUrl, value), null, String(value));
  }
});

test("times need a zone and must be plausible", () => {
  assert.equal(read(time, "2009-12-10T13:41:49-08:00"), Date.UTC(2009, 11, 10, 21, 41, 49));
  assert.equal(read(time, "2012-10-15T17:26:53.123Z"), Date.UTC(2012, 9, 15, 17, 26, 53, 123));
  for (const value of [
    "0001-01-01T00:00:00Z",
    "1970-01-01T01:00:00+01:00",
    "9999-01-01T00:00:00Z",
    "2020-01-01",
  ]) {
    assert.equal(read(time, value), null, value);
  }
  for (const value of ["2020-13-01T00:00:00Z", "2020-01-01T00:00:00", "yesterday", "", 0, 1e12, null]) {
    assert.equal(read(time, value), null, String(value));
  }
});

test("names are split at the last slash and contain no path tricks", () => {
  assert.deepEqual(read(fullName, "a/b/c.d"), { owner: "a/b", name: "c.d" });
  for (const value of [
    "a",
    "/a",
    "a/",
    "a//b",
    "../b",
    "a/..",
    "a/b c",
    "a/b?c",
    "a/%2e",
    "a\\b/c",
    "a/\u0000",
    1,
  ]) {
    assert.equal(read(fullName, value), null, String(value));
  }
});

test("any document yields values of the right type, bounded and storable", () => {
  const record = z.object({
    id,
    fullName,
    stars: count,
    text: orNull(text),
    label: orNull(label),
    topics: orNull(topics),
    url: orNull(webUrl),
    time: orNull(time),
  });
  const hostile = fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.string({ unit: fc.constantFrom("a", "/", "\ud800", "\udc00", "\u0000", "é", "😀"), maxLength: 300 }),
    fc.array(fc.string(), { maxLength: 200 }),
    fc.double(),
    fc.anything(),
  );
  const right = { id: 1, fullName: "a/b", stars: 1 };
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.constantFrom("id", "fullName", "stars", "text", "label", "topics", "url", "time"),
        hostile,
      ),
      (fields) => {
        const document = { ...right, ...fields };
        Object.defineProperty(document, "__proto__", { value: { stars: 99, admin: true }, enumerable: true });
        const found = record.safeParse(document).data;
        if (found === undefined) return;
        assert.deepEqual(Object.keys(found).toSorted(), [
          "fullName",
          "id",
          "label",
          "stars",
          "text",
          "time",
          "topics",
          "url",
        ]);
        assert.equal(Object.getPrototypeOf(found), Object.prototype);
        assert.ok(Number.isSafeInteger(found.stars) && found.stars >= 0);
        assert.match(found.id, /^[1-9]\d*$/);
        const texts = [found.text, found.label, found.url, found.fullName.owner, found.fullName.name];
        for (const value of [...texts, ...(found.topics ?? [])].filter((value) => value !== null)) {
          assert.ok(value.isWellFormed() && value.length > 0 && value.length <= 10_000);
          assert.doesNotMatch(value, /\p{Cc}/u);
        }
      },
    ),
    { numRuns: examples(500) },
  );
});

test("invalid records are left out of a list, and a long list without a valid one is malformed", () => {
  const type = z.object({ id });
  assert.deepEqual(parseRecords(type, [{ id: 1 }, {}, null, 7, { id: "x" }, { id: 2, more: 1 }]), [
    { id: "1" },
    { id: "2" },
  ]);
  assert.deepEqual(parseRecords(type, []), []);
  assert.deepEqual(parseRecords(type, [{}, null]), []);
  for (const documents of [
    Array(11).fill({}),
    {},
    null,
    "[]",
    Array.from({ length: 1001 }, () => ({ id: 1 })),
  ]) {
    assert.throws(() => parseRecords(type, documents), { kind: "malformed" });
  }
});

test("an invalid record is malformed, and the message names the field but not the value", () => {
  assert.throws(
    () => parseRecord(z.object({ id, stars: count }), { id: "geheim", stars: 1 }),
    (error) => error instanceof Error && /: id$/.test(error.message) && !/geheim/.test(error.message),
  );
});
