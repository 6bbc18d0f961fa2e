import assert from "node:assert/strict";
import { test } from "node:test";
import { FIRST_WALK, type Walk } from "../../src/forges/github/discover.js";
import { failureOf, github, restRow, type Searchable, scriptedFetch, search } from "../support/github.js";
import { idsOfWalk } from "../support/upstream.js";

const signal = new AbortController().signal;

const rowOf = ({ id, stars, created }: Searchable) =>
  restRow({
    id: id + 1,
    full_name: `octo/number-${id}`,
    stargazers_count: stars,
    created_at: `${new Date(created * 1000).toISOString().slice(0, 19)}Z`,
    subscribers_count: undefined,
  });

/** GitHub's search over some repositories. */
const searching = (all: Searchable[]) =>
  scriptedFetch(({ url }) => {
    assert.equal(url.pathname, "/search/repositories");
    const parameters = Object.fromEntries(url.searchParams);
    const { q = "", page, ...order } = parameters;
    assert.deepEqual(order, { sort: "stars", order: "desc", per_page: "100" });
    const { total, rows } = search(all, q, Number(page));
    return { body: { total_count: total, incomplete_results: false, items: rows.map(rowOf) } };
  });

const some: Searchable[] = Array.from({ length: 4000 }, (_, id) => ({
  id,
  stars: Math.floor(60_000 / (id + 1)),
  created: Date.UTC(2009, 0, 1) / 1000 + ((id * 104_729) % 5000) * 100_000,
}));

test("a walk finds exactly the repositories with at least minStars stars", async () => {
  const fetch = searching(some);
  const found = new Set(await idsOfWalk(github(fetch, { minStars: 20 })));
  assert.deepEqual(
    [...found].sort(),
    some
      .filter(({ stars }) => stars >= 20)
      .map(({ id }) => `${id + 1}`)
      .sort(),
  );
  assert.ok(fetch.sent.every(({ url }) => (url.searchParams.get("q") ?? "").length <= 256));
});

test("a damaged cursor starts a new walk, and so does one below a raised minStars", async () => {
  const ended: Walk = { ...FIRST_WALK, top: 5 };
  for (const cursor of [
    "",
    "{",
    "null",
    "[]",
    '{"top":-1}',
    JSON.stringify({ ...ended, span: 0 }),
    JSON.stringify(ended),
  ]) {
    const fetch = searching(some);
    await github(fetch, { minStars: 10 }).discover(cursor, signal);
    assert.equal(fetch.sent[0]?.url.searchParams.get("q"), "stars:>=10000 fork:true is:public", cursor);
  }
});

test("private repositories and invalid rows are skipped, and the walk continues", async () => {
  const items = [
    rowOf({ id: 1, stars: 20_000, created: 1.5e9 }),
    restRow({ private: true }),
    { id: 3 },
    null,
  ];
  const fetch = scriptedFetch(() => ({ body: { total_count: 4, incomplete_results: false, items } }));
  const { repositories, next } = await github(fetch).discover(null, signal);
  assert.deepEqual(
    repositories.map(({ name, watchers }) => [name, watchers]),
    [["number-1", null]],
  );
  assert.notEqual(next, null);
});

test("a page of many rows without a valid one is malformed", async () => {
  for (const body of [
    { total_count: 100, items: Array(100).fill({}) },
    { items: [] },
    { total_count: -1, items: [] },
    [],
  ]) {
    assert.equal(
      (await failureOf(github(scriptedFetch(() => ({ body }))).discover(null, signal))).kind,
      "malformed",
    );
  }
});

test("an incomplete search result is requested again", async () => {
  let isCutShort = true;
  const whole = searching(some);
  const fetch = scriptedFetch(({ url }) => {
    if (!isCutShort) throw new Error("the other one answers");
    isCutShort = false;
    assert.equal(url.searchParams.get("page"), "1");
    return { body: { total_count: 3, incomplete_results: true, items: some.slice(0, 3).map(rowOf) } };
  });
  const { repositories, next } = await github(fetch).discover(null, signal);
  assert.equal(repositories.length, 3);
  await github(whole).discover(next, signal);
  assert.equal(whole.sent[0]?.url.search, fetch.sent[0]?.url.search);
});

test("searching waits only for the search limit", async () => {
  const headers = {
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": "1777550430",
    "x-ratelimit-resource": "search",
  };
  const fetch = scriptedFetch(() => ({
    headers,
    body: { total_count: 0, incomplete_results: false, items: [] },
  }));
  const provider = github(fetch, { tokens: ["secret"] });
  const { next } = await provider.discover(null, signal);
  const failure = await failureOf(provider.discover(next, signal));
  assert.deepEqual([failure.kind, failure.until], ["quota", 1_777_550_430_000]);
  assert.equal(provider.readyAt("discover"), 1_777_550_430_000);
  assert.ok(provider.readyAt("refresh") < 1_777_550_430_000);
});
