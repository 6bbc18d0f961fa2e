import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { listKey, listQuery, listSpec } from "../../src/lists/lists.js";
import { onBothEngines } from "../support/engines.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

const specOf = (query: Record<string, unknown>) => listSpec(listQuery.parse(query));

describe("A list as data", () => {
  test("has one key, however its repeated parameters are ordered and spelled", () => {
    const key = listKey(specOf({ language: ["Rust", "Go"], topic: ["web", "CLI"], sort: "stars" }));
    assert.equal(
      listKey(specOf({ topic: ["cli", "WEB", "web"], sort: "stars", language: ["go", "RUST"] })),
      key,
    );
    assert.notEqual(listKey(specOf({ language: ["go"], topic: ["cli", "web"], sort: "stars" })), key);
    assert.notEqual(listKey(specOf({ language: ["go", "rust"], topic: ["cli", "web"], sort: "forks" })), key);
  });

  test("has the window in its key only if its rows depend on it", () => {
    const differs = (query: Record<string, string>) =>
      listKey(specOf({ ...query, window: "24h" })) !== listKey(specOf({ ...query, window: "7d" }));
    assert.equal(differs({ sort: "stars" }), false);
    assert.equal(differs({ sort: "relevance", q: "a" }), false);
    assert.equal(differs({ sort: "trending" }), true);
    assert.equal(differs({ sort: "stars", reliableOnly: "true" }), true);
    assert.equal(differs({ sort: "stars", excludeAnomalous: "true" }), true);
  });

  test("is plain data", () => {
    const spec = specOf({ q: "a b", language: "Go", minStars: "5", archived: "any", page: "3" });
    assert.deepEqual(spec, {
      scope: { kind: "search", text: "a b" },
      filters: { languages: ["go"], minStars: 5 },
      sort: "relevance",
      direction: "desc",
      window: "24h",
      page: { limit: 25, offset: 50 },
    });
    assert.deepEqual(JSON.parse(JSON.stringify(spec)), spec);
  });
});

onBothEngines("A list by its query", (engine) => {
  let world: World;
  const names = async (query: string): Promise<string[]> => {
    const { body, status } = await world.get(`/api/repos?sort=stars&${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data.map((repository: { fullName: string }) => repository.fullName);
  };

  before(async () => {
    world = await createWorld(engine);
    const dated = {
      createdAt: Date.UTC(2020, 0),
      pushedAt: Date.UTC(2026, 0),
      language: "Rust",
      topics: ["web"],
    };
    await world.record(
      observation("a/dated", daily(9, 10), { facts: dated }),
      observation("b/undated", daily(7, 8), { facts: { language: "Go", topics: ["cli"] } }),
      observation("c/dated", daily(5, 6), { facts: { ...dated, language: "Go" } }),
      { ...observation("d/uncounted"), facts: dated },
    );
  });

  test("a date before 1970 and a minimum of 0 leave out repositories whose value is unknown", async () => {
    const dated = ["a/dated", "c/dated", "d/uncounted"];
    for (const query of [
      "createdAfter=1969-12-31",
      "createdAfter=1950-06-01T12:00:00Z",
      "createdAfter=1969-12-31T23:59:59.999Z",
      "pushedAfter=1960-01-01",
      "pushedAfter=0001-01-01",
      "createdBefore=2100-01-01",
      "createdAfter=1960-01-01&createdBefore=2100-01-01",
    ])
      assert.deepEqual(await names(query), dated, query);
    for (const query of ["createdBefore=1970-01-01", "createdBefore=1950-01-01"])
      assert.deepEqual(await names(query), [], query);
    assert.deepEqual(await names("minStars=0"), ["a/dated", "b/undated", "c/dated"]);
    assert.deepEqual(await names("maxStars=8"), ["b/undated", "c/dated"]);
  });

  test("a cursor continues the list, however its repeated parameters are ordered and spelled", async () => {
    const query = (parameters: string) => `/api/repos?sort=stars&limit=1&${parameters}`;
    const { body } = await world.get(query("language=Rust&language=Go&topic=web&topic=cli"));
    const cursor = `&cursor=${body.meta.nextCursor}`;
    for (const parameters of [
      "language=go&language=rust&topic=CLI&topic=web",
      "topic=Web&language=GO&topic=cli&language=Go&language=rust",
    ]) {
      const next = await world.get(query(parameters + cursor));
      assert.deepEqual([next.status, next.body.data[0]?.fullName], [200, "b/undated"], parameters);
    }
    assert.equal((await world.get(query(`language=go&topic=web${cursor}`))).status, 400);
  });

  test("a language is found whatever its case", async () => {
    assert.deepEqual(await names("language=GO"), ["b/undated", "c/dated"]);
    assert.deepEqual(await names("language=none"), []);
  });
});
