import assert from "node:assert/strict";
import { test } from "node:test";
import { ConcurrencyLimiter, InFlight } from "../../src/http/concurrency.js";
import { type Caller, NETWORK_FACTOR } from "../../src/http/limiter.js";
import { addAccount } from "../support/accounts.js";
import { errorOf } from "../support/answers.js";
import { onSqlite } from "../support/engines.js";
import { createWorld } from "../support/world.js";

onSqlite("Requests under way", (engine) => {
  test("one more than may be under way is refused at once, until one of them ends", async (t) => {
    const world = await createWorld(engine, {
      SIDEREAL_CONCURRENCY_ANONYMOUS: "2",
      SIDEREAL_CONCURRENCY_ACCOUNT: "3",
    });
    const account = await addAccount(world.modules.database, "busy@example.org");
    const { secret } = await world.members.keys.create(account, "laptop");
    const key = { "X-API-Key": secret };
    await world.get("/api/limits", key);
    const gates: (() => void)[] = [];
    const summary = t.mock.method(world.modules.rankings, "summary", async () => {
      await new Promise<void>((resolve) => gates.push(resolve));
      throw new Error("this is how it ends here");
    });
    const until = async (count: number) => {
      while (gates.length < count) await new Promise((resolve) => setImmediate(resolve));
    };
    const slow = [world.get("/api/stats/summary"), world.get("/api/stats/summary")];
    await until(2);
    const refused = await world.get("/api/stats/summary");
    const message = "at most 2 requests may be in flight; try again in 1 second";
    assert.deepEqual(errorOf(refused), {
      status: 429,
      code: "RATE_LIMITED",
      message: `Too many concurrent requests: ${message}.`,
      details: [{ parameter: "bucket", message, values: ["concurrency"] }],
    });
    const told = ["retry-after", "ratelimit-policy", "ratelimit", "x-ratelimit-resource", "cache-control"];
    assert.deepEqual(
      told.map((name) => refused.headers.get(name)),
      ["1", '"concurrency";q=2;qu="concurrent-requests"', '"concurrency";r=0;t=1', "concurrency", "no-store"],
    );
    assert.equal((await world.get("/api/limits")).status, 200, "what is free is let through");
    assert.equal((await world.request("/api/stats/summary", { method: "OPTIONS" })).status, 204);
    assert.equal((await world.request("/healthz")).status, 200);
    const keyed = [1, 2, 3].map(() => world.get("/api/stats/summary", key));
    await until(5);
    assert.equal((await world.get("/api/stats/summary", key)).status, 429, "an account has its own bound");
    for (const open of gates.splice(0)) open();
    for (const answer of [...slow, ...keyed]) assert.equal((await answer).status, 500);
    summary.mock.restore();
    assert.equal((await world.get("/api/repos")).status, 200, "also who failed has ended");
    assert.equal((await world.get("/api/repos", key)).status, 200);
  });
});

test("a network of 48 bits has sixteen times the slots of one of 64, and releases each", () => {
  const crowd = new ConcurrencyLimiter({ anonymous: 2, account: 3 });
  const callerOf = (host: number, network = "2001:db8:0::/48"): Caller => {
    return { kind: "anonymous", name: `${network} ${host}`, network };
  };
  const enter = (host: number) => crowd.enter(callerOf(host), false);
  assert.equal(enter(0).refusal, undefined);
  const second = enter(0);
  assert.equal(enter(0).refusal?.headers["X-RateLimit-Limit"], "2");
  const slots = Array.from({ length: 100 }, (_, host) => enter(host + 1));
  const inside = slots.filter(({ refusal }) => refusal === undefined);
  assert.equal(inside.length, 2 * NETWORK_FACTOR - 2);
  const { refusal } = enter(200);
  assert.deepEqual([refusal?.code, refusal?.headers["X-RateLimit-Limit"]], ["RATE_LIMITED", "32"]);
  assert.equal(crowd.enter(callerOf(0, "2001:db8:1::/48"), false).refusal, undefined, "another network");
  assert.equal(crowd.enter({ kind: "key", name: "ann" }, false).refusal, undefined);
  assert.equal(crowd.enter(callerOf(300), true).refusal, undefined, "what is free");
  // Who was refused by the network holds no slot.
  second.release();
  for (const slot of inside.slice(0, 3)) slot.release();
  for (const host of [200, 200, 0]) assert.equal(enter(host).refusal, undefined);
  assert.equal(enter(201).refusal, undefined);
  assert.notEqual(enter(202).refusal, undefined);
});

test("nothing is kept of callers who have nothing under way", () => {
  const inFlight = new InFlight();
  const ends = Array.from({ length: 100 }, (_, i) => inFlight.take(`caller ${i % 10}`, 10));
  assert.equal(inFlight.callers, 10);
  assert.equal(inFlight.take("caller 1", 10), undefined);
  for (const end of ends) end?.();
  assert.equal(inFlight.callers, 0);
});
