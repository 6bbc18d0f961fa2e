import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { listKey, listQuery, listSpec } from "../../../src/discovery/query.js";
import { errorOf, invalid } from "../../support/answers.js";
import { onBothEngines } from "../../support/engines.js";
import { createWorld, daily, observation, type World } from "../../support/world.js";

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
      filters: { language: ["go"], minStars: 5 },
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
      license: "MIT",
    };
    await world.record(
      observation("a/dated", daily(9, 10), { facts: dated }),
      observation("b/undated", daily(7, 8), {
        facts: { language: "Go", topics: ["cli"], license: "Apache-2.0 OR MIT" },
      }),
      observation("c/dated", daily(5, 6), { facts: { ...dated, language: "Go" } }),
      { ...observation("d/uncounted"), facts: { ...dated, license: null } },
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

  test("a range without any value is refused, and names its end", async () => {
    for (const [query, parameter, message] of [
      ["minStars=8&maxStars=7", "maxStars", "must not be less than minStars"],
      [
        "createdAfter=2020-01-01&createdBefore=2020-01-01",
        "createdBefore",
        "must be later than createdAfter",
      ],
    ] as const)
      assert.deepEqual(errorOf(await world.get(`/api/repos?${query}`)), invalid(parameter, message));
    assert.deepEqual(await names("minStars=8&maxStars=8"), ["b/undated"]);
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

  test("a license is found whatever its case, and its cursors are those of every spelling", async () => {
    const both = ["a/dated", "c/dated"];
    for (const license of ["MIT", "mit", "Mit"]) assert.deepEqual(await names(`license=${license}`), both);
    assert.deepEqual(await names("license=apache-2.0%20or%20mit"), ["b/undated"]);
    assert.deepEqual(await names("license=MI"), []);
    const { body } = await world.get("/api/repos?sort=stars&limit=1&license=MIT");
    const next = await world.get(`/api/repos?sort=stars&limit=1&license=mit&cursor=${body.meta.nextCursor}`);
    assert.deepEqual([next.status, next.body.data[0]?.fullName], [200, "c/dated"]);
  });

  const unmatchedOf = async (query: string) => (await world.get(`/api/repos?${query}`)).body.meta.unmatched;

  test("an empty list names the values that nothing has, with the nearest name", async () => {
    const unmatched = (parameter: string, value: string, nearest: string | null) => {
      return { parameter, value, nearest, message: `No repository here has this ${parameter}.` };
    };
    assert.deepEqual(await unmatchedOf("language=rustt&language=go&topic=wbe&license=MITT&provider=githb"), [
      unmatched("provider", "GITHB", "GITHUB"),
      unmatched("language", "rustt", "Rust"),
      unmatched("topic", "wbe", "web"),
      unmatched("license", "MITT", null),
    ]);
    assert.equal((await unmatchedOf("license=MITT"))[0].nearest, "MIT");
    assert.deepEqual(await unmatchedOf("language=Rust,Go"), [
      {
        parameter: "language",
        value: "rust,go",
        nearest: null,
        message: "Commas do not separate values. Repeat the parameter: language=…&language=….",
      },
    ]);
    assert.deepEqual((await unmatchedOf("q=dated&language=nothing+like+it"))[0]?.nearest, null);
    assert.deepEqual((await unmatchedOf(`language=${"x".repeat(100)}`))[0]?.nearest, null);
  });

  test("a list names no unmatched values while it has rows, or while all values exist", async () => {
    assert.equal(await unmatchedOf("sort=stars&language=go&language=rustt"), undefined);
    assert.equal(await unmatchedOf("sort=stars&language=go&topic=web&license=apache-2.0+or+mit"), undefined);
    assert.equal(await unmatchedOf("sort=stars&minStars=1000000"), undefined);
  });

  test("an empty list names forty unmatched values", async () => {
    const values = (name: string) =>
      Array.from({ length: 20 }, (_, i) => `${name}=${"unknown".repeat(5)}${i}`).join("&");
    const unmatched = await unmatchedOf(`${values("language")}&${values("topic")}`);
    assert.equal(unmatched.length, 40);
    const misspelt = ["rustt", "ruust", "russt", "rsut"].map((name) => `language=${name}`).join("&");
    const nearest = (await unmatchedOf(misspelt)).map((one: { nearest: string | null }) => one.nearest);
    assert.deepEqual(nearest.toSorted(), ["Rust", "Rust", "Rust", null].toSorted());
  });
});
