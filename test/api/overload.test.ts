import assert from "node:assert/strict";
import { before, type TestContext, test } from "node:test";
import { ABANDONED } from "../../src/http/limits.js";
import { AppError } from "../../src/lib/errors.js";
import { addAccount } from "../support/accounts.js";
import { errorOf } from "../support/answers.js";
import { onBothEngines, onSqlite } from "../support/engines.js";
import { DEFAULT_LIMITS } from "../support/limits.js";
import { open } from "../support/page.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

const REFUSED = {
  status: 503,
  code: "UNAVAILABLE",
  message: "The service is overloaded. Try again, or send an API key.",
};

/** Responses that are computed at the same time, those of one caller among them, and those that may wait. */
const [RUNNING, OF_CALLER, WAITING] = [16, 4, 400];

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The status of the response to a request from an address. */
async function statusOf(world: World, path: string, peer: string): Promise<number> {
  return (await world.request(path, { peer })).status;
}

onBothEngines("With too much to do", (engine) => {
  /** A world with a cache, and somebody's key. */
  const start = async (env: Record<string, string> = {}) => {
    const world = await createWorld(engine, { SIDEREAL_CACHE_MB: "8", ...env });
    await world.record(observation("one/one", daily(1, 2, 3)));
    const account = await addAccount(world.modules.database, "busy@example.org");
    const { secret } = await world.members.keys.create(account, "laptop");
    return { world, key: { "X-API-Key": secret } };
  };

  /** Lets requests for `/api/repos/<id>/ranks` compute until they are let go, and counts them. */
  const holdRanks = (t: TestContext, world: World) => {
    const held: { id: number; go: () => void }[] = [];
    t.mock.method(world.modules.catalog, "get", async (id: number) => {
      await new Promise<void>((go) => held.push({ id, go }));
      throw new AppError("NOT_FOUND", "There is no such repository.");
    });
    /** Sends as many requests as may run, each from its own address, and waits until they do. */
    const fill = async () => {
      const running: Promise<number>[] = [];
      for (let i = 0; i < RUNNING; i++) {
        running.push(statusOf(world, `/api/repos/${100 + i}/ranks`, `198.51.100.${i}`));
        while (held.length <= i) await turn();
      }
      return running;
    };
    /** Lets all go, also those that begin meanwhile. */
    const release = async (ends: readonly Promise<unknown>[]) => {
      let isOver = false;
      void Promise.allSettled(ends).then(() => {
        isOver = true;
      });
      while (!isOver) {
        for (const { go } of held) go();
        await turn();
      }
    };
    return { held, fill, release };
  };

  test("one caller computes a quarter of what may be, and waits for a quarter of the queue; health checks wait for nobody", async (t) => {
    const { world } = await start();
    const { held, release } = holdRanks(t, world);
    const many = Array.from({ length: 150 }, (_, i) =>
      statusOf(world, `/api/repos/${1_000 + i}/ranks`, "192.0.2.1"),
    );
    while (held.length < OF_CALLER) await turn();
    const other = statusOf(world, "/api/repos/1/ranks", "192.0.2.2");
    while (held.length < OF_CALLER + 1) await turn();
    assert.equal(held.at(-1)?.id, 1, "the other caller is next");
    assert.equal(await statusOf(world, "/healthz", "192.0.2.3"), 200);
    await release([...many, other]);
    const statuses = await Promise.all(many);
    assert.equal(statuses.filter((status) => status === 503).length, 150 - 1 - WAITING / 4);
  });

  test("what finds no room in the queue is refused, while everything that need not be computed is served", async (t) => {
    const { world, key } = await start();
    const ready = await world.get("/api/repos");
    const page = await open(world, "/explore");
    // From now on the key is known without a read.
    await world.get("/api/limits", key);
    const { held, fill, release } = holdRanks(t, world);
    const running = await fill();
    const waiting = Array.from({ length: WAITING }, (_, i) =>
      statusOf(world, `/api/repos/${2_000 + i}/ranks`, `10.0.${Math.floor(i / 200)}.${i % 200}`),
    );
    await turn();
    const ids: string[] = [];
    for (const path of ["/api/repos/1/metrics", "/api/repos?limit=7", "/api/search/suggest?q=one"]) {
      const refused = await world.get(path);
      assert.deepEqual(errorOf(refused), REFUSED, path);
      assert.equal(refused.headers.get("retry-after"), "5");
      assert.equal(refused.headers.get("cache-control"), "no-store");
      assert.equal(refused.body.error.requestId, refused.headers.get("x-request-id"));
      ids.push(refused.body.error.requestId);
    }
    assert.equal(new Set(ids).size, 3);
    const picture = await world.request("/api/embed/chart.svg?repo=github:one/one");
    assert.deepEqual([picture.status, picture.headers.get("retry-after")], [200, "5"]);
    assert.match(await picture.text(), /The service is overloaded/);
    const shown = await open(world, "/compare");
    assert.deepEqual([shown.status, shown.headers.get("retry-after")], [503, "5"]);
    assert.match(shown.text, /The service is overloaded/);
    const written = await world.send("POST", "/api/watchlists", { name: "x", ids: ["1"] });
    assert.deepEqual(errorOf(written), REFUSED);

    assert.deepEqual((await world.get("/api/repos")).body, ready.body);
    assert.equal((await open(world, "/explore")).html, page.html);
    for (const path of ["/healthz", "/readyz", "/robots.txt"])
      assert.equal((await world.request(path)).status, 200, path);
    assert.equal((await world.request("/api/repos", { method: "OPTIONS" })).status, 204);
    const joining = statusOf(world, "/api/repos/2000/ranks", "192.0.2.50");

    const keyed = world.get("/api/repos/300/ranks", key);
    await turn();
    assert.equal(held.length, RUNNING);
    await release([...running, ...waiting, keyed, joining]);
    assert.equal((await keyed).status, 404);
    assert.equal(await joining, 404, "joined what waited already");
    assert.equal(held[RUNNING]?.id, 300, "a caller with a key is next");
    assert.equal((await world.get("/api/repos?limit=7")).status, 200, "afterwards all is as before");
  });

  test("who has waited too long is refused, also while the database hangs, and an outdated response is better", async (t) => {
    const { world } = await start();
    const ready = await world.get("/api/repos");
    const { fill, release } = holdRanks(t, world);
    const running = await fill();
    await world.modules.catalog.record([observation("two/two", daily(1, 2, 3))]);
    world.clock.advance(2_000);
    const refused = world.get("/api/repos?limit=7");
    const outdated = world.get("/api/repos");
    let isOver = false;
    void Promise.allSettled([refused, outdated]).then(() => {
      isOver = true;
    });
    while (!isOver) {
      world.clock.advance(50);
      await turn();
    }
    assert.deepEqual(errorOf(await refused), REFUSED);
    assert.deepEqual((await outdated).body, ready.body);
    await release(running);
    for (const status of running) assert.equal(await status, 404);
  });

  test("a request for a response that is being computed waits for it", async (t) => {
    const { world, key } = await start();
    const { held, release } = holdRanks(t, world);
    const first = world.get("/api/repos/100/ranks", key);
    while (held.length === 0) await turn();
    const second = world.get("/api/repos/100/ranks");
    for (let i = 0; i < 5; i++) await turn();
    assert.equal(held.length, 1);
    await release([first, second]);
    assert.deepEqual((await second).body.error.message, (await first).body.error.message);
  });

  test("who joins while a task is dropped, as all who waited for it are gone, is refused and not cut off", {
    timeout: 60_000,
  }, async (t) => {
    const { world } = await start();
    t.mock.method(world.modules.catalog, "get", async () => {
      throw ABANDONED;
    });
    assert.deepEqual(errorOf(await world.get("/api/repos/1/ranks")), REFUSED);
  });

  test("without limits nothing is refused", async () => {
    const { world } = await start({ SIDEREAL_LIMITS: "false" });
    const responses = await Promise.all(
      Array.from({ length: 150 }, (_, i) => world.get(`/api/repos?limit=${1 + (i % 100)}&page=${i}`)),
    );
    for (const { status } of responses) assert.notEqual(status, 503);
  });

  test("pictures beyond those that may wait to be drawn are refused", async () => {
    const { world } = await start();
    const cards = Array.from({ length: 30 }, (_, i) =>
      statusOf(world, `/api/embed/card.png?repo=github:one/one&rank=${i}`, `192.0.2.${i}`),
    );
    const statuses = await Promise.all(cards);
    assert.ok(statuses.includes(200), String(statuses));
    assert.equal(await statusOf(world, "/api/embed/card.png?repo=github:one/one", "192.0.2.99"), 200);
  });
});

/** The limits of an installation that sets none, behind a proxy. */
const SETTINGS = {
  ...DEFAULT_LIMITS,
  SIDEREAL_TRUSTED_PROXIES: "10.0.0.1",
};
const METRICS = "/api/repos/1/metrics";
/** Each is a fault of another part of an address. */
const MALFORMED = ["?window=%zz", `?${"&".repeat(200)}`, `?x=${"y".repeat(8_000)}`];

onSqlite("A caller with nothing left", (engine) => {
  let world: World;
  let callers = 0;

  before(async () => {
    world = await createWorld(engine, SETTINGS);
    await world.record(observation("a/one", daily(1, 2)));
  });

  /** GET from an address that nobody has used: with the bucket where it is refused for its limit. */
  const newcomer = () => {
    const client = `198.18.0.${callers++}`;
    return async (path: string, { isProxied = false, headers = {} } = {}) => {
      const sent = isProxied ? { ...headers, "X-Forwarded-For": client } : headers;
      const response = await world.request(path, { headers: sent, peer: isProxied ? "10.0.0.1" : client });
      const { status } = response;
      return status === 429 ? `429 ${response.headers.get("x-ratelimit-resource")}` : String(status);
    };
  };

  for (const isProxied of [false, true])
    test(`is refused before its request is read, ${isProxied ? "through a proxy" : "directly"}`, async () => {
      const [ask, other] = [newcomer(), newcomer()];
      for (let i = 0; i < 20; i++) assert.equal(await ask(METRICS, { isProxied }), "200");
      for (const rest of MALFORMED) {
        assert.equal(await ask(METRICS + rest, { isProxied }), "429 heavy");
        assert.match(await other(METRICS + rest, { isProxied }), /^4(?:00|14)$/);
      }
      for (const path of ["/api/stats/summary", "/api/repos?q=a", "/api/limits", "/healthz"])
        assert.equal(await ask(path, { isProxied }), "200", "what else it has left is served");
      assert.equal(await ask("/api/stats/summary?x=%zz", { isProxied }), "400");
    });

  test("may have a key, which has limits of its own", async () => {
    const account = await addAccount(world.modules.database, "unread@example.org");
    const { secret } = await world.members.keys.create(account, "key");
    const ask = newcomer();
    const headers = { "X-API-Key": secret };
    for (let i = 0; i < 21; i++) await ask(METRICS);
    for (let i = 0; i < 60; i++) assert.equal(await ask(METRICS, { headers }), "200");
    assert.equal(await ask(METRICS + MALFORMED[0], { headers }), "429 heavy");
    assert.equal(await ask(`/api/stats/summary${MALFORMED[0]}`, { headers }), "400");
  });

  test("is refused for the bucket of its search, which is found in a long query without reading it", async () => {
    const ask = newcomer();
    const long = `x=${"y".repeat(400)}`;
    for (let i = 0; i < 120; i++) await ask("/api/stats/summary");
    for (const query of [long, `q=&${long}`, `q&q=a&${long}`, `aq=a&${long}`])
      assert.equal(await ask(`/api/repos?${query}`), "429 default", query);
    for (const query of [`q=a&${long}`, `${long}&%71=a`])
      assert.equal(await ask(`/api/repos?${query}`), "200", query);
    for (let i = 0; i < 120; i++) await ask("/api/search/suggest?q=o");
    assert.equal(await ask(`/api/repos?q=a&${long}&z=%zz`), "429 search");
  });

  test("waits for all that its request costs", async () => {
    const ask = async (path: string) => {
      const { status, headers } = await world.request(path, { peer: "198.19.0.1" });
      return `${status} ${headers.get("retry-after") ?? ""}`;
    };
    for (let i = 0; i < 120; i++) await ask("/api/stats/summary");
    assert.equal(await ask("/api/stats/summary"), "429 1");
    assert.equal(await ask("/api/repos?limit=100"), "429 2");
    world.clock.advance(1_500);
    assert.equal(await ask("/api/repos?limit=100"), "200 ");
  });
});
