import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

onSqlite("What a request gets beside what it requests", (engine) => {
  let world: World;

  before(async () => {
    world = await createWorld(engine, { SIDEREAL_CACHE_MB: "16" });
    await world.record(observation("a/one", daily(1, 5)), observation("b/two", daily(2, 3)));
  });

  test("unknown parameters are reported in a header; body and tag stay those of the request without them", async () => {
    const plain = await world.get("/api/repos?limit=1");
    assert.equal(plain.headers.get("x-ignored-parameters"), null);
    const same = await world.get("/api/repos?limit=1&per_page=9&langauge=go");
    assert.equal(
      same.headers.get("x-ignored-parameters"),
      '"per_page";nearest="limit", "langauge";nearest="language"',
    );
    assert.deepEqual(same.body, plain.body);
    assert.equal(same.headers.get("etag"), plain.headers.get("etag"));
    const kept = await world.get("/api/repos?limit=1&per_page=9", {
      "If-None-Match": plain.headers.get("etag") ?? "",
    });
    assert.equal(kept.status, 304);
    assert.equal(kept.headers.get("x-ignored-parameters"), '"per_page";nearest="limit"');
    assert.match(plain.headers.get("access-control-expose-headers") ?? "", /X-Ignored-Parameters/);
  });

  test("records are whole, and tables have all columns, if a request still names some fields", async () => {
    for (const path of ["/api/repos?id=1", "/api/repos/1?window=7d", "/api/repos/1/metrics?format=csv"]) {
      const old = await world.get(`${path}&fields=fullName`);
      assert.deepEqual([old.status, old.body], [200, (await world.get(path)).body], path);
      assert.match(old.headers.get("x-ignored-parameters") ?? "", /^"fields"/);
    }
  });

  test("errors report them too, and pages, which other sites link to with names of their own, do not", async () => {
    const refused = await world.get("/api/repos?sort=x&dir=asc");
    assert.equal(refused.status, 400);
    assert.equal(refused.headers.get("x-ignored-parameters"), '"dir"');
    assert.equal((await world.get("/about?utm_source=x")).headers.get("x-ignored-parameters"), null);
  });

  test("Accept: text/csv is format=csv, and is cached apart from JSON", async () => {
    for (const path of ["/api/repos?sort=stars", "/api/trending", "/api/repos/1/metrics"]) {
      for (let i = 0; i < 2; i++) {
        const json = await world.get(path);
        assert.equal(json.headers.get("content-type"), "application/json; charset=utf-8");
        const csv = await world.get(path, { Accept: "text/csv" });
        assert.equal(csv.headers.get("content-type"), "text/csv; charset=utf-8", path);
        const joint = path.includes("?") ? "&" : "?";
        const asked = await world.get(`${path}${joint}format=csv`);
        assert.equal(csv.body, asked.body);
        assert.equal(csv.headers.get("etag"), asked.headers.get("etag"));
        for (const { headers } of [json, csv])
          assert.equal(headers.get("vary"), "Accept, Accept-Encoding, Authorization, X-API-Key");
        const named = await world.get(`${path}${joint}format=json`, { Accept: "text/csv" });
        assert.equal(named.headers.get("content-type"), "application/json; charset=utf-8");
      }
    }
    const { headers } = await world.get("/api/stats/summary", { Accept: "text/csv" });
    assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
    assert.equal(headers.get("vary"), "Accept-Encoding, Authorization, X-API-Key");
  });
});
