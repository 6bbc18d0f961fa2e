import assert from "node:assert/strict";
import { test } from "node:test";
import { ResponseCache } from "../../src/http/response-cache.js";
import { type StoredResponse, storeResponse } from "../../src/http/stored-response.js";
import { createLog } from "../../src/log.js";
import { ManualClock } from "../support/manual-clock.js";
import { NOW } from "../support/world.js";

const responseOf = async (text: string): Promise<StoredResponse> =>
  storeResponse({ status: 200, headers: {}, body: text }, { "Cache-Control": "public, max-age=30" }, "");

function createCache(readRevision: () => Promise<string>) {
  const clock = new ManualClock(NOW);
  const cache = new ResponseCache({ maxBytes: 1_000_000, clock, readRevision, log: createLog("silent") });
  const ask = async (text: string) => (await cache.get("/a", () => responseOf(text)))?.body.toString();
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

test("a question that fails at once is asked again, two seconds later", async () => {
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

test("who asks after a change does not join what was begun before it", async () => {
  let revision = "1";
  const { clock, cache, ask } = createCache(async () => revision);
  const { promise, resolve } = Promise.withResolvers<StoredResponse>();
  const slow = cache.get("/a", () => promise);
  await turns();
  revision = "2";
  clock.advance(2_000);
  assert.equal(await ask("new"), "new");
  resolve(await responseOf("old"));
  assert.equal((await slow)?.body.toString(), "old");
  // What was begun under an older revision does not take its place either.
  assert.equal(await ask("newer"), "new");
});

test("the cache stays within its bytes, and evicts the least recently used response", async () => {
  let computed = 0;
  const bytesOf =
    (bytes: number, isShared = true) =>
    async (): Promise<StoredResponse> => {
      computed++;
      const body = Buffer.alloc(bytes);
      return {
        status: 200,
        headers: [],
        body,
        etag: undefined,
        isShared,
        errorCode: null,
        encodings: new Map(),
      };
    };
  const cache = new ResponseCache({
    maxBytes: 100_000,
    clock: new ManualClock(0),
    readRevision: async () => "1",
    log: createLog("silent"),
  });
  const ask = async (key: string, bytes = 4_000, isShared = true): Promise<boolean> => {
    const before = computed;
    await cache.get(key, bytesOf(bytes, isShared));
    return computed > before;
  };
  // About 8,500 bytes each: the response, room for its compressed forms, and overhead.
  for (let i = 0; i < 11; i++) assert.equal(await ask(`key ${i}`), true);
  for (let i = 0; i < 11; i++) assert.equal(await ask(`key ${i}`), false);
  await ask("key 0");
  assert.equal(await ask("one more"), true);
  assert.equal(await ask("key 0"), false, "used recently");
  assert.equal(await ask("key 1"), true, "used longest ago");
  assert.equal(await ask("too large", 60_000), true);
  assert.equal(await ask("too large", 60_000), true, "one response must not evict all others");
  assert.equal(await ask("private", 10, false), true);
  assert.equal(await ask("private", 10, false), true);
});
