import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Lists } from "../../src/discovery/lists/lists.js";
import type { ListSpec } from "../../src/discovery/lists/spec.js";
import { addAccount } from "../support/accounts.js";
import { decodedText, errorOf, invalid } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { createWorld, daily, observation, snapshot, type World } from "../support/world.js";

const REPOSITORIES = 620;

onSqliteAndLong("A whole list as a stream", (engine) => {
  let world: World;
  let key: { "X-API-Key": string };
  let account: string;
  const newKey = async (name: string) => ({
    "X-API-Key": (await world.members.keys.create(account, name)).secret,
  });
  /** All pages of a list, as text. */
  const paged = async (query: string): Promise<unknown[]> => {
    const rows: unknown[] = [];
    let path = `/api/repos?limit=100&${query}`;
    for (;;) {
      const { body } = await world.get(path);
      rows.push(...body.data);
      if (body.meta.nextCursor === null) return rows;
      path = `/api/repos?limit=100&${query}&cursor=${body.meta.nextCursor}`;
    }
  };
  const streamed = async (query: string, headers: Record<string, string> = key) => {
    const response = await world.request(`/api/repos.ndjson?${query}`, { headers });
    assert.equal(response.status, 200);
    return response;
  };
  const linesOf = async (response: Response): Promise<unknown[]> => {
    const text = await decodedText(response);
    assert.ok(text === "" || text.endsWith("\n"));
    return text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  };

  before(async () => {
    world = await createWorld(engine, { SIDEREAL_LOG_LEVEL: "silent" });
    await world.record(
      ...Array.from({ length: REPOSITORIES }, (_, i) =>
        observation(`many/r${i}`, daily(i % 40, (i % 40) + (i % 7)), {
          facts: { language: i % 3 === 0 ? "Go" : null, description: `Number ${i}, "quoted", =1+1\u{1f980}` },
        }),
      ),
    );
    account = await addAccount(world.modules.database, "ann@example.org");
    key = await newKey("streams");
  });

  test("has the rows of all pages in their order, with all filters, sorts and a search", async () => {
    const queries = [
      "sort=stars",
      "sort=stars&order=asc",
      "sort=created",
      "",
      "sort=stars_delta&window=7d",
      "language=go&minStars=5&sort=stars",
      "q=many",
      "q=many&sort=stars&language=Go",
      "q=nothing-has-this-name",
      "minStars=1000",
    ];
    for (const query of queries) {
      const rows = await linesOf(await streamed(query));
      assert.deepEqual(rows, await paged(query), query);
    }
    assert.equal((await linesOf(await streamed("sort=stars"))).length, REPOSITORIES);
  });

  test("is a list's CSV with all its rows", async () => {
    const page = await world.get("/api/repos?sort=stars&limit=100&format=csv");
    const response = await world.request("/api/repos.csv?sort=stars", { headers: key });
    assert.equal(response.headers.get("content-type"), "text/csv; charset=utf-8");
    assert.equal(
      response.headers.get("content-disposition"),
      'attachment; filename="sidereal-repositories.csv"',
    );
    const text = await response.text();
    assert.ok(text.startsWith(page.body), "begins with the first page");
    assert.equal(text.split("\r\n").length, REPOSITORIES + 2);
    const empty = await world.request("/api/repos.csv?minStars=1000", { headers: key });
    assert.equal(await empty.text(), `${text.split("\r\n")[0]}\r\n`);
  });

  test("is compressed as the client likes, and never stored", async () => {
    const plain = await (await streamed("sort=stars")).text();
    for (const encoding of ["br", "zstd", "gzip"]) {
      const response = await streamed("sort=stars", { ...key, "Accept-Encoding": encoding });
      assert.equal(response.headers.get("content-encoding"), encoding);
      assert.equal(await decodedText(response), plain);
    }
    const { headers } = await streamed("sort=stars", { ...key, "If-None-Match": "*" });
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("etag"), null);
    assert.equal(headers.get("content-length"), null);
    assert.equal(headers.get("content-type"), "application/x-ndjson; charset=utf-8");
  });

  test("HEAD has the same head and no body", async () => {
    const path = "/api/repos.ndjson?sort=stars";
    const got = await world.request(path, { headers: key });
    const head = await world.request(path, { method: "HEAD", headers: key });
    assert.equal(head.status, 200);
    assert.equal(await head.text(), "");
    for (const name of ["content-type", "content-disposition", "cache-control", "vary"])
      assert.equal(head.headers.get(name), got.headers.get(name), name);
  });

  test("needs a key: nobody else gets it, and other methods and faults are as everywhere", async () => {
    const refused = await world.get("/api/repos.ndjson");
    const { message, ...error } = errorOf(refused);
    assert.deepEqual(error, { status: 401, code: "UNAUTHENTICATED" });
    assert.match(message, /API key/);
    assert.equal(refused.headers.get("www-authenticate"), 'Bearer realm="sidereal"');
    assert.equal((await world.get("/api/repos.csv", { "X-API-Key": "sid_wrong" })).status, 401);
    assert.deepEqual(
      errorOf(await world.get("/api/repos.ndjson?window=1y", key)),
      invalid("window", "must be one of 24h, 7d, 30d", { allowed: ["24h", "7d", "30d"] }),
    );
    const relevance = await world.get("/api/repos.ndjson?sort=relevance", key);
    assert.equal(relevance.status, 400);
    assert.equal((await world.send("POST", "/api/repos.ndjson", {}, key)).status, 405);
    assert.equal((await world.request("/api/repos.csv", { method: "OPTIONS" })).status, 204);
    const paging = await streamed("sort=stars&limit=5");
    assert.equal(paging.headers.get("x-ignored-parameters"), '"limit"');
    assert.equal((await linesOf(paging)).length, REPOSITORIES);
  });

  test("has each row once that does not move, whatever is recorded meanwhile, and 10,000 at most", async (t) => {
    const { read } = Lists.prototype;
    let reads = 0;
    const mock = t.mock.method(Lists.prototype, "read", async function (this: Lists, spec: ListSpec) {
      if (++reads === 2) {
        world.clock.advance(2_000);
        await world.record(
          observation("many/r0", [snapshot(1, 9_999)]),
          observation("new/high", [snapshot(1, 20_000)]),
        );
      }
      return read.call(this, spec);
    });
    const rows = (await linesOf(await streamed("sort=stars"))) as { fullName: string }[];
    assert.equal(reads, 2);
    assert.equal(new Set(rows.map(({ fullName }) => fullName)).size, rows.length);
    assert.ok(rows.length >= REPOSITORIES - 1);
    mock.mock.restore();
    const endless = t.mock.method(Lists.prototype, "read", async function (this: Lists, spec: ListSpec) {
      return read.call(this, { ...spec, page: { limit: 500, offset: 0 } });
    });
    assert.equal((await linesOf(await streamed("sort=stars"))).length, 10_000);
    assert.equal(endless.mock.callCount(), 20);
  });
});
