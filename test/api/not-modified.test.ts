import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { onSqlite } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

const LIMIT = 40;

onSqlite("A 304", (engine) => {
  /** A world whose cache is on or off, and its next remaining count after a request that is repeated with the tag of its response. */
  const cached = async (megabytes: number) => {
    const world = await createWorld(engine, {
      SIDEREAL_CACHE_MB: String(megabytes),
      ...limits(`default=${LIMIT},heavy=${LIMIT}`),
    });
    await world.record(observation("acme/kite", daily(10, 20)));
    return world;
  };
  const repeat = async (world: World, path: string, method = "GET") => {
    const first = await world.request(path, { method });
    const headers = { "If-None-Match": first.headers.get("etag") ?? "" };
    const counts = [first.headers.get("x-ratelimit-remaining")];
    for (let i = 0; i < 2; i++) {
      const again = await world.request(path, { method, headers });
      assert.equal(again.status, 304, path);
      counts.push(again.headers.get("x-ratelimit-remaining"));
    }
    return counts.map(Number);
  };

  test("is free for a response that was cached already, by GET and by HEAD", async () => {
    const world = await cached(8);
    assert.deepEqual(await repeat(world, "/api/repos?sort=stars"), [39, 39, 39]);
    assert.deepEqual(await repeat(world, "/api/repos?sort=stars", "HEAD"), [38, 38, 38]);
    assert.deepEqual(await repeat(world, "/api/repos/1/metrics"), [39, 39, 39]);
  });

  test("counts in full where the response was computed to find out", async () => {
    const world = await cached(0);
    assert.deepEqual(await repeat(world, "/api/repos?sort=stars"), [39, 38, 37]);
    assert.deepEqual(await repeat(world, "/about"), [35, 33, 31]);
  });

  test("of a watchlist by token, by API or page, counts in full", async () => {
    const world = await cached(8);
    const { body } = await world.send("POST", "/api/watchlists", { ids: ["1"] });
    const { token } = body.data;
    assert.deepEqual(await repeat(world, `/api/watchlists/${token}`), [39, 38, 37]);
    assert.deepEqual(await repeat(world, `/api/watchlists/${token}/repositories`), [36, 35, 34]);
    assert.deepEqual(await repeat(world, `/watchlists/${token}`), [29, 24, 19]);
    assert.deepEqual(await repeat(world, `/api/watchlists/${token}/metrics`), [37, 34, 31]);
  });

  test("of a page that cannot be shared counts in full, and one with an unknown parameter is cached like the page", async () => {
    const world = await cached(8);
    assert.deepEqual(await repeat(world, "/about?save=github:acme/kite"), [38, 36, 34]);
    assert.deepEqual(await repeat(world, "/about?unknown=1"), [32, 32, 32]);
  });

  test("counts in full for the request that finds the cached response outdated", async () => {
    const world = await cached(8);
    const path = "/api/repos?sort=stars&language=none";
    const first = await world.request(path);
    const headers = { "If-None-Match": first.headers.get("etag") ?? "" };
    // Changes the catalogue, but not this response.
    await world.record(observation("acme/kite", daily(10, 20), { facts: { description: "New" } }));
    world.clock.advance(1_000);
    const repeated = async () => {
      await setImmediate();
      const answer = await world.request(path, { headers });
      assert.equal(answer.status, 304);
      return Number(answer.headers.get("x-ratelimit-remaining"));
    };
    // The first request only starts to read the revision. The first one after it was read has the response computed again.
    assert.equal(await repeated(), 39);
    let remaining = 39;
    for (let i = 0; i < 100 && remaining === 39; i++) remaining = await repeated();
    assert.equal(remaining, 38);
    assert.equal(await repeated(), 38);
  });
});
