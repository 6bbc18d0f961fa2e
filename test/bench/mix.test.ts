import assert from "node:assert/strict";
import { test } from "node:test";
import { MIX_KINDS, mixOf } from "../../bench/support/mix.js";
import { indexOfPopularity, popularityOf } from "../../bench/synthetic/synthetic.js";

const OPTIONS = { repositories: 5_000, days: 2, seed: 1, end: Date.UTC(2026, 3, 30) };

test("the mix has 2,000 requests of every kind, always the same", () => {
  const mix = mixOf(OPTIONS);
  assert.deepEqual(mix, mixOf(OPTIONS));
  assert.equal(mix.length, 2_000);
  assert.deepEqual([...new Set(mix.map(({ kind }) => kind))].sort(), [...MIX_KINDS].sort());
  const paths = Map.groupBy(mix, ({ path }) => path);
  assert.ok(paths.size > 1_000, "most requests differ");
  assert.ok((paths.get("/")?.length ?? 0) > 10, "the most popular ones repeat");
  assert.ok(mix.some(({ turns = 0 }) => turns > 10));
});

test("a repository is found by its popularity", () => {
  for (const repositories of [1, 7, 5_000, 12_345, 1_000_000, 10_000_000]) {
    const size = { ...OPTIONS, repositories };
    for (const popularity of new Set([0, repositories >> 1, repositories - 1]))
      assert.equal(popularityOf(indexOfPopularity(popularity, size), size), popularity);
  }
});
