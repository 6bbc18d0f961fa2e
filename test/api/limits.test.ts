import assert from "node:assert/strict";
import { before, test } from "node:test";
import { API_ROUTES } from "../../src/api/routes.js";
import { pathPattern } from "../../src/http/route.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { createToken } from "../../src/lib/tokens.js";
import { addAccount } from "../support/accounts.js";
import { errorOf } from "../support/answers.js";
import { onSqlite } from "../support/engines.js";
import { DEFAULT_LIMITS, limits } from "../support/limits.js";
import { unknownSession } from "../support/members.js";
import { document } from "../support/openapi.js";
import { get, onTheWire } from "../support/raw.js";
import { type Answer, createWorld, daily, NOW, observation, type World } from "../support/world.js";

/** The limits of an installation that sets none. */
const RATE = [
  "ratelimit",
  "ratelimit-policy",
  "x-ratelimit-limit",
  "x-ratelimit-remaining",
  "x-ratelimit-reset",
  "x-ratelimit-resource",
];

/** What an answer says of limits; fails where its two forms differ. */
function told({ headers }: Pick<Answer, "headers">) {
  const policy = /^"(\w+)";q=(\d+);w=(\d+)$/.exec(headers.get("ratelimit-policy") ?? "");
  const left = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(headers.get("ratelimit") ?? "");
  assert.ok(policy && left, `${headers.get("ratelimit-policy")} ${headers.get("ratelimit")}`);
  const older = ["limit", "remaining", "resource"].map((name) => headers.get(`x-ratelimit-${name}`));
  assert.deepEqual(older, [policy[2], left[2], policy[1]]);
  assert.equal(left[1], policy[1]);
  return { bucket: policy[1], limit: Number(policy[2]), remaining: Number(left[2]), more: Number(left[3]) };
}

onSqlite("Limits", (engine) => {
  let world: World;
  let token: string;
  let shareToken: string;
  let callers = 0;
  const newAddress = () => `198.18.${callers >> 8}.${callers++ & 255}`;
  /** GET and other requests from an address that nobody has used. */
  const newcomer = () => {
    const peer = newAddress();
    const ask = async (path: string, init: RequestInit = {}): Promise<Answer> => {
      const response = await world.request(path, { ...init, peer });
      const text = await response.text();
      const isJson = text !== "" && response.headers.get("content-type")?.includes("json");
      return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
    };
    return ask;
  };
  const json = (body: unknown): RequestInit => ({
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });

  before(async () => {
    world = await createWorld(engine, { ...DEFAULT_LIMITS, SIDEREAL_CACHE_MB: "8" });
    await world.record(observation("a/one", daily(1, 2)));
    ({ token, shareToken } = await world.modules.watchlists.create("Mine", [1]));
  });

  const EXAMPLES: readonly (readonly [string, number, string, RequestInit])[] = [
    ["default", 120, "/api/stats/summary", {}],
    ["search", 120, "/api/search/suggest?q=o", {}],
    ["heavy", 20, "/api/repos/1/metrics", {}],
    ["write", 20, "/api/watchlists/{token}/items", json({ repositoryId: "1" })],
  ];
  for (const [bucket, limit, pattern, init] of EXAMPLES) {
    test(`${bucket}: after r=n exactly n pass at once, and after Retry-After the next`, async () => {
      const ask = newcomer();
      const path = pattern.replace("{token}", token);
      for (let left = limit - 1; left >= 0; left--) {
        const answer = await ask(path, init);
        assert.ok(answer.status < 300);
        assert.deepEqual({ ...told(answer), more: 0 }, { bucket, limit, remaining: left, more: 0 });
      }
      const refused = await ask(path, init);
      const wait = Number(refused.headers.get("retry-after"));
      assert.equal(wait, 60 / limit < 1 ? 1 : 60 / limit);
      assert.ok(wait >= told(refused).more);
      const message = `at most ${limit} requests in 60 seconds; try again in ${wait} s`;
      assert.deepEqual(errorOf(refused), {
        status: 429,
        code: "RATE_LIMITED",
        message: `Rate limit of the bucket ${bucket} exceeded: ${message}.`,
        details: [{ parameter: "bucket", message, values: [bucket] }],
      });
      assert.equal(refused.headers.get("cache-control"), "no-store");
      assert.equal(refused.headers.get("access-control-allow-origin"), "*");
      assert.equal(Number(refused.headers.get("x-ratelimit-reset")), world.clock.now() / 1_000 + wait);
      const problem = await ask(path, {
        ...init,
        headers: { ...init.headers, Accept: "application/problem+json" },
      });
      assert.equal(problem.headers.get("content-type"), "application/problem+json; charset=utf-8");
      assert.deepEqual([problem.body.status, problem.body.code], [429, "RATE_LIMITED"]);
      world.clock.set(world.clock.now() + HOUR_MS);
      assert.equal((await ask(path, init)).status, 429, "only time that passes counts");
      world.clock.set(world.clock.now() - 2 * HOUR_MS);
      world.clock.advance(wait * 1_000);
      assert.ok((await ask(path, init)).status < 300);
      world.clock.set(NOW);
    });
  }

  test("every route has the bucket of what it does, and says so in every answer", async () => {
    const expected = (method: string, path: string, withQ: boolean): string | null => {
      if (path === "/healthz" || path === "/readyz" || path === "/api/limits") return "free";
      if (path.startsWith("/api/auth/") || path === "/api/me/sign-out-everywhere") return "auth";
      if (method !== "POST" && /^\/api\/me\/(?:keys|sessions)(?:\/1)?$/.test(path)) return "auth";
      if (method !== "GET") return "write";
      if (/\.(?:svg|png)$/.test(path)) return "embed";
      if (/\/(?:metrics|ranks|embed\/chart|me\/export|repos\.ndjson|repos\.csv)$/.test(path)) return "heavy";
      return withQ || path === "/api/search/suggest" ? "search" : "default";
    };
    for (const { route } of API_ROUTES) {
      const { method, limit } = route;
      const path = route.path.replaceAll(/\{(\w+)\*?\}/g, "1");
      const takesQ = typeof limit.bucket === "object";
      assert.equal(
        takesQ,
        route.path !== "/api/search/suggest" &&
          limit.streams === undefined &&
          JSON.stringify(document.paths[pathPattern(route)]).includes('"name":"q"'),
      );
      for (const [query, withQ] of [
        ["", false],
        ["?q=", false],
        ["?q=a", takesQ],
        ["?%71=a", takesQ],
      ] as const) {
        const where = `${method} ${path}${query}`;
        const answer = await newcomer()(path + query, { method });
        assert.equal(answer.headers.get("x-ratelimit-resource"), expected(method, path, withQ), where);
      }
    }
    for (const path of ["/api/openapi.json", "/api/nothing", "/api/"])
      assert.equal(told(await newcomer()(path)).bucket, "default");
    for (const path of ["/", "/docs", "/explore?q=a", "/nothing"])
      assert.equal(told(await newcomer()(path)).bucket, "default");
    const post = { method: "POST" };
    assert.equal(told(await newcomer()("/watchlist/items", post)).bucket, "write");
    for (const path of ["/sign-in", "/sign-in/link"])
      assert.equal(told(await newcomer()(path, post)).bucket, "auth");
    const style = /href="(\/assets\/[^"]+\.css)"/.exec((await newcomer()("/")).body)?.[1] ?? "";
    for (const path of [
      style,
      "/assets/old/x.js",
      "/avatars/0123",
      "/robots.txt",
      "/sitemap.xml",
      "/sitemaps/pages.xml",
    ])
      assert.equal(told(await newcomer()(path)).bucket, "free", path);
  });

  test("each key has its own limit beneath the ceiling of its account, and an unknown key costs ten", async () => {
    const account = await addAccount(world.modules.database, "limits@example.org");
    const { keys } = world.members;
    const secrets = [(await keys.create(account, "one")).secret, (await keys.create(account, "two")).secret];
    const ask = newcomer();
    for (const secret of secrets) {
      const answer = await ask("/api/stats/summary", { headers: { "X-API-Key": secret } });
      assert.deepEqual(
        [told(answer).bucket, told(answer).limit, told(answer).remaining],
        ["default", 400, 399],
      );
    }
    const { data } = (await ask("/api/limits", { headers: { Authorization: `Bearer ${secrets[0]}` } })).body;
    assert.equal(data.caller, "key");
    const counts = (rows: { bucket: string; limit: number; remaining: number }[]) =>
      rows.map(({ bucket, limit, remaining }) => [bucket, limit, remaining]);
    assert.deepEqual(counts(data.buckets), [
      ["default", 400, 399],
      ["search", 300, 300],
      ["heavy", 60, 60],
      ["write", 60, 60],
    ]);
    assert.deepEqual(counts(data.account), [
      ["default", 600, 598],
      ["search", 450, 450],
      ["heavy", 90, 90],
      ["write", 90, 90],
    ]);
    assert.equal(told(await ask("/api/stats/summary")).remaining, 119, "the address has not been counted");
    const refused = await ask("/api/stats/summary", { headers: { "X-API-Key": "sid_nothing" } });
    assert.equal(refused.status, 401);
    assert.deepEqual([told(refused).limit, told(refused).remaining], [120, 109]);
  });

  test("no spelling of an address counts in another bucket than what it is answered from", async () => {
    const cases = [
      ["/api/repos/1/metric%73", "heavy"],
      ["/api/repos/1/%6detrics?window=90d", "heavy"],
      ["/%61pi/search/suggest", "search"],
      ["/api/repos?a=b&%71=x", "search"],
    ] as const;
    for (const [path, bucket] of cases) {
      const answer = await newcomer()(path);
      assert.equal(answer.status, 200, path);
      assert.equal(told(answer).bucket, bucket, path);
    }
  });

  const level = (bucket: string, limit: number, now: [remaining: number, more: number, reset: number]) => {
    const [remaining, moreInSeconds, resetSeconds] = now;
    return { bucket, limit, windowSeconds: 60, remaining, moreInSeconds, resetSeconds };
  };

  test("/api/limits tells every bucket, costs nothing, and is answered also when nothing is left", async () => {
    const ask = newcomer();
    for (let i = 0; i < 121; i++) await ask("/api/stats/summary");
    await ask("/api/repos/1/ranks");
    world.clock.advance(500);
    for (let i = 0; i < 2; i++) {
      const answer = await ask("/api/limits");
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("cache-control"), "no-store");
      assert.deepEqual(answer.body.data, {
        caller: "anonymous",
        isLimited: true,
        buckets: [
          level("default", 120, [1, 1, 60]),
          level("search", 120, [120, 0, 0]),
          level("heavy", 20, [19, 3, 3]),
          level("write", 20, [20, 0, 0]),
          level("embed", 300, [300, 0, 0]),
          level("auth", 10, [10, 0, 0]),
          level("lookup", 60, [60, 0, 0]),
          level("free", 3_000, [2_999 - i, 1, 1]),
        ],
        account: null,
      });
    }
    assert.equal((await ask("/api/stats/summary")).status, 200);
    assert.equal((await ask("/api/stats/summary")).status, 429);
  });

  test("an unknown token costs ten, whatever the request; a known one costs one", async (t) => {
    const find = t.mock.method(world.modules.watchlists, "get");
    for (const token of [createToken("sidw"), createToken("sidr"), "sidw_made-up"]) {
      const ask = newcomer();
      assert.equal(told(await ask("/api/stats/summary")).remaining, 119);
      find.mock.resetCalls();
      const answers = [];
      for (let i = 0; i < 14; i++) answers.push(await ask(`/api/watchlists/${token}`));
      assert.deepEqual(
        answers.map(({ status }) => status),
        [...Array(12).fill(404), 429, 429],
      );
      assert.equal(told(answers[0] as Answer).remaining, 109);
      assert.equal(find.mock.callCount(), 12, "who is refused makes no work");
    }
    const ask = newcomer();
    const { token } = (await ask("/api/watchlists", json({}))).body.data;
    assert.equal(told(await ask(`/api/watchlists/${token}`)).remaining, 119);
    const cases = [
      ["GET", `/api/watchlists/${createToken("sidw")}/repositories`, 110],
      ["GET", `/api/watchlists/${createToken("sidw")}/metrics`, 10],
      ["GET", `/api/watchlists/${createToken("sidf")}/feed.atom`, 110],
      ["DELETE", `/api/watchlists/${createToken("sidw")}`, 10],
      ["DELETE", `/api/watchlists/${createToken("sidw")}/items/1`, 10],
      ["GET", "/api/repos/github/no/such", 119],
    ] as const;
    for (const [method, path, left] of cases) {
      const answer = await newcomer()(path, { method });
      assert.equal(answer.status, 404, path);
      assert.equal(told(answer).remaining, left, path);
    }
  });

  test("many at once are told different things, and no more pass than the limit", async () => {
    const ask = newcomer();
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask("/api/repos/1/metrics")));
    assert.equal(answers.filter(({ status }) => status === 200).length, 20);
    assert.equal(answers.filter(({ status }) => status === 429).length, 10);
    assert.equal(told(await ask("/api/repos/1/metrics")).remaining, 0);
  });

  const ask = async (path: string, peer = newAddress(), init: RequestInit = {}) => {
    const response = await world.request(path, { ...init, peer });
    const { bucket, limit, remaining } = told(response);
    return { status: response.status, bucket, used: limit - remaining };
  };
  const ids = (count: number) => new Array<string>(count).fill("id=1").join("&");
  const names = (count: number) => new Array<string>(count).fill("fullName=a/one").join("&");
  const repos = (count: number) => new Array<string>(count).fill("repo=github:a/one").join("&");

  test("the cost follows from its route and parameters, and ordinary requests of the API cost one", async () => {
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
      [`/api/embed/chart.png?${repos(1)}`, "embed", 8],
      [`/api/embed/chart.png?${repos(6)}`, "embed", 11],
      [`/api/embed/chart.png?${repos(6)}&style=sketch`, "embed", 35],
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

  test("the cost is not lowered by parameters that are malformed, and has an end", async () => {
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

  test("a request that fails costs one, whatever it would have cost", async () => {
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

  test("series cost their points: a caller who has enough for it is served, and more is paid later", async () => {
    const peer = newAddress();
    const panel = `/api/metrics?${repos(10)}&from=2026-04-01&to=2026-04-30`;
    const panels = await Promise.all(Array.from({ length: 20 }, () => ask(panel, peer)));
    assert.deepEqual([...new Set(panels.map(({ status }) => status))], [200]);
    assert.equal((await ask(panel, peer)).status, 429);
  });

  test("the cost of pictures counts by address, whatever the key or session", async () => {
    const account = await addAccount(world.modules.database, "pictures@example.org");
    const { secret } = await world.members.keys.create(account, "readme");
    const [peer, path] = [newAddress(), "/api/embed/badge.svg?repo=github:a/one"];
    for (const headers of [{}, { "X-API-Key": secret }, { Cookie: unknownSession(1) }])
      assert.equal((await ask(path, peer, { headers })).status, 200);
    assert.equal((await ask(path, peer)).used, 4);
    const refused = { "X-API-Key": "sid_unknown", Accept: "application/json" };
    assert.equal((await ask(path, peer, { headers: refused })).status, 401);
  });

  test("HEAD costs as much as GET", async () => {
    const peer = newAddress();
    for (const [i, method] of ["GET", "HEAD", "HEAD"].entries())
      assert.equal((await ask("/api/repos", peer, { method })).used, i + 1);
  });

  test("OPTIONS cost nothing, and are allowed when nothing is left", async () => {
    const peer = newAddress();
    for (let i = 0; i < 21; i++) await ask("/api/repos/1/metrics", peer);
    const answer = await ask("/api/repos/1/metrics", peer, { method: "OPTIONS" });
    assert.deepEqual(answer, { status: 204, bucket: "free", used: 1 });
  });

  test("OPTIONS cost one for an address that does not exist, like any other method", async () => {
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

onSqlite("Limits in other installations", (engine) => {
  const remaining = async (world: World, peer: string, headers: Record<string, string> = {}) =>
    Number(
      (await world.request("/api/stats/summary", { peer, headers })).headers.get("x-ratelimit-remaining"),
    );

  test("what a caller says of its address changes nothing, unless a trusted proxy passes it on", async () => {
    const world = await createWorld(engine, {
      ...DEFAULT_LIMITS,
      SIDEREAL_TRUSTED_PROXIES: "10.0.0.0/8, 2001:db8::/32",
    });
    const spoofed = (i: number) => ({
      "X-Forwarded-For": `1.2.3.${i}`,
      Forwarded: `for=1.2.3.${i}`,
      "X-Real-IP": `1.2.3.${i}`,
    });
    for (let i = 1; i <= 5; i++) assert.equal(await remaining(world, "203.0.113.1", spoofed(i)), 120 - i);
    for (let i = 1; i <= 5; i++) assert.equal(await remaining(world, "10.0.0.1", spoofed(i)), 119);
    const behind = (i: number) => ({ "X-Forwarded-For": `9.9.9.${i}, 203.0.113.2, 2001:db8::5` });
    for (let i = 1; i <= 5; i++) assert.equal(await remaining(world, "10.0.0.2", behind(i)), 120 - i);
    const other = { Forwarded: "for=1.2.3.4", "X-Real-IP": "1.2.3.4" };
    assert.equal(await remaining(world, "10.0.0.3", other), 119);
    assert.equal(await remaining(world, "10.0.0.3", other), 118);
  });

  test("an answer that is ready counts like any other, and has the numbers of who gets it", async (t) => {
    const world = await createWorld(engine, { ...DEFAULT_LIMITS, SIDEREAL_CACHE_MB: "8" });
    const summary = t.mock.method(world.modules.rankings, "summary");
    for (let i = 1; i <= 120; i++) assert.equal(await remaining(world, "203.0.113.1"), 120 - i);
    const refused = await world.request("/api/stats/summary", { peer: "203.0.113.1" });
    assert.equal(refused.status, 429);
    assert.equal(await remaining(world, "203.0.113.2"), 119);
    assert.equal(summary.mock.callCount(), 1);
    const limits = async (peer: string) => (await world.request("/api/limits", { peer })).text();
    const [one, two] = await Promise.all([limits("203.0.113.1"), limits("203.0.113.2")]);
    const remainingIn = (text: string) => JSON.parse(text).data.buckets[0].remaining;
    assert.deepEqual([remainingIn(one), remainingIn(two)], [0, 119]);
  });

  test("limits are those that are set", async () => {
    const world = await createWorld(engine, { ...DEFAULT_LIMITS, ...limits("default=7") });
    const answer = await world.get("/api/stats/summary");
    assert.deepEqual(told(answer), { bucket: "default", limit: 7, remaining: 6, more: 9 });
  });

  test("limits that are turned off limit nobody and are not told", async () => {
    const world = await createWorld(engine, { ...DEFAULT_LIMITS, SIDEREAL_LIMITS: "false" });
    for (let i = 0; i < 30; i++) {
      const answer = await world.get("/api/watchlists/unknown");
      assert.equal(answer.status, 404);
      for (const name of RATE) assert.equal(answer.headers.get(name), null);
    }
    const { data } = (await world.get("/api/limits")).body;
    assert.deepEqual(data, { caller: "anonymous", isLimited: false, buckets: [], account: null });
  });

  const wire = onTheWire(engine);
  test("on the wire the connection's address is the caller, and a malformed request counts too", async () => {
    const left = async (target: string) =>
      Number((await wire.send(get(target)))[0]?.headers["x-ratelimit-remaining"]);
    const before = await left("/api/stats/summary");
    assert.equal(await left("/api/%zz"), before - 1);
    assert.equal(await left("/api/stats/summary"), before - 2);
  });
});

test("the document has the refusal and the headers of every route", () => {
  for (const { route } of API_ROUTES) {
    const responses = document.paths[pathPattern(route)]?.[route.method.toLowerCase()]?.responses ?? {};
    assert.ok("default" in responses, route.path);
    for (const [status, response] of Object.entries(responses)) {
      const names = "headers" in response ? Object.keys(response.headers ?? {}) : [];
      if (["304", "default"].includes(status)) assert.ok(names.includes("RateLimit"), route.path);
    }
  }
});
