import assert from "node:assert/strict";
import { test } from "node:test";
import { type StoredAnswer, storeAnswer } from "../../src/api/answer.js";
import { FrontCache } from "../../src/api/front-cache.js";
import { ManualClock } from "../../src/clock.js";
import { createLog } from "../../src/log.js";
import { NOW } from "../support/world.js";

const answerOf = (text: string): Promise<StoredAnswer> =>
  storeAnswer(new Response(text, { headers: { "Cache-Control": "public, max-age=30" } }));

function createCache(readRevision: () => Promise<string>) {
  const clock = new ManualClock(NOW);
  const cache = new FrontCache({ maxBytes: 1_000_000, clock, readRevision, log: createLog("silent") });
  const ask = async (text: string) => (await cache.get("/a", "any", () => answerOf(text)))?.body.toString();
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
  const { promise, resolve } = Promise.withResolvers<StoredAnswer>();
  const slow = cache.get("/a", "any", () => promise);
  await turns();
  revision = "2";
  clock.advance(2_000);
  assert.equal(await ask("new"), "new");
  resolve(await answerOf("old"));
  assert.equal((await slow)?.body.toString(), "old");
  // What was begun under an older revision does not take its place either.
  assert.equal(await ask("newer"), "new");
});
