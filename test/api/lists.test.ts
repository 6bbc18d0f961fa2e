import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onBothEngines } from "../support/engines.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

onBothEngines("GET /api/repos", (engine) => {
  let world: World;
  const names = async (path: string): Promise<string[]> => {
    const { body, status } = await world.get(path);
    assert.equal(status, 200, JSON.stringify(body));
    return body.data.map((repository: { fullName: string }) => repository.fullName);
  };

  before(async () => {
    world = await createWorld(engine);
    const go = {
      language: "Go",
      topics: ["web", "api"],
      license: "MIT",
      createdAt: Date.UTC(2020, 0, 1),
      pushedAt: Date.UTC(2026, 3, 1),
    };
    const rust = { language: "Rust", topics: ["cli"], createdAt: Date.UTC(2026, 1, 1) };
    await world.record(
      observation("a/big", daily(100_000, 100_010), { facts: go }),
      observation("b/fast", daily(500, 900), { facts: rust }),
      observation("c/small", daily(10, 12), { facts: { language: "Rust", archived: true } }),
      observation("d/forked", daily(50, 49), { facts: { fork: true } }),
      observation("e/once", daily(70)),
      observation("group/sub/nested", daily(5, 6), { provider: "GITLAB" }),
      observation("f/gone", daily(800, 900), { facts: { availability: "GONE" } }),
    );
  });

  test("sorts by stars, and holds all that are available", async () => {
    assert.deepEqual(await names("/api/repos?sort=stars"), [
      "a/big",
      "b/fast",
      "e/once",
      "d/forked",
      "c/small",
      "group/sub/nested",
    ]);
    assert.deepEqual((await names("/api/repos?sort=stars&order=asc"))[0], "group/sub/nested");
  });

  test("sorts by growth without archived ones, forks and those without a trend", async () => {
    assert.deepEqual(await names("/api/repos?sort=stars-gained"), ["b/fast", "a/big", "group/sub/nested"]);
    assert.deepEqual(await names("/api/repos?sort=stars-gained&archived=any&fork=true"), ["d/forked"]);
  });

  test("filters by every parameter, alone and together", async () => {
    assert.deepEqual(await names("/api/repos?sort=stars&language=rust"), ["b/fast", "c/small"]);
    assert.deepEqual(await names("/api/repos?sort=stars&language=rust&language=GO"), [
      "a/big",
      "b/fast",
      "c/small",
    ]);
    assert.deepEqual(await names("/api/repos?sort=stars&topic=CLI&topic=api"), ["a/big", "b/fast"]);
    assert.deepEqual(await names("/api/repos?sort=stars&license=MIT"), ["a/big"]);
    assert.deepEqual(await names("/api/repos?sort=stars&provider=gitlab"), ["group/sub/nested"]);
    assert.deepEqual(await names("/api/repos?sort=stars&minStars=12&maxStars=70"), [
      "e/once",
      "d/forked",
      "c/small",
    ]);
    assert.deepEqual(await names("/api/repos?sort=stars&createdAfter=2026-01-01"), ["b/fast"]);
    assert.deepEqual(await names("/api/repos?sort=stars&createdBefore=2026-01-01"), ["a/big"]);
    assert.deepEqual(await names("/api/repos?sort=stars&pushedAfter=2026-03-31T23:59:59Z"), ["a/big"]);
    assert.deepEqual(await names("/api/repos?sort=stars&archived=true"), ["c/small"]);
    assert.deepEqual(await names("/api/repos?sort=stars&archived=false&fork=false&language=rust"), [
      "b/fast",
    ]);
  });

  test("an unknown date comes last in both directions", async () => {
    assert.deepEqual((await names("/api/repos?sort=created")).slice(0, 2), ["b/fast", "a/big"]);
    assert.deepEqual((await names("/api/repos?sort=created&order=asc")).slice(0, 2), ["a/big", "b/fast"]);
    assert.equal((await names("/api/repos?sort=created&order=asc")).length, 6);
  });

  test("searches words of names, descriptions and topics", async () => {
    assert.deepEqual(await names("/api/repos?q=fas"), ["b/fast"]);
    assert.deepEqual(await names("/api/repos?q=api"), ["a/big"]);
    assert.deepEqual(await names("/api/repos?q=gone"), []);
    assert.deepEqual(await names("/api/repos?q=%22%22"), []);
  });

  test("walks all rows by cursor, neither repeating nor skipping, whatever the order", async () => {
    for (const sort of [
      "stars",
      "created",
      "created&order=asc",
      "stars-gained&archived=any&fork=any",
      "stars-gained&order=asc",
    ]) {
      const whole = await names(`/api/repos?sort=${sort}`);
      const walked: string[] = [];
      let path = `/api/repos?sort=${sort}&limit=2`;
      for (;;) {
        const { body } = await world.get(path);
        walked.push(...body.data.map((repository: { fullName: string }) => repository.fullName));
        assert.equal(body.meta.hasMore, body.meta.nextCursor !== null);
        if (body.meta.nextCursor === null) break;
        path = `/api/repos?sort=${sort}&limit=2&cursor=${body.meta.nextCursor}`;
      }
      assert.deepEqual(walked, whole, sort);
      assert.deepEqual(
        [
          ...(await names(`/api/repos?sort=${sort}&limit=2`)),
          ...(await names(`/api/repos?sort=${sort}&limit=2&page=2`)),
        ],
        whole.slice(0, 4),
      );
    }
  });

  test("meta counts, and tells when the windows end", async () => {
    const { body, headers } = await world.get("/api/repos?sort=stars&limit=2&page=2");
    const { nextCursor, ...meta } = body.meta;
    assert.deepEqual(meta, {
      page: 2,
      limit: 2,
      window: "24h",
      sort: "stars",
      asOf: "2026-04-30T12:00:00.000Z",
      ageDays: 0,
      measured: [{ from: "2026-04-30T12:00:00.000Z", to: "2026-04-30T12:00:00.000Z", repositoryCount: 2 }],
      total: 6,
      totalIsExact: true,
      hasMore: true,
      corrected: null,
    });
    assert.equal(
      headers.get("link"),
      `<https://sidereal.example/api/repos?limit=2&sort=stars>; rel="first", <https://sidereal.example/api/repos?limit=2&sort=stars>; rel="prev", <https://sidereal.example/api/repos?limit=2&sort=stars&cursor=${nextCursor}>; rel="next", <https://sidereal.example/api/repos?limit=2&sort=stars&page=3>; rel="last"`,
    );
  });

  test("links lead only to pages with rows, and to the last one by number", async () => {
    const relsOf = async (query: string) => {
      const { headers } = await world.get(`/api/repos?sort=stars&${query}`);
      const links = (headers.get("link") ?? "").matchAll(/\?([^>]*)>; rel="(\w+)"/g);
      return Object.fromEntries(
        Array.from(links, ([, search, rel]) => [rel, new URLSearchParams(search).get("page")]),
      );
    };
    assert.deepEqual(await relsOf("limit=2&page=60"), { first: null, prev: "3", last: "3" });
    assert.deepEqual(await relsOf("limit=2&page=3"), { first: null, prev: "2", last: "3" });
    assert.deepEqual(await relsOf("limit=25&page=60"), { first: null, prev: null, last: null });
    assert.deepEqual(await relsOf("limit=25"), { first: null, last: null });
    assert.deepEqual(await relsOf("q=nothing+has+this&page=4"), { first: null });
    const { body } = await world.get("/api/repos?sort=stars&limit=2");
    const next = await relsOf(`limit=2&cursor=${body.meta.nextCursor}`);
    assert.deepEqual(next, { first: null, next: null, last: "3" });
  });

  test("a cursor of another query is refused", async () => {
    const { body } = await world.get("/api/repos?sort=stars&limit=2");
    const other = await world.get(`/api/repos?sort=forks&limit=2&cursor=${body.meta.nextCursor}`);
    assert.equal(other.status, 400);
    assert.equal(other.body.error.code, "INVALID_REQUEST");
    assert.equal(other.body.error.details[0].parameter, "cursor");
  });
});
