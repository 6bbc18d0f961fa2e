import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Redis } from "ioredis";
import { DEFAULT_LIMITS, type Limits } from "../../src/config/limits.js";
import { accountCeiling, type Caller, NETWORK_FACTOR } from "../../src/http/limiter.js";
import { openRedis, type SharedRedis } from "../../src/http/redis.js";
import { createLog } from "../../src/lib/log.js";
import { ManualClock } from "../support/manual-clock.js";
import { RedisServer, WITHOUT_REDIS } from "../support/redis.js";
import { beforeRefill } from "../support/refill.js";

const LIMIT = 6;
const SECRET = "a secret that all of them have";

describe("Limits shared through Redis", { skip: WITHOUT_REDIS }, () => {
  const server = RedisServer.ofSuite();
  let people = 0;
  const opened: SharedRedis[] = [];
  const newcomer = (): Caller => ({ kind: "anonymous", name: `caller ${people++}` });

  after(() => {
    for (const one of opened) one.close();
  });

  /** A process's allowances, with a clock of its own and what it logged. */
  async function openOne(limit = LIMIT, secret = SECRET) {
    const limits: Limits = { ...DEFAULT_LIMITS, default: { anonymous: limit, signed_in: limit, key: limit } };
    const clock = new ManualClock(0);
    const log = createLog("silent");
    const said: string[] = [];
    log.warn = (...args: unknown[]) => void said.push(`warn ${args.at(-1)}`);
    log.info = (...args: unknown[]) => void said.push(`info ${args.at(-1)}`);
    const redis = await openRedis({ url: server.url, secret, clock, log });
    opened.push(redis);
    const allowances = redis.limiter(limits);
    const ask = async (caller: Caller, cost = 1) => allowances.decide(caller, "default", cost);
    return { allowances, redis, clock, said, ask };
  }

  /** Asks until the store is used again; each attempt to connect gets twice the time of the one before. */
  async function untilShared({ allowances, clock }: Awaited<ReturnType<typeof openOne>>): Promise<void> {
    for (let turns = 64; ; turns *= 2) {
      clock.advance(1_000);
      for (let turn = 0; turn < turns; turn++) {
        const decision = allowances.decide(newcomer(), "default", 0);
        if (decision instanceof Promise) return void (await decision);
        await setImmediate();
      }
    }
  }

  /** A test whose numbers hold until an allowance refills by the clock of Redis. */
  const testBeforeRefill = (name: string, prove: () => Promise<void>) =>
    test(name, () => beforeRefill(prove));

  testBeforeRefill("two processes together let the limit pass, and tell truly what is left", async () => {
    const [one, two] = [await openOne(), await openOne()];
    const caller = newcomer();
    for (let left = LIMIT - 1; left >= 0; left--) {
      const told = await (left % 2 === 0 ? one : two).ask(caller);
      assert.deepEqual([told.allowed, told.remaining], [true, left]);
    }
    for (const each of [one, two]) {
      const refused = await each.ask(caller);
      assert.deepEqual([refused.allowed, refused.remaining, refused.retryAfterSeconds], [false, 0, 10]);
      assert.equal((await each.ask(caller, 0)).allowed, true, "what costs nothing passes");
    }
    assert.equal((await two.ask(newcomer())).remaining, LIMIT - 1);
  });

  testBeforeRefill("asked by both at once, no more pass than the limit", async () => {
    const [one, two] = [await openOne(), await openOne()];
    const caller = newcomer();
    const asked = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? one : two).ask(caller));
    const passed = (await Promise.all(asked)).filter(({ allowed }) => allowed).length;
    assert.equal(passed, LIMIT);
  });

  testBeforeRefill(
    "what costs more or less is counted for all, and who is refused owes nothing for it",
    async () => {
      const [one, two] = [await openOne(20), await openOne(20)];
      const caller = newcomer();
      await one.ask(caller);
      assert.equal((await one.allowances.adjust(caller, "default", 9)).remaining, 10);
      assert.equal((await two.ask(caller)).remaining, 9);
      assert.equal((await two.allowances.adjust(caller, "default", -1)).remaining, 10);
      assert.equal((await two.ask(caller, 11)).allowed, false);
      assert.equal((await one.ask(caller, 11)).allowed, false);
      assert.equal((await one.ask(caller, 10)).remaining, 0);
    },
  );

  testBeforeRefill("a network of 48 bits is shared as well", async () => {
    const [one, two] = [await openOne(1), await openOne(1)];
    let passed = 0;
    for (let host = 0; host < 40; host++) {
      const caller = { ...newcomer(), network: "2001:db8:7::/48" };
      if ((await (host % 2 === 0 ? one : two).ask(caller)).allowed) passed++;
    }
    assert.equal(passed, NETWORK_FACTOR);
  });

  testBeforeRefill("the ceiling of an account is shared as well", async () => {
    const [one, two] = [await openOne(2), await openOne(2)];
    const { name: account } = newcomer();
    let passed = 0;
    for (let key = 0; key < 10; key++) {
      const caller: Caller = { kind: "key", name: `${account} ${key}`, account };
      const decision = await (key % 2 === 0 ? one : two).ask(caller);
      if (decision.allowed) passed++;
      else assert.deepEqual([decision.policy.scope, decision.own.remaining], ["account", 2]);
    }
    assert.equal(passed, accountCeiling(2));
  });

  testBeforeRefill(
    "keys and sessions of the same account, other limits and other secrets are counted apart",
    async () => {
      const [one, two, other] = [await openOne(), await openOne(7), await openOne(LIMIT, "another secret")];
      const { name } = newcomer();
      const left = [
        await one.ask({ kind: "anonymous", name }),
        await one.ask({ kind: "key", name }),
        await one.ask({ kind: "signed_in", name }),
        await two.ask({ kind: "anonymous", name }),
        await other.ask({ kind: "anonymous", name }),
      ].map(({ remaining }) => remaining);
      assert.deepEqual(left, [5, 5, 5, 6, 5]);
    },
  );

  testBeforeRefill("nobody can read in Redis who was counted, and all of it goes by itself", async () => {
    const { ask } = await openOne();
    await ask({ kind: "anonymous", name: "203.0.113.99" });
    await ask({ kind: "key", name: "account-99" });
    const redis = new Redis(server.url, { protocol: 2, retryStrategy: null });
    const keys = await redis.keys("*");
    assert.ok(keys.length >= 2);
    for (const key of keys) {
      assert.match(key, /^sidereal:limit:default:\d+:60:[\w-]{22}$/);
      const ttl = await redis.pttl(key);
      // -2: it has gone since the keys were listed.
      assert.ok(ttl === -2 || (ttl > 0 && ttl <= 60_001), `${key} ${ttl}`);
    }
    redis.disconnect();
  });

  test("while Redis is unavailable each counts for itself, from its own requests; then they share again", async () => {
    const [one, two] = [await openOne(), await openOne()];
    const caller = newcomer();
    let passed = 0;
    const askBoth = async (times: number) => {
      for (let i = 0; i < times; i++)
        for (const { ask } of [one, two]) if ((await ask(caller)).allowed) passed++;
    };
    await askBoth(2);
    assert.equal(passed, 4);
    await server.kill();
    await askBoth(20);
    assert.equal(passed, 2 * LIMIT, "each lets pass what it had left, and no more");
    assert.equal((await one.ask(newcomer())).allowed, true, "others are not blocked");
    for (const { said } of [one, two])
      assert.deepEqual(said, ["warn Redis unavailable; falling back to per-process rate limits"]);
    await server.start();
    for (const each of [one, two]) await untilShared(each);
    for (const { said } of [one, two])
      assert.deepEqual(said.slice(1), ["info Redis available; rate limits shared again"]);
    await beforeRefill(async () => {
      const other = newcomer();
      const left = [];
      for (const { ask } of [one, two, one, two]) left.push((await ask(other)).remaining);
      assert.deepEqual(left, [5, 4, 3, 2]);
    });
  });

  test("who is refused by one process does not start over when Redis comes back empty", async () => {
    const one = await openOne();
    const caller = newcomer();
    for (let i = 0; i < LIMIT; i++) assert.equal((await one.ask(caller)).allowed, true);
    await server.kill();
    await server.start();
    await one.ask(newcomer());
    await untilShared(one);
    const { allowed, remaining } = await one.ask(caller);
    assert.deepEqual([allowed, remaining], [false, 0]);
  });

  test("a Redis that hangs is waited for once, and not by those who come after", async () => {
    const one = await openOne(500);
    const caller = newcomer();
    await one.ask(caller);
    server.pause();
    const waiting = one.ask(caller);
    one.clock.advance(100);
    assert.equal((await waiting).allowed, true);
    for (let i = 0; i < 490; i++) {
      const told = one.allowances.decide(caller, "default", 1);
      assert.ok(!(told instanceof Promise), "nobody waits");
      assert.equal(told.remaining, 500 - 3 - i);
    }
    one.clock.advance(1_000);
    assert.ok(!(one.allowances.decide(caller, "default", 0) instanceof Promise), "nor for the new attempt");
    server.resume();
    await untilShared(one);
    assert.equal(one.said.length, 2);
  });

  test("a Redis that is unavailable at the start is found later", async () => {
    await server.kill();
    const one = await openOne();
    assert.deepEqual(one.said.length, 1);
    assert.equal((await one.ask(newcomer())).allowed, true);
    await server.start();
    await untilShared(one);
    assert.equal((await one.ask(newcomer())).remaining, LIMIT - 1);
  });

  test("a Redis that responds but cannot write is reported once, and shares again when it can", async () => {
    await server.kill();
    await server.start({ maxmemory: "1" });
    const one = await openOne();
    for (let attempt = 0; attempt < 5; attempt++) {
      assert.equal((await one.ask(newcomer())).allowed, true);
      one.clock.advance(1_000);
    }
    assert.deepEqual(one.said, ["warn Redis unavailable; falling back to per-process rate limits"]);
    await server.kill();
    await server.start();
    await untilShared(one);
    assert.equal((await one.ask(newcomer())).remaining, LIMIT - 1);
    assert.deepEqual(one.said.slice(1), ["info Redis available; rate limits shared again"]);
  });

  testBeforeRefill(
    "a clock of Redis that is set back refuses nobody for longer than two windows",
    async () => {
      const one = await openOne();
      const redis = new Redis(server.url, { protocol: 2, retryStrategy: null });
      const before = await redis.keys("*");
      const caller = newcomer();
      await one.ask(caller);
      const [key = ""] = (await redis.keys("*")).filter((name) => !before.includes(name));
      // Both the value and its expiry are times of the server: an hour later in what it now takes for the present.
      const hour = 3_600_000;
      await redis.set(
        key,
        String(Number(await redis.get(key)) + 1_000 * hour),
        "PX",
        (await redis.pttl(key)) + hour,
      );
      const refused = await one.ask(caller);
      assert.deepEqual([refused.allowed, refused.remaining, refused.retryAfterSeconds], [false, 0, 70]);
      const [seconds] = (await redis.time()).map(Number);
      const clearIn = Number(await redis.get(key)) / 1e6 - (seconds ?? 0);
      assert.ok(clearIn > 110 && clearIn <= 121, `${clearIn} s`);
      assert.ok((await redis.pttl(key)) <= 120_000);
      redis.disconnect();
    },
  );
});
