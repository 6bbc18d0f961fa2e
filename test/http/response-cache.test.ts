import assert from "node:assert/strict";
import { test } from "node:test";
import { type CacheRequest, ResponseCache } from "../../src/http/cache.js";
import { OVERLOADED, type Waiter } from "../../src/http/limits.js";
import { type StoredResponse, storeResponse } from "../../src/http/response.js";
import { createLog } from "../../src/lib/log.js";
import { ManualClock } from "../support/manual-clock.js";
import { NOW } from "../support/world.js";

const responseOf = async (text: string): Promise<StoredResponse> =>
  storeResponse({ status: 200, headers: {}, body: text }, { "Cache-Control": "public, max-age=30" }, "");

const WAITER: Waiter = { priority: "anonymous", caller: "somebody", isGone: () => false };

/** A request for which this computes the response, without waiting. */
function computedBy(compute: (waiter: Waiter) => Promise<StoredResponse>): CacheRequest {
  return { waiter: WAITER, compute: (waiter) => ({ result: compute(waiter), join: () => {} }) };
}

function createCache(readRevision: () => Promise<string>) {
  const clock = new ManualClock(NOW);
  const cache = new ResponseCache({
    maxBytes: 1_000_000,
    clock,
    readRevision: async () => ({ revision: await readRevision(), replacedIn: 1 }),
    markPage: (html) => html,
    log: createLog("silent"),
  });
  const ask = async (text: string) =>
    (
      await cache.get(
        "/a",
        computedBy(() => responseOf(text)),
      )
    ).body.toString();
  return { clock, cache, ask };
}

/** Lets everything run that waits for nothing but its turn. */
const turns = () => new Promise((resolve) => setImmediate(resolve));

test("a database that hangs delays what is kept by a moment, and only once", async () => {
  let hangs = false;
  const { clock, ask } = createCache(() => (hangs ? new Promise(() => {}) : Promise.resolve("1")));
  assert.equal(await ask("first"), "first");
  hangs = true;
  clock.advance(2_000);
  const waiting = ask("never");
  await turns();
  assert.equal(clock.sleeping, 1);
  clock.advance(200);
  assert.equal(await waiting, "first");
  assert.equal(await ask("never"), "first");
  assert.equal(clock.sleeping, 0);
});

test("a question that fails immediately is repeated two seconds later", async () => {
  let asked = 0;
  const { clock, ask } = createCache(() => {
    asked += 1;
    throw new Error("away");
  });
  await ask("first");
  await ask("first");
  assert.equal(asked, 1);
  clock.advance(2_000);
  await ask("first");
  assert.equal(asked, 2);
});

test("a request after a change does not join work begun before it", async () => {
  let revision = "1";
  const { clock, cache, ask } = createCache(async () => revision);
  const { promise, resolve } = Promise.withResolvers<StoredResponse>();
  const slow = cache.get(
    "/a",
    computedBy(() => promise),
  );
  await turns();
  revision = "2";
  clock.advance(2_000);
  assert.equal(await ask("new"), "new");
  resolve(await responseOf("old"));
  assert.equal((await slow).body.toString(), "old");
  // What was begun under an older revision does not take its place either.
  assert.equal(await ask("newer"), "new");
});

test("after a change one request computes the new response while the others get the previous one, for two seconds", async () => {
  let revision = "1";
  const { clock, cache, ask } = createCache(async () => revision);
  await ask("old");
  revision = "2";
  clock.advance(1_000);
  // Responds as before, and reads the revision meanwhile.
  assert.equal(cache.peek("/a", clock.monotonic())?.body.toString(), "old");
  await turns();
  assert.equal(cache.peek("/a", clock.monotonic()), undefined);
  const { promise, resolve } = Promise.withResolvers<StoredResponse>();
  const refreshed = await cache.get(
    "/a",
    computedBy(() => promise),
  );
  assert.equal(refreshed.body.toString(), "old");
  for (let i = 0; i < 3; i++) {
    assert.equal(cache.peek("/a", clock.monotonic())?.body.toString(), "old");
    assert.equal(await ask("computed twice"), "old");
    clock.advance(333);
  }
  clock.advance(1);
  assert.equal(cache.peek("/a", clock.monotonic()), undefined);
  const waiting = ask("computed twice");
  resolve(await responseOf("new"));
  assert.equal(await waiting, "new");
  assert.equal(cache.peek("/a", clock.monotonic())?.body.toString(), "new");
});

test("a response that cannot be replaced is served until two seconds after its revision was current, then its failure", async () => {
  let revision = "1";
  const { clock, cache, ask } = createCache(async () => revision);
  const fail = async () => {
    throw new Error("broken");
  };
  await ask("old");
  revision = "2";
  clock.advance(1_000);
  await ask("old");
  await turns();
  for (let i = 0; i < 2; i++) {
    const stored = await cache.get("/a", computedBy(fail));
    assert.equal(stored.body.toString(), "old");
    await turns();
  }
  clock.advance(1_000);
  await assert.rejects(cache.get("/a", computedBy(fail)), /broken/);
});

/** A cache whose responses have 4,000 bytes: about 9,500 with room for their compressed forms and overhead. */
function createSmallCache(maxBytes: number) {
  let computed = 0;
  const cache = new ResponseCache({
    markPage: (html) => html,
    maxBytes,
    clock: new ManualClock(0),
    readRevision: async () => ({ revision: "1", replacedIn: 1 }),
    log: createLog("silent"),
  });
  /** Whether a response had to be computed. */
  const ask = async (key: string, bytes = 4_000, isShared = true): Promise<boolean> => {
    const before = computed;
    const compute = async () => {
      computed++;
      const headers = { "Cache-Control": isShared ? "public, max-age=30" : "private" };
      return storeResponse({ status: 200, headers: {}, body: Buffer.alloc(bytes) }, headers, key);
    };
    await cache.get(key, computedBy(compute));
    return computed > before;
  };
  return ask;
}

test("the cache stays within its bytes, and keeps no response that would evict all others", async () => {
  const ask = createSmallCache(100_000);
  for (let i = 0; i < 100; i++) assert.equal(await ask(`key ${i}`), true);
  let kept = 0;
  for (let i = 0; i < 100; i++) if (!(await ask(`key ${i}`))) kept++;
  assert.ok(kept <= 10, String(kept));
  assert.equal(await ask("too large", 60_000), true);
  assert.equal(await ask("too large", 60_000), true);
  assert.equal(await ask("private", 10, false), true);
  assert.equal(await ask("private", 10, false), true);
});

test("a scan of many addresses does not evict responses that have been requested twice", async () => {
  const ask = createSmallCache(1_000_000);
  const hot = Array.from({ length: 50 }, (_, i) => `hot ${i}`);
  // A few at a time, as the segment for new responses is small.
  for (const key of hot) {
    assert.equal(await ask(key), true);
    assert.equal(await ask(key), false);
  }
  for (let i = 0; i < 10_000; i++) assert.equal(await ask(`scan ${i}`), true);
  for (const key of hot) assert.equal(await ask(key), false, key);
});

test("an outdated response is served while computing a new one is refused, whenever that is decided", async () => {
  let revision = "1";
  const { clock, cache, ask } = createCache(async () => revision);
  const overload = () => Promise.reject(OVERLOADED);
  await assert.rejects(cache.get("/a", computedBy(overload)), OVERLOADED);
  await ask("old");
  revision = "2";
  clock.advance(2_000);
  const { promise, reject } = Promise.withResolvers<StoredResponse>();
  const waiting = cache.get(
    "/a",
    computedBy(() => promise),
  );
  await turns();
  reject(OVERLOADED);
  assert.equal((await waiting).body.toString(), "old");
  assert.equal((await cache.get("/a", computedBy(overload))).body.toString(), "old");
  assert.equal(await ask("new"), "new");
});

test("a response that is in use is computed before those that nobody has requested yet", async () => {
  let revision = "1";
  const { clock, cache } = createCache(async () => revision);
  const waiters: Waiter[] = [];
  const compute = (waiter: Waiter) => {
    waiters.push(waiter);
    return responseOf("any");
  };
  await cache.get("/a", computedBy(compute));
  revision = "2";
  clock.advance(1_000);
  await cache.get("/a", computedBy(compute));
  await turns();
  await cache.get("/a", computedBy(compute));
  assert.deepEqual(
    waiters.map(({ priority, caller }) => [priority, caller]),
    [
      ["anonymous", "somebody"],
      ["account", "refresh"],
    ],
  );
});
