import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { z } from "zod";
import { readQuery, readUsableQuery } from "../../src/web/page.js";

const schema = z.object({
  size: z.enum(["small", "large"]).default("small"),
  colour: z.enum(["red", "blue"]).default("red"),
  tag: z.array(z.string()).or(z.string()).optional(),
});
const at = (query: string) => new URL(`http://localhost/page?${query}`);

describe("The parameters of a page", () => {
  test("are parsed by a schema, without empty, duplicate and unknown ones", () => {
    const { url, query, problems } = readQuery(
      schema,
      at("size=large&size=large&colour=&tag=%20a&tag=b&x=1"),
    );
    assert.deepEqual(query, { size: "large", colour: "red", tag: ["a", "b"] });
    assert.equal(url.search, "?size=large&tag=a&tag=b");
    assert.deepEqual(problems, []);
  });

  test("are undefined if one is invalid, and the address keeps it", () => {
    const { url, query, problems } = readQuery(schema, at("size=huge&colour=blue"));
    assert.equal(query, undefined);
    assert.equal(url.search, "?size=huge&colour=blue");
    assert.deepEqual(problems, [
      { parameter: "size", message: "must be one of small, large", allowed: ["small", "large"] },
    ]);
  });

  test("are the valid ones if the page allows it, and so is its address", () => {
    const { url, query, problems } = readUsableQuery(schema, at("size=huge&colour=blue&colour=red&tag=a"));
    assert.deepEqual(query, { size: "small", colour: "red", tag: "a" });
    assert.equal(url.search, "?tag=a");
    assert.deepEqual(
      problems.map(({ parameter, message }) => `${parameter} ${message}`),
      ["size must be one of small, large", "colour may be given only once"],
    );
  });
});
