import assert from "node:assert/strict";
import { before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { DatabaseFault } from "../../src/database/fault.js";
import { decodedText, errorOf } from "../support/answers.js";
import { onSqlite, onSqliteAndLong } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { type Answer, createWorld, daily, observation, type World } from "../support/world.js";

onSqliteAndLong("Answers that are kept", (engine) => {
  let world: World;
  const names = (answer: Answer): string[] =>
    answer.body.data.map((repository: { fullName: string }) => repository.fullName);

  before(async () => {
    world = await createWorld(engine, { SIDEREAL_CACHE_MB: "8" });
    const rows = Array.from({ length: 10 }, (_, i) => observation(`many/r${i}`, daily(i, i + 1)));
    await world.record(observation("a/one", daily(100, 110), { facts: { language: "Go" } }), ...rows);
  });

  test("a request is computed once, however it is spelled, and whatever it says that no route knows", async (t) => {
    const list = t.mock.method(world.modules.lists, "read");
    const first = await world.get("/api/repos?sort=stars&limit=3&language=go&language=c");
    for (const path of [
      "/api/repos?sort=stars&limit=3&language=go&language=c",
      "/api/repos?language=go&limit=3&language=c&sort=stars",
      "/api/repos?sort=stars&limit=3&language=go&language=c&utm_source=x&cachebuster=1",
      "/api/repos?so%72t=stars&limit=%33&language=go&language=c",
      "/api/repos?owner=a&explain=true&sort=stars&limit=3&language=go&language=c",
    ]) {
      const answer = await world.get(path);
      assert.deepEqual(answer.body, first.body, path);
      assert.equal(answer.headers.get("etag"), first.headers.get("etag"), path);
      assert.equal(answer.headers.get("link"), first.headers.get("link"), path);
      assert.notEqual(answer.headers.get("x-request-id"), first.headers.get("x-request-id"));
    }
    assert.equal(
      (await world.request("/api/repos?sort=stars&limit=3&language=go&language=c", { method: "HEAD" }))
        .status,
      200,
    );
    assert.equal(list.mock.callCount(), 1);
  });

  test("the date is the time of the service, of a computed response and of a kept one", async () => {
    const dates: (string | null)[] = [];
    const asked: string[] = [];
    for (const waitMs of [0, 400, 60_000]) {
      world.clock.advance(waitMs);
      asked.push(new Date(world.clock.now()).toUTCString());
      dates.push((await world.get("/api/repos?sort=stars&limit=6")).headers.get("date"));
    }
    assert.deepEqual(dates, asked);
  });

  test("what a route does know makes another answer", async (t) => {
    const list = t.mock.method(world.modules.lists, "read");
    for (const query of ["limit=4", "limit=5", "limit=5&sort=forks", "limit=5&page=2", "limit=5&q=many"]) {
      assert.equal((await world.get(`/api/repos?${query}`)).status, 200);
    }
    assert.equal(list.mock.callCount(), 5);
    // Not a parameter of the route, so not of the address under which its answer is kept.
    const summary = t.mock.method(world.modules.rankings, "summary");
    for (const query of ["", "?q=a", "?limit=5", "?sort=stars"])
      await world.get(`/api/stats/summary${query}`);
    assert.equal(summary.mock.callCount(), 1);
  });

  test("a path with needless escapes is answered like the one it stands for", async () => {
    const plain = await world.get("/api/repos?sort=stars&limit=2");
    const escaped = await world.get("/api/repo%73?sort=stars&limit=2");
    assert.deepEqual(escaped.body, plain.body);
  });

  test("500 who request the same at the same time have it computed once", async (t) => {
    const list = t.mock.method(world.modules.lists, "read");
    const answers = await Promise.all(
      Array.from({ length: 500 }, () => world.get("/api/repos?sort=forks&limit=7")),
    );
    for (const answer of answers) assert.deepEqual(answer.body, answers[0]?.body);
    assert.equal(answers[0]?.body.data.length, 7);
    assert.equal(list.mock.callCount(), 1);
  });

  test("two responses of one turn have their own ids", async () => {
    const ids = (await Promise.all([0, 1].map(() => world.get("/api/repos")))).map(({ headers }) =>
      headers.get("x-request-id"),
    );
    assert.equal(new Set(ids).size, 2);
  });

  test("500 who request what has changed get the previous response, and have the new one computed once", async (t) => {
    const path = "/api/repos?sort=forks&limit=7";
    const before = await world.get(path);
    await world.record(observation("changed/since", daily(1, 2)));
    world.clock.advance(1_000);
    const { promise, resolve } = Promise.withResolvers<void>();
    const { lists } = world.modules;
    const read = lists.read.bind(lists);
    const list = t.mock.method(lists, "read", async (...parameters: Parameters<typeof read>) => {
      await promise;
      return read(...parameters);
    });
    // The change is noticed beside the requests.
    while (list.mock.callCount() === 0) {
      assert.deepEqual((await world.get(path)).body, before.body);
      await setImmediate();
    }
    const answers = await Promise.all(Array.from({ length: 500 }, () => world.get(path)));
    for (const answer of answers) assert.deepEqual(answer.body, before.body);
    assert.equal(list.mock.callCount(), 1);
    resolve();
  });

  test("at the same time, each gets an error in the form it accepts", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        world.get("/api/repos/github/no/such", i % 2 === 0 ? {} : { Accept: "application/problem+json" }),
      ),
    );
    for (const [i, answer] of answers.entries()) {
      assert.equal(answer.status, 404);
      assert.equal("error" in answer.body, i % 2 === 0);
    }
  });

  test("tags, compression and 304 are the same from the cache", async () => {
    const path = "/api/repos?limit=9&sort=stars";
    const first = await world.request(path);
    const text = await first.text();
    const etag = first.headers.get("etag") ?? "";
    for (const encoding of ["br", "gzip", "zstd", "br"]) {
      const answer = await world.request(path, { headers: { "Accept-Encoding": encoding } });
      assert.equal(answer.headers.get("content-encoding"), encoding);
      assert.equal(answer.headers.get("etag"), etag);
      assert.equal(await decodedText(answer), text);
    }
    assert.equal((await world.get(path, { "If-None-Match": etag })).status, 304);
    assert.equal(await (await world.request(path)).text(), text);
  });

  test("a new record is seen as soon as the clock has moved two seconds", async () => {
    const path = "/api/repos?sort=created";
    const before = names(await world.get(path));
    await world.record(observation("new/one", []));
    world.clock.advance(1_999);
    assert.deepEqual(names(await world.get(path)), before);
    world.clock.advance(1);
    assert.deepEqual(names(await world.get(path)).sort(), [...before, "new/one"].sort());
  });

  test("an error is not kept: what was missing is there once it is recorded", async () => {
    const path = "/api/repos/github/later/on";
    assert.equal((await world.get(path)).status, 404);
    await world.record(observation("later/on", []));
    assert.equal((await world.get(path)).status, 200);
  });

  test("watchlists are never kept: who writes reads it back", async () => {
    const { body } = await world.send("POST", "/api/watchlists", {});
    const list = `/api/watchlists/${body.data.token}`;
    for (const [i, name] of ["One", "Two", "Three"].entries()) {
      await world.send("PATCH", list, { name });
      assert.equal((await world.get(list)).body.data.name, name);
      await world.send("POST", `${list}/items`, { repositoryId: String(i + 1) });
      assert.equal((await world.get(`${list}/repositories`)).body.meta.total, i + 1);
    }
  });

  const away = async () => {
    throw new DatabaseFault("unavailable", new Error("connect ECONNREFUSED"));
  };

  test("while the database is unavailable, cached responses are served for an hour and marked as stale, all others are refused", async (t) => {
    const path = "/api/repos?sort=stars&limit=6";
    const kept = await world.get(path);
    const page = await world.get("/explore?sort=stars");
    const keptAt = world.clock.now();
    for (const fresh of [kept, page]) {
      assert.equal(fresh.headers.get("age"), null);
      assert.equal(fresh.headers.get("cache-status"), null);
    }
    t.mock.method(world.modules.catalog, "revision", away);
    t.mock.method(world.modules.lists, "read", away);
    for (const seconds of [60, 61]) {
      world.clock.advance(keptAt + seconds * 1_000 - world.clock.now());
      const stale = await world.get(path);
      assert.deepEqual(stale.body, kept.body);
      assert.equal(stale.headers.get("age"), String(seconds));
      assert.equal(stale.headers.get("cache-status"), "sidereal; hit; detail=stale");
      assert.equal(stale.headers.get("cache-control"), "public, max-age=0, stale-if-error=3600");
      assert.equal(stale.headers.get("etag"), kept.headers.get("etag"));
    }
    const unchanged = await world.get(path, { "If-None-Match": kept.headers.get("etag") ?? "" });
    assert.equal(unchanged.status, 304);
    assert.equal(unchanged.headers.get("age"), "61");
    const note = 'This page is from <time datetime="2026-04-30T12';
    assert.ok(!page.body.includes(note));
    const stalePage = await world.request("/explore?sort=stars", {
      headers: { Accept: "text/html", "Accept-Encoding": "gzip" },
    });
    assert.ok((await decodedText(stalePage)).includes(note));
    assert.equal(stalePage.headers.get("age"), "61");
    const tag = stalePage.headers.get("etag") ?? "";
    assert.notEqual(tag, page.headers.get("etag"));
    assert.equal((await world.get("/explore?sort=stars", { "If-None-Match": tag })).status, 304);
    assert.equal(errorOf(await world.get("/api/repos?sort=stars&limit=8")).status, 503);
    // At the next failed check, and no longer than an hour.
    world.clock.advance(3_600_000 - 62_000);
    assert.equal((await world.get(path)).status, 200);
    world.clock.advance(1_000);
    assert.equal(errorOf(await world.get(path)).status, 503);
    t.mock.restoreAll();
    await world.record(observation("back/again", []));
    world.clock.advance(2_000);
    const back = await world.get(path);
    assert.equal(back.status, 200);
    assert.equal(back.headers.get("age"), null);
    assert.equal((await world.get("/api/repos?sort=stars&limit=8")).status, 200);
    assert.equal((await world.get("/api/repos/github/back/again")).status, 200);
    assert.ok(!(await world.get("/explore?sort=stars")).body.includes(note));
  });

  test("a change that was noticed before the database went away leaves the previous response, marked as stale", async (t) => {
    const path = "/api/repos?sort=stars&limit=4";
    const kept = await world.get(path);
    await world.record(observation("changed/again", []));
    t.mock.method(world.modules.lists, "read", away);
    world.clock.advance(10_000);
    const stale = await world.get(path);
    assert.deepEqual(stale.body, kept.body);
    assert.equal(stale.headers.get("age"), "10");
    t.mock.restoreAll();
    assert.equal((await world.get(path)).headers.get("age"), null);
  });
});

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

  test("counts in full if the response was computed to find out", async () => {
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
