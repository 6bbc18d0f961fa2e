import assert from "node:assert/strict";
import { test } from "node:test";
import { DailyQuotas } from "../../src/accounts/quotas.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { hashToken } from "../../src/lib/tokens.js";
import { onSqliteAndLong } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { LISTED } from "../support/watchlists.js";
import { createWorld, NOW, type World } from "../support/world.js";

const QUOTA = limits("watchlists=3,watchlist-items=5");

onSqliteAndLong("The daily quota of watchlists", (engine) => {
  const start = async (env: Record<string, string> = QUOTA) => {
    const world = await createWorld(engine, env);
    await world.record(...LISTED.slice(0, 10));
    return world;
  };
  const create = (world: World, peer: string, ids: string[] = []) =>
    world.request("/api/watchlists", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ ids }),
      peer,
    });
  const statuses = async (world: World, peers: readonly string[]) => {
    const found: number[] = [];
    for (const peer of peers) found.push((await create(world, peer)).status);
    return found;
  };

  test("bounds the lists an address creates until the next day (UTC), and says when that is", async () => {
    const world = await start();
    const peer = "192.0.2.7";
    assert.deepEqual(await statuses(world, [peer, peer, peer, peer, "192.0.2.8"]), [201, 201, 201, 429, 201]);
    const refused = await create(world, peer);
    // The world begins at noon.
    assert.equal(refused.headers.get("retry-after"), String((12 * HOUR_MS) / 1_000));
    const { error } = JSON.parse(await refused.text());
    assert.equal(error.code, "RATE_LIMITED");
    assert.match(error.message, /at most 3 watchlists may be created in a day/);
    assert.deepEqual(error.details[0].values, ["watchlists"]);
    world.clock.advance(12 * HOUR_MS);
    assert.equal((await create(world, peer)).status, 201);
  });

  test("bounds the Idempotency-Keys that are remembered, as each is stored with its list", async () => {
    const world = await start();
    const created = [];
    for (let i = 0; i < 6; i++) {
      const key = { "Idempotency-Key": `a-key-of-its-own-${i}` };
      created.push((await world.send("POST", "/api/watchlists", { name: `List ${i}` }, key)).status);
    }
    assert.deepEqual(created, [201, 201, 201, 429, 429, 429]);
    const unknown = { ids: ["999999"] };
    const key = { "Idempotency-Key": "a-key-of-no-list" };
    assert.equal((await world.send("POST", "/api/watchlists", unknown, key)).status, 400);
    const kept = await world.modules.database.read
      .selectFrom("quota_use")
      .select("used")
      .where("quota", "=", "idempotency")
      .execute();
    assert.equal(kept.length, 3);
  });

  test("bounds the repositories that an address adds, to new lists and to existing ones", async () => {
    const world = await start();
    const peer = "192.0.2.7";
    const made = await create(world, peer, ["1", "2", "3", "4"]);
    assert.equal(made.status, 201);
    const { data } = JSON.parse(await made.text());
    const add = (repositoryId: string, from = peer) =>
      world.request(`/api/watchlists/${data.token}/items`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ repositoryId }),
        peer: from,
      });
    assert.equal((await add("5")).status, 201);
    assert.equal((await add("5")).status, 200, "what adds nothing does not count");
    const refused = await add("6");
    assert.equal(refused.status, 429);
    assert.deepEqual(JSON.parse(await refused.text()).error.details[0].values, ["watchlist_items"]);
    assert.equal((await create(world, peer, ["1"])).status, 429);
    const list = (await world.get(`/api/watchlists/${data.token}`)).body;
    assert.deepEqual(list.data.ids, ["1", "2", "3", "4", "5"], "nothing is stored beyond the quota");
    assert.equal((await add("6", "192.0.2.8")).status, 201);
  });

  test("counts IPv6 callers by network of 64 bits, and sixteen times as much by network of 48", async () => {
    const world = await start({ ...QUOTA, ...limits("watchlists=1") });
    const one = await statuses(world, ["2001:db8:1:1::1", "2001:db8:1:1::2"]);
    assert.deepEqual(one, [201, 429]);
    const others = await statuses(
      world,
      Array.from({ length: 16 }, (_, i) => `2001:db8:1:${(i + 2).toString(16)}::1`),
    );
    assert.deepEqual(others, [...Array.from({ length: 15 }, () => 201), 429]);
    assert.deepEqual(await statuses(world, ["2001:db8:2:1::1"]), [201]);
  });

  test("counts requests that arrive at the same time once each", async () => {
    const world = await start();
    const sent = await Promise.all(Array.from({ length: 12 }, () => create(world, "192.0.2.7")));
    assert.equal(sent.filter(({ status }) => status === 201).length, 3);
    assert.equal(sent.filter(({ status }) => status === 429).length, 9);
  });

  test("applies to the form of the page too, and not if limits are off", async () => {
    const submit = (world: World) =>
      world.request("/watchlists", {
        method: "POST",
        headers: { "Content-Type": "application/x-www-form-urlencoded", Origin: "https://sidereal.example" },
        body: "repositories=a/one",
      });
    const world = await start({ ...QUOTA, ...limits("watchlists=1") });
    assert.equal((await submit(world)).status, 200);
    const refused = await submit(world);
    assert.equal(refused.status, 429);
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    const open = await start({ ...QUOTA, ...limits("watchlists=1"), SIDEREAL_LIMITS: "false" });
    for (let i = 0; i < 3; i++) assert.equal((await submit(open)).status, 200);
  });

  test("stores callers under a name that only the secret of the service leads to", async () => {
    const { modules } = await start();
    const { durable, read } = modules.database;
    const callers = async (authSecret: string) => {
      const config = { authSecret, databaseUrl: undefined, dataDir: "" };
      const quotas = new DailyQuotas({ config, database: modules.database });
      const adding = { holders: [{ name: "192.0.2.7", factor: 1 }], quota: { lists: 10, items: 10 } };
      for (let i = 0; i < 2; i++) {
        const count = await quotas.counterOf(adding);
        await durable.transaction().execute((tx) => count(tx, { kind: "lists", amount: 1, now: NOW }));
      }
      return read.selectFrom("quota_use").select(["holder", "used"]).orderBy("used", "desc").execute();
    };
    const [first] = await callers("one secret");
    assert.equal(first?.used, 2);
    assert.notEqual(first?.holder, hashToken(`${Math.floor(NOW / DAY_MS)} 192.0.2.7`));
    const both = await callers("another secret");
    assert.equal(new Set(both.map(({ holder }) => holder)).size, 2);
  });

  test("stores no address, and forgets the counts of earlier days", async () => {
    const world = await start();
    await create(world, "192.0.2.7", ["1"]);
    const rows = () => world.modules.database.read.selectFrom("quota_use").selectAll().execute();
    const stored = await rows();
    assert.deepEqual(stored.map(({ quota, used }) => [quota, used]).sort(), [
      ["watchlist_items", 1],
      ["watchlists", 1],
    ]);
    assert.doesNotMatch(JSON.stringify(stored), /192\.0/);
    const expire = () => world.members.accounts.removeExpired();
    await expire();
    assert.equal((await rows()).length, 2);
    world.clock.advance(DAY_MS + HOUR_MS);
    await expire();
    assert.deepEqual(await rows(), []);
  });
});
