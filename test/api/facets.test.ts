import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { NAMED } from "../support/named.js";
import { createWorld, type World } from "../support/world.js";

onSqliteAndLong("GET /api/facets and /api/stats/summary", (engine) => {
  let world: World;

  before(async () => {
    world = await createWorld(engine);
    await world.record(...NAMED);
  });

  test("languages with their repositories, stars and gains, the most frequent first", async () => {
    const { status, body } = await world.get("/api/facets/languages");
    assert.equal(status, 200);
    assert.deepEqual(body, {
      data: [
        { name: "C++", repositoryCount: 3, stars: 843, starsGained: 33, measuredCount: 3 },
        { name: "JavaScript", repositoryCount: 2, stars: 1020, starsGained: 110, measuredCount: 2 },
        { name: "C", repositoryCount: 1, stars: 205, starsGained: 5, measuredCount: 1 },
        { name: "Python", repositoryCount: 1, stars: 60, starsGained: 10, measuredCount: 1 },
        { name: "TypeScript", repositoryCount: 1, stars: 800, starsGained: 100, measuredCount: 1 },
      ],
      meta: {
        ...{ page: 1, limit: 25, total: 5, totalIsExact: true, hasMore: false, nextCursor: null },
        asOf: "2026-04-30T12:00:00.000Z",
        ageDays: 0,
      },
    });
  });

  test("facets sort by stars and by gains, and filter by provider", async () => {
    const facets = async (path: string) =>
      (await world.get(path)).body.data.map((facet: { name: string }) => facet.name);
    assert.deepEqual(await facets("/api/facets/languages?sort=stars"), [
      "JavaScript",
      "C++",
      "TypeScript",
      "C",
      "Python",
    ]);
    assert.deepEqual(await facets("/api/facets/languages?sort=stars-gained&limit=2"), [
      "JavaScript",
      "TypeScript",
    ]);
    assert.deepEqual(await facets("/api/facets/topics?sort=stars&limit=2"), ["ui", "graphics"]);
    const gitlab = await world.get("/api/facets/languages?provider=gitlab");
    assert.deepEqual(gitlab.body.data, [
      { name: "C++", repositoryCount: 1, stars: 33, starsGained: 3, measuredCount: 1 },
    ]);
    assert.equal(gitlab.body.meta.total, 1);
    assert.deepEqual((await world.get("/api/facets/topics?provider=gitlab")).body.data, []);
    // No pair of snapshots is 7 days apart.
    const week = await world.get("/api/facets/languages?window=7d&limit=1");
    assert.deepEqual(week.body.data, [
      { name: "C++", repositoryCount: 3, stars: 843, starsGained: 0, measuredCount: 0 },
    ]);
  });

  test("facets are walked by page, and Link leads on", async () => {
    const first = await world.get("/api/facets/languages?limit=2");
    assert.equal(first.body.meta.hasMore, true);
    assert.equal(
      first.headers.get("link"),
      '<https://sidereal.example/api/facets/languages?limit=2>; rel="first", <https://sidereal.example/api/facets/languages?limit=2&page=2>; rel="next", <https://sidereal.example/api/facets/languages?limit=2&page=3>; rel="last"',
    );
    const last = await world.get("/api/facets/languages?limit=2&page=3");
    assert.deepEqual(
      last.body.data.map((facet: { name: string }) => facet.name),
      ["TypeScript"],
    );
    assert.deepEqual(last.body.meta, {
      page: 3,
      limit: 2,
      total: 5,
      totalIsExact: true,
      hasMore: false,
      nextCursor: null,
      asOf: "2026-04-30T12:00:00.000Z",
      ageDays: 0,
    });
    assert.doesNotMatch(last.headers.get("link") ?? "", /next/);
  });

  test("the summary counts what is listed, by provider and in all", async () => {
    const { status, body } = await world.get("/api/stats/summary");
    assert.equal(status, 200);
    const asOf = "2026-04-30T12:00:00.000Z";
    assert.deepEqual(body, {
      data: {
        repositoryCount: 10,
        snapshots: 21,
        snapshots24h: 11,
        refreshed24h: 10,
        overdueRefreshes: 0,
        freshRepositories: 10,
        staleRepositories: 0,
        languageCount: 5,
        topicCount: 5,
        providers: [
          {
            provider: "GITHUB",
            repositoryCount: 9,
            snapshots: 19,
            snapshots24h: 10,
            refreshed24h: 9,
            overdueRefreshes: 0,
            freshRepositories: 9,
            staleRepositories: 0,
            asOf,
            measured: [{ from: asOf, to: asOf, repositoryCount: 9 }],
            ageDays: 0,
          },
          {
            provider: "GITLAB",
            repositoryCount: 1,
            snapshots: 2,
            snapshots24h: 1,
            refreshed24h: 1,
            overdueRefreshes: 0,
            freshRepositories: 1,
            staleRepositories: 0,
            asOf,
            measured: [{ from: asOf, to: asOf, repositoryCount: 1 }],
            ageDays: 0,
          },
        ],
        newestFiles: [],
        asOf,
        measured: [{ from: asOf, to: asOf, repositoryCount: 10 }],
        generatedAt: asOf,
        catalogue: "real",
        ageDays: 0,
        startTracking: null,
      },
    });
  });

  test("before anything is recorded every list is empty and every counter 0", async () => {
    const empty = await createWorld(engine);
    assert.deepEqual((await empty.get("/api/stats/summary")).body.data, {
      repositoryCount: 0,
      snapshots: 0,
      snapshots24h: 0,
      refreshed24h: 0,
      overdueRefreshes: 0,
      freshRepositories: 0,
      staleRepositories: 0,
      languageCount: 0,
      topicCount: 0,
      providers: [],
      newestFiles: [],
      asOf: null,
      measured: [],
      generatedAt: "2026-04-30T12:00:00.000Z",
      catalogue: "real",
      ageDays: null,
      startTracking: null,
    });
    assert.deepEqual((await empty.get("/api/search/suggest?q=a")).body.data, {
      repositories: [],
      untracked: null,
      languages: [],
      topics: [],
    });
    assert.deepEqual((await empty.get("/api/facets/topics")).body.data, []);
  });
});
