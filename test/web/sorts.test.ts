import assert from "node:assert/strict";
import { test } from "node:test";
import { SORTS } from "../../src/discovery/query.js";
import { COLUMN_SORTS, sortHead } from "../../src/web/components/listing.js";

const at = (search: string) => new URL(`http://localhost/explore${search}`);

test("the head of a column sorts from the highest value, keeps the filters, and goes to the first page", () => {
  const head = sortHead(at("?language=rust&sort=trending&order=asc&page=3"), COLUMN_SORTS.stars, {
    sort: "trending",
    order: "asc",
  });
  assert.deepEqual(head, { href: "/explore?language=rust&sort=stars", sorted: undefined });
});

test("the head of the column that a list is sorted by turns the order round", () => {
  const down = sortHead(at("?sort=forks"), COLUMN_SORTS.forks, { sort: "forks", order: "desc" });
  assert.deepEqual(down, { href: "/explore?sort=forks&order=asc", sorted: "descending" });
  const up = sortHead(at("?sort=forks&order=asc"), COLUMN_SORTS.forks, { sort: "forks", order: "asc" });
  assert.deepEqual(up, { href: "/explore?sort=forks", sorted: "ascending" });
});

test("every column sorts by a sort of the list", () => {
  for (const sort of Object.values(COLUMN_SORTS)) assert.ok(SORTS.includes(sort));
});
