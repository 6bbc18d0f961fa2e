import assert from "node:assert/strict";
import { before, test } from "node:test";
import { SiderealError } from "../../client/src/client.js";
import { clientOf } from "../support/client.js";
import { onSqliteAndLong } from "../support/engines.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

const REPOSITORIES = 230;

onSqliteAndLong("The client", (engine) => {
  let world: World;
  const names = Array.from({ length: REPOSITORIES }, (_, i) => `owner/repository-${i}`);

  before(async () => {
    world = await createWorld(engine, { SIDEREAL_CACHE_MB: "8" });
    await world.record(
      ...names.map((name, i) =>
        observation(name, daily(1_000 + i, 1_010 + i * 2), {
          facts: { language: i % 2 === 0 ? "Go" : "Rust", topics: [`topic-${i}`] },
        }),
      ),
      observation("group/sub/nested", daily(5, 6), {
        provider: "GITLAB",
        facts: { description: "日本 & co" },
      }),
    );
  });

  test("returns what the service returns", async () => {
    const { client, sent } = clientOf(world);
    const path = "/api/repos?language=Go&language=Rust&verbatim=true&q=repository+%26&limit=2";
    const query = {
      language: ["Go", "Rust"],
      verbatim: true,
      q: "repository &",
      limit: 2,
      cursor: undefined,
    };
    assert.deepEqual(await client.get("/api/repos", { query }), (await world.get(path)).body);
    assert.deepEqual(sent, [`GET ${path}`]);
  });

  test("escapes path parameters, so a nested owner is one segment", async () => {
    const { client } = clientOf(world);
    const path = { provider: "gitlab", owner: "group/sub", name: "nested" };
    const { data } = await client.get("/api/repos/{provider}/{owner}/{name}", { path });
    assert.equal(data.fullName, "group/sub/nested");
    assert.equal(data.trends["24h"]?.starsDelta, 1);
    const whole = { provider: "gitlab", fullName: "group/sub/nested" };
    const other = await client.get("/api/repos/{provider}/by-full-name/{fullName}", { path: whole });
    assert.equal(other.data.id, data.id);
  });

  test("walks through all rows of a list, each once, with as few requests as the API allows", async () => {
    const { client, sent } = clientOf(world);
    const found: string[] = [];
    for await (const { fullName } of client.rows("/api/repos", {
      query: { sort: "stars", provider: "github" },
    }))
      found.push(fullName);
    assert.deepEqual(found, names.toReversed());
    assert.equal(sent.length, 3);
    assert.ok(sent.every((one) => one.includes("limit=100") && !one.includes("page=")));
  });

  test("walks on from a page or a cursor", async () => {
    const { client } = clientOf(world);
    const query = { sort: "stars", order: "asc", limit: 50 } as const;
    const pages = [];
    for await (const page of client.pages("/api/repos", { query: { ...query, page: 4 } })) pages.push(page);
    assert.deepEqual(
      pages.map(({ data }) => data.length),
      [50, 31],
    );
    const cursor = pages[0]?.meta.nextCursor ?? "";
    const rest = [];
    for await (const row of client.rows("/api/repos", { query: { ...query, cursor } })) rest.push(row);
    assert.deepEqual(rest, pages[1]?.data);
  });

  test("walks through lists that have numbered pages alone", async () => {
    const { client, sent } = clientOf(world);
    const topics = new Set<string>();
    for await (const { name } of client.rows("/api/facets/topics")) topics.add(name);
    assert.equal(topics.size, REPOSITORIES);
    assert.deepEqual(sent.slice(1), [
      "GET /api/facets/topics?limit=100&page=2",
      "GET /api/facets/topics?limit=100&page=3",
    ]);
  });

  test("sends no request for a page that nobody reads", async () => {
    const { client, sent } = clientOf(world);
    for await (const _ of client.rows("/api/trending", { query: { limit: 2 } })) if (sent.length === 2) break;
    assert.equal(sent.length, 2);
  });

  test("returns files as responses", async () => {
    const { client } = clientOf(world);
    const csv = await client.request("get", "/api/repos", { query: { format: "csv", limit: 1 } });
    assert.match(csv.headers.get("content-type") ?? "", /^text\/csv/);
    assert.match(await csv.text(), /^id,provider,/);
    const picture = await client.request("get", "/api/embed/badge.svg", {
      query: { repo: "github:owner/repository-1" },
    });
    assert.match(await picture.text(), /^<svg /);
    const path = { ranking: "stars" } as const;
    const feed = await client.request("get", "/api/feeds/{ranking}.atom", { path });
    assert.match(await feed.text(), /<feed /);
  });

  test("throws what the service reports, with the parameter and its allowed values", async () => {
    const { client, statuses } = clientOf(world);
    const query = { window: "8d" as "7d" };
    await assert.rejects(client.get("/api/repos", { query }), (error) => {
      assert.ok(error instanceof SiderealError);
      const { code, status, details, retryAfter } = error;
      assert.deepEqual([code, status, retryAfter], ["VALIDATION_FAILED", 400, undefined]);
      assert.deepEqual(details[0]?.parameter, "window");
      assert.deepEqual(details[0]?.allowed, ["24h", "7d", "30d"]);
      assert.match(error.requestId ?? "", /^[\w-]{12}$/);
      return true;
    });
    assert.deepEqual(statuses, [400]);
  });

  test("throws errors of routes that send them to others as pictures or texts", async () => {
    const { client } = clientOf(world);
    const badge = client.request("get", "/api/embed/badge.svg", { query: { repo: "github:no/body" } });
    await assert.rejects(badge, { name: "SiderealError", code: "NOT_FOUND", status: 404 });
    const path = { ranking: "none" as "stars" };
    const feed = client.request("get", "/api/feeds/{ranking}.atom", { path });
    await assert.rejects(feed, { name: "SiderealError", status: 400, code: "VALIDATION_FAILED" });
  });

  test("refuses path parameters that would lead to another path", async () => {
    const { client, sent } = clientOf(world);
    for (const id of ["", ".", ".."])
      await assert.rejects(client.get("/api/repos/{id}/metrics", { path: { id } }), TypeError);
    const item = { token: "sidw_x", repositoryId: "" };
    const gone = client.delete("/api/watchlists/{token}/items/{repositoryId}", { path: item });
    await assert.rejects(gone, TypeError);
    assert.deepEqual(sent, []);
    const hostile = client.get("/api/repos/{id}/metrics", { path: { id: "1/ranks?x=1#y" } });
    await assert.rejects(hostile, SiderealError);
    assert.deepEqual(sent, ["GET /api/repos/1%2Franks%3Fx%3D1%23y/metrics"]);
  });

  test("keeps a watchlist: creates, reads, renames under a condition, and deletes it", async () => {
    const { client } = clientOf(world);
    const created = await client.post("/api/watchlists", { body: { name: "mine", ids: ["1", "2"] } });
    const path = { token: created.data.token };
    const read = await client.request("get", "/api/watchlists/{token}", { path });
    const etag = read.headers.get("ETag") ?? "";
    const body = { name: "ours" };
    const headers = { "If-Match": etag };
    const renamed = await client.patch("/api/watchlists/{token}", { path, body, headers });
    assert.equal(renamed.data.name, "ours");
    const late = client.patch("/api/watchlists/{token}", { path, body, headers });
    await assert.rejects(late, { code: "PRECONDITION_FAILED", status: 412 });
    const rows = [];
    for await (const row of client.rows("/api/watchlists/{token}/repositories", { path })) rows.push(row.id);
    assert.deepEqual(rows.toSorted(), ["1", "2"]);
    assert.equal(await client.delete("/api/watchlists/{token}", { path }), undefined);
    await assert.rejects(client.get("/api/watchlists/{token}", { path }), { code: "NOT_FOUND" });
  });

  test("sends its key, and throws if it is not valid", async () => {
    const { client } = clientOf(world, { apiKey: "sid_nobody" });
    await assert.rejects(client.get("/api/limits"), { code: "INVALID_API_KEY", status: 401 });
  });

  test("lets the service confirm responses that it keeps, until they change", async () => {
    const store = new Map();
    const { client, statuses } = clientOf(world, { store });
    const query = { q: "repository-7", limit: 1 };
    const first = await client.get("/api/repos", { query });
    const second = await client.get("/api/repos", { query });
    assert.deepEqual(second, first);
    assert.notEqual(second, first);
    assert.deepEqual(statuses, [200, 304]);
    await client.get("/api/repos", { query: { ...query, limit: 2 } });
    assert.equal(statuses.at(-1), 200);
    assert.equal(store.size, 2);
  });
});
