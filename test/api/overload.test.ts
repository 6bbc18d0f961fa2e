import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AppError } from "../../src/lib/errors.js";
import { addAccount } from "../support/accounts.js";
import { errorOf } from "../support/answers.js";
import { onBothEngines } from "../support/engines.js";
import { open } from "../support/page.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

const REFUSED = {
  status: 503,
  code: "UNAVAILABLE",
  message: "The service is overloaded. Try again, or send an API key.",
};

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** The status of the response to a request from an address. */
async function statusOf(world: World, path: string, peer: string): Promise<number> {
  return (await world.request(path, { peer })).status;
}

onBothEngines("With too much to do", (engine) => {
  /** A world with a cache, and somebody's key. */
  const start = async (env: Record<string, string>) => {
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
    const whenHeld = async (count: number) => {
      while (held.length < count) await turn();
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
    return { held, whenHeld, release };
  };

  test("a caller with one request is next, however many another caller has sent, and health checks wait for nobody", async (t) => {
    const { world } = await start({});
    const order: (number | "health")[] = [];
    let health: Promise<number> | undefined;
    t.mock.method(world.modules.catalog, "get", async (id: number) => {
      order.push(id);
      if (id === 103)
        health = statusOf(world, "/healthz", "192.0.2.3").finally(() => void order.push("health"));
      throw new AppError("NOT_FOUND", "There is no such repository.");
    });
    await statusOf(world, "/healthz", "192.0.2.3");
    await world.get("/api/repos");
    await turn();
    const all = Array.from({ length: 50 }, (_, i) =>
      statusOf(world, `/api/repos/${100 + i}/ranks`, "192.0.2.1"),
    );
    all.push(statusOf(world, "/api/repos/200/ranks", "192.0.2.2"));
    for (const status of await Promise.all(all)) assert.equal(status, 404);
    assert.equal(await health, 200);
    assert.deepEqual(
      order.filter((one) => one !== "health"),
      [100, 101, 200, ...Array.from({ length: 48 }, (_, i) => 102 + i)],
    );
    assert.ok(order.indexOf("health") < order.length - 1, "while others still wait");
  });

  test("requests that arrive together count as in flight", async () => {
    const { world } = await start({ SIDEREAL_CONCURRENCY_ANONYMOUS: "3" });
    const from = (peer: string, paths: readonly string[]) =>
      Promise.all(paths.map((path) => statusOf(world, path, peer)));
    const paths = Array.from({ length: 8 }, (_, i) => `/api/repos?limit=${1 + i}`);
    const [first, second] = await Promise.all([from("192.0.2.1", paths), from("192.0.2.2", paths)]);
    for (const statuses of [first, second])
      assert.deepEqual(statuses, [200, 200, 200, 429, 429, 429, 429, 429]);
    const cached = Array<string>(8).fill("/api/repos?limit=1");
    assert.deepEqual(await from("192.0.2.1", cached), Array(8).fill(200), "what is cached takes no slot");
  });

  test("what finds no room in the queue is refused, while everything that need not be computed is served", async (t) => {
    const { world, key } = await start({ SIDEREAL_QUEUE_LENGTH: "4" });
    const ready = await world.get("/api/repos");
    const page = await open(world, "/explore");
    // From now on the key is known without a read.
    await world.get("/api/limits", key);
    const { held, whenHeld, release } = holdRanks(t, world);
    const { maxReaders } = world.modules.database;
    const running: Promise<number>[] = [];
    const from = (i: number, path: string) => statusOf(world, path, `198.51.100.${i}`);
    for (let i = 0; i < maxReaders; i++) {
      running.push(from(i, `/api/repos/${100 + i}/ranks`));
      await whenHeld(i + 1);
    }
    const waiting = [0, 1, 2, 3].map((i) => from(100 + i, `/api/repos/${200 + i}/ranks`));
    await turn();
    for (const path of ["/api/repos/1/metrics", "/api/repos?limit=7", "/api/search/suggest?q=one"]) {
      const refused = await world.get(path);
      assert.deepEqual(errorOf(refused), REFUSED, path);
      assert.equal(refused.headers.get("retry-after"), "5");
      assert.equal(refused.headers.get("cache-control"), "no-store");
    }
    const picture = await world.request("/api/embed/chart.svg?repo=github:one/one");
    assert.equal(picture.status, 503);
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
    const joining = from(50, "/api/repos/200/ranks");

    const keyed = world.get("/api/repos/300/ranks", key);
    await turn();
    assert.equal(held.length, maxReaders);
    await release([...running, ...waiting, keyed, joining]);
    assert.equal((await keyed).status, 404);
    assert.equal(await joining, 404, "joined what waited already");
    assert.deepEqual(
      held.slice(maxReaders).map(({ id }) => id),
      [300, 200, 201, 202, 203],
    );
    assert.equal((await world.get("/api/repos?limit=7")).status, 200, "afterwards all is as before");
  });

  test("who has waited too long is refused, also while the database hangs, and an outdated response is better", async (t) => {
    const { world } = await start({ SIDEREAL_QUEUE_MS: "500" });
    const ready = await world.get("/api/repos");
    const { whenHeld, release } = holdRanks(t, world);
    const { maxReaders } = world.modules.database;
    const running: Promise<number>[] = [];
    for (let i = 0; i < maxReaders; i++) {
      running.push(statusOf(world, `/api/repos/${100 + i}/ranks`, "192.0.2.1"));
      await whenHeld(i + 1);
    }
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

  test("who asks for what is being computed for somebody else waits for it", async (t) => {
    const { world, key } = await start({});
    const { held, whenHeld, release } = holdRanks(t, world);
    const first = world.get("/api/repos/100/ranks", key);
    await whenHeld(1);
    const second = world.get("/api/repos/100/ranks");
    for (let i = 0; i < 5; i++) await turn();
    assert.equal(held.length, 1);
    await release([first, second]);
    assert.deepEqual((await second).body.error.message, (await first).body.error.message);
  });

  test("a refusal has the id of its own request", async () => {
    const { world } = await start({ SIDEREAL_CONCURRENCY_ANONYMOUS: "1" });
    const paths = Array.from({ length: 4 }, (_, i) => `/api/repos?limit=${i + 1}`);
    const responses = (await Promise.all(paths.map((path) => world.get(path)))).slice(1);
    const ids = responses.map(({ status, body, headers }) => {
      assert.equal(status, 429);
      assert.equal(body.error.requestId, headers.get("x-request-id"));
      return body.error.requestId;
    });
    assert.equal(new Set(ids).size, 3);
  });

  test("without limits nothing is refused", async () => {
    const { world } = await start({
      SIDEREAL_LIMITS: "false",
      SIDEREAL_QUEUE_LENGTH: "1",
      SIDEREAL_QUEUE_MS: "1",
    });
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, i) => world.get(`/api/repos?limit=${i + 1}`)),
    );
    for (const { status } of responses) assert.equal(status, 200);
  });
});
