import assert from "node:assert/strict";
import { test } from "node:test";
import { addAccount } from "../support/accounts.js";
import { errorOf } from "../support/answers.js";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { signIn } from "../support/members.js";
import { open } from "../support/page.js";
import { createWorld, daily, observation } from "../support/world.js";

const MESSAGE = "The service is overloaded. Try again, or send an API key.";
const REFUSED = { status: 503, code: "UNAVAILABLE", message: MESSAGE };
const SUMMARY = "/api/stats/summary";
const HEAVY = "/api/repos/1/metrics";

onSqlite("With too much to do", (engine) => {
  const mailbox = openMailbox();

  /** A world that keeps what is ready, and somebody's key. */
  const start = async (env: Record<string, string>) => {
    const world = await createWorld(engine, { ...mailbox.settings, SIDEREAL_CACHE_MB: "8", ...env });
    await world.record(observation("one/one", daily(1, 2, 3)));
    const account = await addAccount(world.modules.database, "busy@example.org");
    const { secret } = await world.members.keys.create(account, "laptop");
    return { world, key: { "X-API-Key": secret } };
  };

  test("heavy requests of strangers are refused first, then all of them that are not ready", async (t) => {
    const { world, key } = await start({ SIDEREAL_SHED_HEAVY: "2", SIDEREAL_SHED_ANONYMOUS: "4" });
    const member = await signIn(world, mailbox, "member@example.org");
    const ready = await world.get("/api/repos");
    const page = await open(world, "/explore");
    const gates: (() => void)[] = [];
    const get = world.modules.catalog.get.bind(world.modules.catalog);
    t.mock.method(world.modules.catalog, "get", async (id: number) => {
      if (id < 100) return get(id);
      await new Promise<void>((resolve) => gates.push(resolve));
      return get(id);
    });
    const slow: Promise<{ status: number }>[] = [];
    const occupy = async (count: number) => {
      while (slow.length < count) slow.push(world.get(`/api/repos/${100 + slow.length}/ranks`, key));
      while (gates.length < count) await new Promise((resolve) => setImmediate(resolve));
    };

    await occupy(1);
    assert.equal((await world.get(HEAVY)).status, 200, "not yet");
    await occupy(2);
    const refused = await world.get(`${HEAVY}?window=all`);
    assert.deepEqual(errorOf(refused), REFUSED);
    assert.deepEqual(
      ["retry-after", "cache-control"].map((name) => refused.headers.get(name)),
      ["5", "no-store"],
    );
    assert.equal((await world.get(HEAVY)).status, 200, "what is ready is given");
    assert.equal((await world.get(`${HEAVY}?window=all`, key)).status, 200, "a key goes on");
    assert.equal((await world.get(SUMMARY)).status, 200, "what is light goes on");

    await occupy(4);
    for (const path of ["/api/repos?limit=7", "/api/search/suggest?q=one"])
      assert.deepEqual(errorOf(await world.get(path)), REFUSED, path);
    const written = await world.send("POST", "/api/watchlists", { name: "x", ids: ["1"] });
    assert.deepEqual(errorOf(written), REFUSED);
    const told = await open(world, "/compare");
    assert.equal(told.status, 503);
    assert.equal(told.headers.get("retry-after"), "5");
    assert.match(told.text, /The service is overloaded/);

    assert.deepEqual((await world.get("/api/repos")).body, ready.body);
    assert.equal((await open(world, "/explore")).html, page.html);
    await world.record(observation("two/two", daily(1, 2, 3)));
    world.clock.advance(2_000);
    assert.deepEqual(
      (await world.get("/api/repos")).body,
      ready.body,
      "what is kept is given, though it is old",
    );

    assert.equal((await world.get("/api/repos?limit=8", key)).status, 200);
    assert.equal((await world.get("/api/repos?limit=9", member.headers)).status, 200);
    assert.equal((await open(world, "/account", member.headers)).status, 200);
    for (const path of ["/healthz", "/readyz", "/robots.txt", "/api/limits"])
      assert.equal((await world.request(path)).status, 200, path);
    assert.equal((await world.request("/api/repos", { method: "OPTIONS" })).status, 204);
    await signIn(world, mailbox, "late@example.org");

    for (const go of gates.splice(0)) go();
    for (const answer of slow) assert.equal((await answer).status, 404);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal((await world.get("/api/repos?limit=7")).status, 200, "afterwards all is as before");
    assert.equal((await world.get(`${HEAVY}?window=90d`)).status, 200);
    assert.equal((await world.get("/api/repos")).body.data.length, 2);
  });

  test("who asks for what is on its way for somebody else waits for it", async (t) => {
    const { world, key } = await start({ SIDEREAL_SHED_HEAVY: "1", SIDEREAL_SHED_ANONYMOUS: "1" });
    let go = () => {};
    const get = world.modules.catalog.get.bind(world.modules.catalog);
    const found = t.mock.method(world.modules.catalog, "get", async (id: number) => {
      await new Promise<void>((resolve) => {
        go = resolve;
      });
      return get(id);
    });
    const first = world.get("/api/repos/1/ranks", key);
    while (found.mock.callCount() < 1) await new Promise((resolve) => setImmediate(resolve));
    const second = world.get("/api/repos/1/ranks");
    assert.deepEqual(errorOf(await world.get("/api/repos?limit=1")), REFUSED);
    go();
    assert.deepEqual((await second).body, (await first).body);
  });

  test("more requests in one turn than can be answered are refused, also where each is answered at once", async () => {
    const { world } = await start({ SIDEREAL_SHED_HEAVY: "5", SIDEREAL_SHED_ANONYMOUS: "20" });
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => world.get(`/api/repos?limit=${i + 1}`)),
    );
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 20);
    assert.equal(statuses.filter((status) => status === 503).length, 40);
  });

  test("without limits nothing is refused", async () => {
    const { world } = await start({
      SIDEREAL_LIMITS: "false",
      SIDEREAL_SHED_HEAVY: "1",
      SIDEREAL_SHED_ANONYMOUS: "1",
    });
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => world.get(`/api/repos?limit=${i + 1}`)),
    );
    for (const { status } of answers) assert.equal(status, 200);
  });
});
