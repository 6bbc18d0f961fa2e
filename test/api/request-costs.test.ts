import assert from "node:assert/strict";
import { before, test } from "node:test";
import { addAccount } from "../support/accounts.js";
import { onSqlite } from "../support/engines.js";
import { DEFAULT_LIMITS, limits } from "../support/limits.js";
import { unknownSession } from "../support/members.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

onSqlite("The cost of a request", (engine) => {
  let world: World;
  let token: string;
  let shareToken: string;
  let callers = 0;

  before(async () => {
    world = await createWorld(engine, { ...DEFAULT_LIMITS, SIDEREAL_CACHE_MB: "8" });
    await world.record(observation("a/one", daily(1, 2)));
    ({ token, shareToken } = await world.modules.watchlists.create("Mine", [1]));
  });

  const newAddress = () => `198.18.9.${++callers}`;
  const ask = async (path: string, peer = newAddress(), init: RequestInit = {}) => {
    const { status, headers } = await world.request(path, { ...init, peer });
    const [limit = 0, remaining = 0] = ["limit", "remaining"].map((name) =>
      Number(headers.get(`x-ratelimit-${name}`)),
    );
    return { status, bucket: headers.get("x-ratelimit-resource"), used: limit - remaining };
  };
  const ids = (count: number) => new Array<string>(count).fill("id=1").join("&");
  const names = (count: number) => new Array<string>(count).fill("fullName=a/one").join("&");
  const repos = (count: number) => new Array<string>(count).fill("repo=github:a/one").join("&");

  test("follows from its route and parameters, and ordinary requests of the API cost one", async () => {
    const cases: readonly (readonly [string, string, number])[] = [
      ["/api/repos", "default", 1],
      ["/api/repos?limit=40", "default", 1],
      ["/api/repos?limit=41", "default", 2],
      ["/api/repos?limit=100&format=csv", "default", 3],
      ["/api/repos?limit=100&q=a", "search", 3],
      [`/api/repos?${ids(40)}`, "default", 1],
      [`/api/repos?${ids(41)}`, "default", 2],
      [`/api/repos?${ids(30)}&${names(40)}`, "default", 2],
      [`/api/repos?${ids(50)}&${names(50)}`, "default", 3],
      ["/api/feeds/stars.atom?limit=100", "default", 3],
      ["/api/facets/topics?limit=100", "default", 3],
      ["/api/search/suggest?q=a", "search", 1],
      ["/api/repos/1/metrics?window=all", "heavy", 1],
      [`/api/metrics?${repos(1)}`, "heavy", 1],
      [`/api/metrics?${repos(100)}`, "heavy", 1],
      [`/api/embed/chart?${repos(6)}`, "heavy", 6],
      [`/api/embed/chart.svg?${repos(1)}`, "embed", 1],
      [`/api/embed/chart.svg?${repos(6)}`, "embed", 4],
      [`/api/embed/badge.svg?${repos(1)}`, "embed", 1],
      [`/api/embed/card.png?${repos(1)}`, "embed", 8],
      [`/api/watchlists/${token}`, "default", 1],
      [`/api/watchlists/${token}/repositories?limit=100`, "default", 3],
      [`/api/watchlists/${token}/metrics`, "heavy", 3],
      [`/api/watchlists/${shareToken}/feed.atom`, "default", 3],
      [`/watchlists/${token}`, "default", 5],
      ["/api/openapi.json", "default", 3],
      ["/", "default", 2],
      ["/explore?limit=100", "default", 5],
      ["/repos/github/a/one", "default", 2],
      ["/repos/github/a/one?range=all", "default", 3],
      [`/compare?${repos(1)}`, "default", 2],
    ];
    for (const [path, bucket, used] of cases)
      assert.deepEqual(await ask(path), { status: 200, bucket, used }, path);
  });

  test("is not lowered by parameters that are malformed, and has an end", async () => {
    const cases: readonly (readonly [string, number])[] = [
      ["/api/repos?limit=999999999", 1],
      ["/api/repos?limit=99999999999999999999", 1],
      ["/api/repos?limit=1&limit=100", 1],
      [`/api/repos?${ids(100)}&${names(100)}`, 1],
      ["/api/repos?limit=-5", 1],
      ["/api/repos?limit=1e9", 1],
      ["/api/repos?limit=", 1],
      ["/explore?limit=%20100%20", 5],
      ["/explore?limit=1&limit=100", 2],
      ["/repos/github/a/one?range=all&range=30d", 2],
      [`/compare?${repos(6)}`, 2],
      [`/compare?${repos(200)}`, 2],
      [`/api/embed/chart?${repos(200)}`, 1],
    ];
    for (const [path, used] of cases) assert.equal((await ask(path)).used, used, path);
  });

  test("that fails is one, whatever it would have cost", async () => {
    for (const [path, status, bucket] of [
      ["/api/repos/1/metrics?from=yesterday", 400, "heavy"],
      ["/api/repos/999999/metrics?from=2026-04-01", 404, "heavy"],
      [`/api/metrics?${repos(10)}&window=7d`, 400, "heavy"],
      [`/api/embed/chart?${repos(6)}&width=1`, 400, "heavy"],
      ["/api/embed/card.png?repo=github:no/such", 404, "embed"],
      ["/api/repos.ndjson?sort=no", 401, "heavy"],
      ["/api/repos?limit=100&sort=no", 400, "default"],
    ] as const)
      assert.deepEqual(await ask(path), { status, bucket, used: 1 }, path);
  });

  test("of series is that of their points: a caller who has enough for it is served, and more is paid later", async () => {
    const peer = newAddress();
    const panel = `/api/metrics?${repos(10)}&from=2026-04-01&to=2026-04-30`;
    const panels = await Promise.all(Array.from({ length: 20 }, () => ask(panel, peer)));
    assert.deepEqual([...new Set(panels.map(({ status }) => status))], [200]);
    assert.equal((await ask(panel, peer)).status, 429);
  });

  test("of pictures counts by address, whatever key or session asks for them", async () => {
    const account = await addAccount(world.modules.database, "pictures@example.org");
    const { secret } = await world.members.keys.create(account, "readme");
    const [peer, path] = [newAddress(), "/api/embed/badge.svg?repo=github:a/one"];
    for (const headers of [{}, { "X-API-Key": secret }, { Cookie: unknownSession(1) }])
      assert.equal((await ask(path, peer, { headers })).status, 200);
    assert.equal((await ask(path, peer)).used, 4);
    const refused = { "X-API-Key": "sid_unknown", Accept: "application/json" };
    assert.equal((await ask(path, peer, { headers: refused })).status, 401);
  });

  test("is that of GET for HEAD", async () => {
    const peer = newAddress();
    for (const [i, method] of ["GET", "HEAD", "HEAD"].entries())
      assert.equal((await ask("/api/repos", peer, { method })).used, i + 1);
  });

  test("is nothing for OPTIONS, which are allowed where nothing is left", async () => {
    const peer = newAddress();
    for (let i = 0; i < 21; i++) await ask("/api/repos/1/metrics", peer);
    const answer = await ask("/api/repos/1/metrics", peer, { method: "OPTIONS" });
    assert.deepEqual(answer, { status: 204, bucket: "free", used: 1 });
  });

  test("is one for OPTIONS of an address that does not exist, as for any other method", async () => {
    const html = { Accept: "text/html" };
    for (const path of ["/nothing", "/api/nothing"])
      for (const method of ["OPTIONS", "GET", "POST"])
        assert.deepEqual(await ask(path, newAddress(), { method, headers: html }), {
          status: 404,
          bucket: "default",
          used: 1,
        });
  });
});

onSqlite("What is free of charge", (engine) => {
  const FREE = 5;
  const openWorld = (env: Record<string, string> = {}) =>
    createWorld(engine, {
      SIDEREAL_CACHE_MB: "8",
      ...limits(`free=${FREE},default=3`),
      ...env,
    });
  const statuses = async (count: number, ask: () => Promise<Response>) => {
    const found: number[] = [];
    for (let i = 0; i < count; i++) found.push((await ask()).status);
    return found;
  };

  test("has a limit by address, which the health of the service keeps for this machine", async () => {
    const world = await openWorld();
    assert.deepEqual(await statuses(7, () => world.request("/healthz")), [200, 200, 200, 200, 200, 429, 429]);
    assert.deepEqual(await statuses(2, () => world.request("/api/limits")), [429, 429]);
    const local = () => world.request("/healthz", { peer: "127.0.0.1" });
    assert.deepEqual(await statuses(7, local), new Array(7).fill(200));
    assert.equal((await world.request("/readyz", { peer: "::1" })).status, 200);
    assert.equal((await world.request("/readyz", { peer: "192.0.2.9" })).status, 200);
  });

  test("is charged for beyond that: 304 responses cost like others", async () => {
    const world = await openWorld();
    await world.record(observation("a/one", daily(1, 2)));
    const first = await world.request("/api/repos");
    const headers = { "If-None-Match": first.headers.get("etag") ?? "" };
    const again = () => world.request("/api/repos", { headers });
    assert.deepEqual(await statuses(9, again), [304, 304, 304, 304, 304, 304, 304, 429, 429]);
  });
});
