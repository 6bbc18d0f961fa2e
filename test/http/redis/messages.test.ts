import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Redis } from "ioredis";
import type { RedisAddress } from "../../../src/config/redis-address.js";
import { Messages } from "../../../src/http/redis/messages.js";
import { openRedis } from "../../../src/http/redis/redis.js";
import { Throttle } from "../../../src/http/redis/throttle.js";
import { createLog } from "../../../src/lib/log.js";
import { ManualClock } from "../../support/manual-clock.js";
import { RedisServer, redisAddress, WITHOUT_REDIS } from "../../support/redis.js";
import { tell } from "../../support/redis-group.js";
import { until } from "../../support/until.js";

test("a throttle lets a burst through, then one per interval, and forgets none", async () => {
  const clock = new ManualClock(0);
  const { signal } = new AbortController();
  let runs = 0;
  const throttle = new Throttle({ clock, signal, burst: 3, intervalMs: 100, run: () => runs++ });
  for (let i = 0; i < 1_000; i++) throttle.request();
  assert.equal(runs, 3);
  for (let second = 0; second < 10; second++) {
    for (let i = 0; i < 10; i++) {
      clock.advance(100);
      await setImmediate();
      for (let again = 0; again < 50; again++) throttle.request();
    }
  }
  assert.equal(runs, 103);
  clock.advance(100);
  await setImmediate();
  assert.equal(runs, 104, "the last request was not lost");
  clock.advance(10_000);
  await setImmediate();
  assert.equal(runs, 104);
});

describe("Messages", { skip: WITHOUT_REDIS }, () => {
  const server = RedisServer.ofSuite();

  const openOne = (t: TestContext, secret = "a secret", at: { address: RedisAddress } = server) => {
    const clock = new ManualClock(0);
    const log = createLog("silent");
    const said: string[] = [];
    for (const level of ["warn", "info"] as const)
      log[level] = (...args: unknown[]) => void said.push(String(args.at(-1)));
    const readSecret = async () => secret;
    const redis = openRedis({ address: at.address, caFile: undefined, clock, log, readSecret });
    t.after(() => redis.close());
    const heard = { revoked: 0, revised: 0 };
    const follow = async () => {
      redis.messages.follow({ revoked: () => heard.revoked++, revised: () => heard.revised++ });
      await until("it receives", async () => heard.revoked > 0);
    };
    return { ...redis, clock, log, said, heard, follow };
  };

  test("forged messages make a process look at most as often as it is willing to", async (t) => {
    const one = openOne(t);
    await one.follow();
    const forger = new Redis(server.url, { protocol: 2, retryStrategy: null });
    t.after(() => forger.disconnect());
    const found = await forger.call("pubsub", "channels", "sidereal:messages:*");
    const [channel = ""] = (Array.isArray(found) ? found.map(String) : []).sort(
      (a, b) => a.length - b.length,
    );
    assert.match(channel, /^sidereal:messages:[\w-]{22}$/);
    for (const text of ["revoked x", "revised x", "revoked", "", "other x", "revoked ".repeat(1_000)])
      await Promise.all(Array.from({ length: 200 }, () => forger.publish(channel, text)));
    // What was sent before has arrived when this has.
    await forger.publish(channel, "revised x");
    await until("all have arrived", async () => {
      one.clock.advance(0);
      await forger.ping();
      return one.heard.revoked === 20;
    });
    assert.deepEqual(one.heard, { revoked: 20, revised: 1 });
  });

  test("services with other secrets do not hear each other, and nobody hears itself revoke", async (t) => {
    const [one, same, other] = [openOne(t), openOne(t), openOne(t, "another secret")];
    for (const each of [one, same, other]) await each.follow();
    await one.messages.publish("revoked");
    await until("the other process has heard it", async () => same.heard.revoked === 2);
    await other.messages.publish("revoked");
    await one.messages.publish("revoked");
    await until("the other process has heard it", async () => same.heard.revoked === 3);
    assert.deepEqual([one.heard.revoked, other.heard.revoked], [1, 1]);
  });

  test("a process whose connection is closed connects again, and takes everything for announced", async (t) => {
    const one = openOne(t);
    await one.follow();
    const killer = new Redis(server.url, { protocol: 2, retryStrategy: null });
    t.after(() => killer.disconnect());
    await killer.call("client", "kill", "type", "pubsub");
    await until("it has noticed", async () =>
      one.said.includes("messages of other processes are not received"),
    );
    await until("it receives again", async () => {
      one.clock.advance(1_000);
      await setImmediate();
      return one.heard.revoked > 1;
    });
    assert.ok(one.said.includes("messages of other processes are received again"));
  });

  test("a process that does not hear itself connects again, as its server may be cut off from the others", async (t) => {
    const elsewhere = new RedisServer();
    await elsewhere.start();
    t.after(() => elsewhere.kill());
    const { client, clock, log, said } = openOne(t, "a secret", elsewhere);
    await client.open();
    const readSecret = async () => "a secret";
    const options = { client, address: server.address, caFile: undefined, clock, log, readSecret };
    const messages = new Messages(options);
    t.after(() => messages.close());
    let heard = 0;
    messages.follow({ revoked: () => heard++, revised: () => {} });
    await until("it receives", async () => heard === 1);
    await until("it has connected again", async () => {
      clock.advance(500);
      await setImmediate();
      return heard > 1;
    });
    assert.ok(said.includes("messages of other processes are received again"));
  });

  test("a process can stop at any moment while it connects", { timeout: 60_000 }, async (t) => {
    for (let turns = 0; turns < 40; turns++) {
      const { messages } = openOne(t);
      messages.follow({ revoked: () => {}, revised: () => {} });
      for (let turn = 0; turn < turns; turn++) await setImmediate();
      await messages.close();
    }
  });

  test("a process that stops does not look any more, nor does it wait to do so", async (t) => {
    const [one, two] = [openOne(t), openOne(t)];
    await two.follow();
    await one.messages.publish("revised");
    await one.messages.publish("revoked");
    await until("both have arrived", async () => two.heard.revoked === 2);
    assert.equal(two.heard.revised, 1, "it looks again later");
    await two.messages.close();
    assert.equal(two.clock.sleeping, 0);
    two.clock.advance(1_000);
    await setImmediate();
    assert.equal(two.heard.revised, 1);
  });

  test("a user who may not use the channel still shares the rest, and the log says so once", async (t) => {
    const commands = ["evalsha", "eval", "get", "set", "del", "time", "publish", "subscribe", "ping", "info"];
    const rights = ["+client|setname", ...commands.map((command) => `+${command}`)];
    await tell(server, "acl", "setuser", "limits", "on", ">password", "~sidereal:*", "-@all", ...rights);
    const address = redisAddress(server.url.replace("//", "//limits:password@"));
    const { client, messages, said } = openOne(t, "a secret", { address });
    messages.follow({ revoked: () => {}, revised: () => {} });
    for (let message = 0; message < 3; message++) {
      await messages.publish("revised");
      assert.ok(client.isAvailable);
    }
    await until("both are said", async () => said.length >= 2);
    assert.deepEqual(said.toSorted(), [
      "messages of other processes are not received",
      "messages to other processes cannot be sent",
    ]);
  });

  test("what could not be sent is sent when Redis is back", async (t) => {
    const [one, two] = [openOne(t), openOne(t)];
    await two.follow();
    await one.client.open();
    await server.kill();
    await until("it is away", async () => !one.client.isAvailable);
    await one.messages.publish("revoked");
    await server.start();
    await until("both are back", async () => {
      for (const { clock } of [one, two]) clock.advance(1_000);
      await setImmediate();
      return one.client.isAvailable && two.heard.revoked >= 2;
    });
    const before = two.heard.revoked;
    await one.messages.publish("revoked");
    await until("it arrives", async () => two.heard.revoked > before);
  });
});
