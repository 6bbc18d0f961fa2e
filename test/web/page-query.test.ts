import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import { readQuery, readUsableQuery } from "../../src/web/page-query.js";

const schema = z.object({
  size: z.enum(["small", "large"]).default("small"),
  colour: z.enum(["red", "blue"]).default("red"),
  tag: z.array(z.string()).or(z.string()).optional(),
});
const at = (query: string) => new URL(`http://localhost/page?${query}`);

describe("What the address of a page asks for", () => {
  test("is read by a schema, without what is empty, doubled, or not known", () => {
    const { url, query, problems } = readQuery(
      schema,
      at("size=large&size=large&colour=&tag=%20a&tag=b&x=1"),
    );
    assert.deepEqual(query, { size: "large", colour: "red", tag: ["a", "b"] });
    assert.equal(url.search, "?size=large&tag=a&tag=b");
    assert.deepEqual(problems, []);
  });

  test("is nothing where a part is wrong, and the address keeps that part", () => {
    const { url, query, problems } = readQuery(schema, at("size=huge&colour=blue"));
    assert.equal(query, undefined);
    assert.equal(url.search, "?size=huge&colour=blue");
    assert.deepEqual(problems, [
      { parameter: "size", message: "must be one of small, large", allowed: ["small", "large"] },
    ]);
  });

  test("is the rest where a page can do without what is wrong, and so is its address", () => {
    const { url, query, problems } = readUsableQuery(schema, at("size=huge&colour=blue&colour=red&tag=a"));
    assert.deepEqual(query, { size: "small", colour: "red", tag: "a" });
    assert.equal(url.search, "?tag=a");
    assert.deepEqual(
      problems.map(({ parameter, message }) => `${parameter} ${message}`),
      ["size must be one of small, large", "colour may be given only once"],
    );
  });
});
