import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { type Service, startService } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import { createLog } from "../../src/lib/log.js";
import { type AppContext, type Modules, openModules, updateDerived } from "../../src/modules.js";
import { type Engine, onSqliteAndLong } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { type Mailbox, openMailbox, tokenOf } from "../support/mail.js";
import { ManualClock } from "../support/manual-clock.js";
import { unknownSession } from "../support/members.js";
import { RedisServer, WITHOUT_REDIS } from "../support/redis.js";
import { beforeRefill } from "../support/refill.js";
import { until } from "../support/until.js";
import { GENEROUS, NOW, observation, snapshot } from "../support/world.js";

const LIMIT = 12;
const LOOKUPS = 5;
/** Where a balancer in front of them would be. */
const ORIGIN = "http://127.0.0.1";
/** Of somebody signed in: what tells them from others in a response. */
const SIGNED_IN = 500_000;

/** A process of the service: its clock stands still, so what takes time does not happen by itself. */
interface Process extends Service {
  modules: Modules;
  clock: ManualClock;
}

/** Three processes over one database. `redisUrl`: undefined: they share nothing else. */
function threeProcesses(engine: Engine, mailbox: Mailbox, redisUrl: () => string | undefined) {
  const processes: Process[] = [];
  /** The modules of one more process, with a clock of its own. */
  let open: () => Promise<{ context: AppContext; modules: Modules; clock: ManualClock }>;
  before(async () => {
    await engine.open();
    const { url: databaseUrl, dataDir } = engine.location();
    const address = redisUrl();
    const config = loadConfig({
      ...GENEROUS,
      SIDEREAL_PORT: "0",
      SIDEREAL_BASE_URL: ORIGIN,
      SIDEREAL_AUTH_SECRET: "s".repeat(40),
      ...(address !== undefined && { SIDEREAL_REDIS_URL: address }),
      SIDEREAL_TRUSTED_PROXIES: "127.0.0.1",
      ...limits(`default=${LIMIT},default.account=${SIGNED_IN},lookup=${LOOKUPS}`),
      ...mailbox.settings,
    });
    const log = createLog("silent");
    open = async () => {
      const clock = new ManualClock(NOW);
      const context = { config: { ...config, databaseUrl, dataDir, databasePool: 2 }, clock, log };
      return { context, modules: await openModules(context), clock };
    };
    for (let i = 0; i < 3; i++) {
      const { context, modules, clock } = await open();
      processes.push({ ...(await startService(context, modules)), modules, clock });
    }
  });
  after(() => Promise.all(processes.map((one) => one.stop())));
  let visitors = 0;

  const at = (i: number): Process => {
    const one = processes[i];
    assert.ok(one);
    return one;
  };
  const call = async (i: number, path: string, init: RequestInit = {}) => {
    const response = await fetch(`http://127.0.0.1:${at(i).port}${path}`, {
      ...init,
      headers: { Origin: ORIGIN, "Content-Type": "application/json", ...init.headers },
    });
    const text = await response.text();
    const json = text.startsWith("{") ? JSON.parse(text) : undefined;
    return { status: response.status, headers: response.headers, json };
  };
  /** Somebody who has just signed in, with a key. */
  const member = async (email: string) => {
    const asked = await call(0, "/api/auth/magic-link", { method: "POST", body: JSON.stringify({ email }) });
    const proof = { requestToken: asked.json.data.requestToken, token: tokenOf(await mailbox.next()) };
    const signedIn = await call(1, "/api/auth/verify", { method: "POST", body: JSON.stringify(proof) });
    const Cookie = signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const body = JSON.stringify({ name: "laptop" });
    const made = await call(2, "/api/me/keys", { method: "POST", headers: { Cookie }, body });
    assert.equal(made.status, 201, JSON.stringify(made.json));
    return { cookie: { Cookie }, keyId: made.json.data.id, key: { "X-API-Key": made.json.data.key } };
  };
  /** From an address that nobody has used, unless the headers have one. */
  const read = (i: number, headers: Record<string, string>, path = "/api/stats/summary") =>
    call(i, path, { headers: { "X-Forwarded-For": `2001:db8:${(++visitors).toString(16)}::1`, ...headers } });
  const stars = async (i: number) => {
    const list = await read(i, {}, "/api/repos?sort=stars");
    return list.json.data[0]?.repository?.stars ?? list.json.data[0]?.stars;
  };
  const record = async (count: number, hoursAgo: number, { modules }: Pick<Process, "modules"> = at(0)) => {
    await modules.catalog.record([observation("acme/kite", [snapshot(hoursAgo, count)])]);
    await updateDerived(modules);
  };
  return { at, call, member, read, stars, record, open: () => open() };
}

describe("Processes that share Redis", { skip: WITHOUT_REDIS }, () =>
  onSqliteAndLong("Three processes with Redis", (engine) => {
    const server = RedisServer.ofSuite();
    const mailbox = openMailbox();
    const { at, call, member, read, record } = threeProcesses(engine, mailbox, () => server.url);
    let callers = 0;

    /** Asks two processes in turn, from an address that nobody has used. */
    const newcomer = () => {
      const address = `198.18.6.${++callers}`;
      let turn = 0;
      return async (path?: string, headers: Record<string, string> = {}) => {
        const answer = await read(turn++ % 2, { "X-Forwarded-For": address, ...headers }, path);
        return { ...answer, left: Number(answer.headers.get("x-ratelimit-remaining")) };
      };
    };

    /** A test whose numbers hold until an allowance refills by the clock of Redis. */
    const testBeforeRefill = (name: string, prove: () => Promise<void>) =>
      test(name, () => beforeRefill(prove));

    testBeforeRefill("one after the other, exactly as many pass as are told, whoever is asked", async () => {
      const ask = newcomer();
      for (let left = LIMIT - 1; left >= 0; left--) {
        const answer = await ask("/api/repos?sort=stars");
        assert.deepEqual([answer.status, answer.left], [200, left]);
      }
      const refused = await ask();
      assert.deepEqual([refused.status, refused.headers.get("retry-after")], [429, "5"]);
      const limits = (await ask("/api/limits")).json.data.buckets[0];
      assert.deepEqual([limits.bucket, limits.remaining], ["default", 0]);
    });

    testBeforeRefill(
      "a bad key costs ten, and a cached answer that has not changed nothing, for both",
      async () => {
        const ask = newcomer();
        assert.equal((await ask("/api/stats/summary", { "X-API-Key": "sid_nothing" })).left, LIMIT - 10);
        const answer = await ask("/api/repos?sort=stars");
        assert.deepEqual([answer.status, answer.left], [200, 1]);
        const again = await ask("/api/repos?sort=stars", {
          "If-None-Match": answer.headers.get("etag") ?? "",
        });
        assert.deepEqual([again.status, again.left], [304, 1]);
        assert.deepEqual([(await ask()).left, (await ask()).status], [0, 429]);
      },
    );

    testBeforeRefill("sessions that nobody knows are looked up as often as one service allows", async () => {
      const ask = newcomer();
      const guess = (i: number) => ask("/api/stats/summary", { Cookie: unknownSession(i, "") });
      const answers = await Promise.all(Array.from({ length: 2 * LOOKUPS }, (_, i) => guess(i)));
      const counted = answers.map(
        ({ status, headers }) => `${status} ${headers.get("x-ratelimit-resource")}`,
      );
      const expected = ["200 default", "429 lookup"].flatMap((one) => new Array<string>(LOOKUPS).fill(one));
      assert.deepEqual(counted.sort(), expected);
    });

    test("when Redis dies in the middle, at most twice the limit passes, and all are answered", async () => {
      const ask = newcomer();
      const statuses: number[] = [];
      const asked = async () => void statuses.push((await ask()).status);
      await Promise.all(Array.from({ length: LIMIT / 2 }, asked));
      const burst = Promise.all(Array.from({ length: 30 }, asked));
      await server.kill();
      await burst;
      await Promise.all(Array.from({ length: 60 }, asked));
      const passed = statuses.filter((status) => status === 200).length;
      assert.equal(statuses.length, LIMIT / 2 + 90);
      assert.ok(passed >= LIMIT && passed <= 2 * LIMIT + 2, `${passed} passed`);
      assert.deepEqual(new Set(statuses), new Set([200, 429]));
      const other = newcomer();
      assert.deepEqual([(await other()).status, (await other()).status], [200, 200]);
      await server.start();
      const isShared = async () => {
        const next = newcomer();
        return [(await next()).left, (await next()).left].join() === `${LIMIT - 1},${LIMIT - 2}`;
      };
      // Each attempt to connect gets twice the time of the one before.
      for (let ms = 1; !(await isShared()); ms *= 2) {
        for (const i of [0, 1, 2]) at(i).clock.advance(1_000);
        await setTimeout(ms);
      }
    });

    test("together they let exactly the limit pass", () =>
      beforeRefill(async () => {
        const headers = { "X-Forwarded-For": `198.18.6.${++callers}` };
        const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => read(i % 3, headers)));
        assert.equal(answers.filter(({ status }) => status === 200).length, LIMIT);
        assert.equal(answers.filter(({ status }) => status === 429).length, 60 - LIMIT);
      }));

    test("a key that one has revoked is refused by the others with the next request", async () => {
      const { cookie, key, keyId } = await member("keys@example.org");
      for (const i of [0, 1, 2]) assert.equal((await read(i, key)).status, 200);
      const revoked = await call(0, `/api/me/keys/${keyId}`, { method: "DELETE", headers: cookie });
      assert.equal(revoked.status, 204);
      for (const i of [1, 2, 0]) assert.equal((await read(i, key)).status, 401, `process ${i}`);
    });

    test("a session that one has ended counts for nobody in the others", async () => {
      const { cookie } = await member("sessions@example.org");
      const limitOf = async (i: number) => Number((await read(i, cookie)).headers.get("x-ratelimit-limit"));
      for (const i of [0, 1, 2]) assert.equal(await limitOf(i), SIGNED_IN);
      const ended = await call(2, "/api/me/sign-out-everywhere", { method: "POST", headers: cookie });
      assert.equal(ended.status, 204);
      for (const i of [0, 1, 2]) assert.equal(await limitOf(i), LIMIT, `process ${i}`);
    });

    test("all give the same response the same tag and time, so that a client may change between them", async () => {
      await record(100, 5);
      for (const i of [0, 1, 2]) at(i).clock.advance(2_000);
      const paths = ["/", "/explore", "/repos/github/acme/kite", "/api/repos?sort=stars", "/api/repos/1"];
      const more = ["/api/stats/summary", "/api/facets/languages", "/api/feeds/trending.atom"];
      for (const path of [...paths, ...more]) {
        const answers = await Promise.all([0, 1, 2].map((i) => read(i, {}, path)));
        const tags = answers.map(({ headers }) => `${headers.get("etag")} ${headers.get("last-modified")}`);
        assert.equal(new Set(tags).size, 1, `${path}: ${tags.join(" or ")}`);
        assert.match(tags[0] ?? "", /"/, path);
        const held = { "If-None-Match": answers[0]?.headers.get("etag") ?? "" };
        for (const i of [1, 2]) assert.equal((await read(i, held, path)).status, 304, path);
      }
    });

    test("while Redis is unavailable a key is revoked without waiting, and the others hear of it when it is back", async () => {
      const { cookie, key, keyId } = await member("away@example.org");
      for (const i of [0, 1, 2]) assert.equal((await read(i, key)).status, 200);
      await server.kill();
      const revoked = await call(0, `/api/me/keys/${keyId}`, { method: "DELETE", headers: cookie });
      assert.equal(revoked.status, 204);
      assert.equal((await read(0, key)).status, 401);
      assert.equal((await read(1, key)).status, 200, "it is cached for five seconds");
      await server.start();
      await until("both others refuse it", async () => {
        // Less than the time for which a key is cached, in all.
        for (const i of [0, 1, 2]) at(i).clock.advance(at(i).clock.monotonic() < 6_000 ? 1_000 : 0);
        return (await read(1, key)).status === 401 && (await read(2, key)).status === 401;
      });
    });

    test("a Redis that hangs delays a revocation by a tenth of a second", async () => {
      const { cookie, key, keyId } = await member("hangs@example.org");
      assert.equal((await read(0, key)).status, 200);
      server.pause();
      let isOver = false;
      const revoking = call(0, `/api/me/keys/${keyId}`, { method: "DELETE", headers: cookie }).finally(() => {
        isOver = true;
      });
      const { clock } = at(0);
      const began = clock.monotonic();
      while (!isOver) {
        await clock.whenSleeping(() => 1);
        if (clock.untilNextWake === 100) clock.advance(100);
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.equal((await revoking).status, 204);
      assert.ok(clock.monotonic() - began <= 200, "once to count the request, or once to announce");
      server.resume();
    });
  }),
);

onSqliteAndLong("Three processes without Redis", (engine) => {
  const mailbox = openMailbox();
  const { at, call, member, read, stars, record } = threeProcesses(engine, mailbox, () => undefined);

  test("a key that one has revoked is refused by it immediately, and by the others within five seconds", async () => {
    const { cookie, key, keyId } = await member("keys@example.org");
    for (const i of [0, 1, 2]) assert.equal((await read(i, key)).status, 200);
    await call(0, `/api/me/keys/${keyId}`, { method: "DELETE", headers: cookie });
    assert.equal((await read(0, key)).status, 401);
    assert.equal((await read(1, key)).status, 200);
    at(1).clock.advance(4_999);
    assert.equal((await read(1, key)).status, 200);
    at(1).clock.advance(1);
    assert.equal((await read(1, key)).status, 401);
  });

  test("an ended session opens nothing anywhere, and counts as its account for at most five seconds", async () => {
    const { cookie } = await member("sessions@example.org");
    const limitOf = async (i: number) => Number((await read(i, cookie)).headers.get("x-ratelimit-limit"));
    for (const i of [0, 1, 2]) assert.equal(await limitOf(i), SIGNED_IN);
    await call(2, "/api/me/sign-out-everywhere", { method: "POST", headers: cookie });
    assert.equal(await limitOf(0), SIGNED_IN);
    for (const i of [0, 1, 2]) assert.equal((await call(i, "/api/me", { headers: cookie })).status, 401);
    assert.equal(await limitOf(1), LIMIT, "looking it up has shown that it ended");
    at(0).clock.advance(5_000);
    assert.equal(await limitOf(0), LIMIT);
  });

  test("what one has recorded is seen by the others within two seconds", async () => {
    await record(100, 5);
    for (const i of [0, 1, 2]) at(i).clock.advance(2_000);
    for (const i of [1, 2]) await until(`process ${i} shows 100`, async () => (await stars(i)) === 100);
    await record(250, 1);
    at(1).clock.advance(999);
    assert.equal(await stars(1), 100);
    at(1).clock.advance(1_001);
    await until("it shows 250", async () => (await stars(1)) === 250);
  });
});
