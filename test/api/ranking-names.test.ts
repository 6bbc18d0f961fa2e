import assert from "node:assert/strict";
import { before, test } from "node:test";
import { FACET_SORTS } from "../../src/discovery/facets.js";
import { SORTS, WATCHLIST_SORTS } from "../../src/discovery/lists/sorts.js";
import { RANKINGS } from "../../src/growth/definitions.js";
import { onSqliteAndLong } from "../support/engines.js";
import { NAMED } from "../support/named.js";
import { createWorld, type World } from "../support/world.js";

/** Other spellings of a name such as `new-hot`. */
const spellings = (name: string): string[] => [
  name.replaceAll("-", "_"),
  name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase()),
  name.toUpperCase(),
  name.replaceAll("-", "_").toUpperCase(),
];

onSqliteAndLong("Names of rankings", (engine) => {
  let world: World;
  /** The body of a response without what depends on the time or the address. */
  const read = async (path: string) => {
    const { status, body } = await world.get(path);
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
    return body;
  };

  before(async () => {
    world = await createWorld(engine);
    await world.record(...NAMED);
  });

  test("are written with hyphens everywhere", async () => {
    for (const name of [...RANKINGS, ...SORTS, ...WATCHLIST_SORTS, ...FACET_SORTS])
      assert.match(name, /^[a-z]+(-[a-z]+)*$/);
    for (const path of ["trending", "rising", "new-hot", "fork-growth"])
      assert.equal((await read(`/api/${path}`)).meta.sort, path);
    const { ranks } = (await read("/api/repos/github/facebook/react")).data;
    assert.ok(ranks.some(({ ranking }: { ranking: string }) => ranking === "stars-gained"));
    const history = (await read(`/api/repos/1/ranks?window=all`)).data;
    for (const { ranking } of [...ranks, ...history]) assert.ok(RANKINGS.includes(ranking), ranking);
  });

  test("of lists are accepted in every spelling, and the response is the same", async () => {
    for (const sort of SORTS.filter((name) => name !== "relevance")) {
      const expected = await read(`/api/repos?sort=${sort}`);
      assert.equal(expected.meta.sort, sort);
      for (const other of spellings(sort))
        assert.deepEqual(await read(`/api/repos?sort=${other}`), expected, other);
    }
    const { body } = await world.send("POST", "/api/watchlists", { ids: ["1", "2"] });
    const list = `/api/watchlists/${body.data.token}/repositories`;
    for (const sort of WATCHLIST_SORTS) {
      const expected = await read(`${list}?sort=${sort}`);
      for (const other of spellings(sort))
        assert.deepEqual(await read(`${list}?sort=${other}`), expected, other);
    }
  });

  test("in one spelling continue the list of another", async () => {
    const first = await read("/api/repos?sort=stars_gained&limit=2");
    assert.ok(first.meta.nextCursor !== null);
    const rest = await read(`/api/repos?sort=starsGained&limit=2&cursor=${first.meta.nextCursor}`);
    assert.deepEqual(
      [...first.data, ...rest.data],
      (await read("/api/repos?sort=stars-gained&limit=4")).data,
    );
  });

  test("of facets, badges and feeds are accepted in every spelling", async () => {
    for (const sort of FACET_SORTS) {
      const expected = await read(`/api/facets/languages?sort=${sort}`);
      for (const other of spellings(sort))
        assert.deepEqual(await read(`/api/facets/languages?sort=${other}`), expected, other);
    }
    assert.deepEqual(
      await read("/api/facets/languages?sort=repositories"),
      await read("/api/facets/languages?sort=repository-count"),
    );
    for (const ranking of RANKINGS) {
      const badge = `/api/embed/badge.svg?repo=github:facebook/react&ranking=`;
      const expected = await read(`${badge}${ranking}`);
      for (const other of spellings(ranking))
        assert.deepEqual(await read(`${badge}${other}`), expected, other);
    }
    const feed = await (await world.request("/api/feeds/new-hot.atom")).text();
    for (const other of spellings("new-hot"))
      assert.equal(await (await world.request(`/api/feeds/${other}.atom`)).text(), feed, other);
  });

  test("in pages are accepted as links of before have them", async () => {
    for (const path of [
      "/explore?sort=new_hot",
      "/languages/C?sort=fork_growth",
      "/topics?sort=stars_gained",
    ])
      assert.equal((await world.request(path, { headers: { Accept: "text/html" } })).status, 200, path);
  });

  test("that are none of these are refused with the allowed ones", async () => {
    for (const sort of ["new--hots", "hot", "trending ", "constructor", "__proto__", ""]) {
      const { status, body } = await world.get(`/api/repos?sort=${encodeURIComponent(sort)}`);
      assert.equal(status, 400, sort);
      assert.deepEqual(body.error.details[0].allowed, [...SORTS]);
    }
  });
});
