import assert from "node:assert/strict";
import { test } from "node:test";
import { Revocations, TtlCache } from "../../src/accounts/ttl-cache.js";
import { ManualClock } from "../support/manual-clock.js";
import { NOW } from "../support/world.js";

function start() {
  const clock = new ManualClock(NOW);
  const revocations = new Revocations();
  const cache = new TtlCache<string>(clock, revocations);
  const pending: PromiseWithResolvers<string | undefined>[] = [];
  const find = () =>
    cache.find("hash", () => {
      const reading = Promise.withResolvers<string | undefined>();
      pending.push(reading);
      return reading.promise;
    });
  return { clock, revocations, cache, pending, find };
}

test("an expired entry is read once, however many requests need it at the same time", async () => {
  const { clock, cache, pending, find } = start();
  const first = find();
  pending[0]?.resolve("holder");
  assert.equal(await first, "holder");
  clock.advance(5_000);
  assert.ok(cache.isFamiliar("hash"));
  const found = Array.from({ length: 500 }, find);
  assert.equal(pending.length, 2);
  pending[1]?.resolve("new holder");
  assert.deepEqual(new Set(await Promise.all(found)), new Set(["new holder"]));
});

test("a read that began before a revocation is not shared after it", async () => {
  const { revocations, pending, find } = start();
  const before = find();
  revocations.announce();
  const after = [find(), find()];
  assert.equal(pending.length, 2);
  pending[0]?.resolve("holder");
  assert.equal(await before, "holder");
  const late = find();
  assert.equal(pending.length, 2, "the end of the first read leaves the second");
  pending[1]?.resolve(undefined);
  assert.deepEqual(await Promise.all([...after, late]), [undefined, undefined, undefined]);
});

test("a read that takes longer than an entry is valid is not shared any more", async () => {
  const { clock, pending, find } = start();
  const slow = find();
  clock.advance(5_000);
  const next = find();
  assert.equal(pending.length, 2);
  pending[0]?.resolve("holder");
  pending[1]?.resolve(undefined);
  assert.deepEqual(await Promise.all([slow, next]), ["holder", undefined]);
});

test("a read that fails fails for those who share it, and the next one tries again", async () => {
  const { pending, find } = start();
  const failed = [find(), find()];
  assert.equal(pending.length, 1);
  pending[0]?.reject(new Error("the database is away"));
  for (const one of failed) await assert.rejects(one, /away/);
  const next = find();
  pending[1]?.resolve("holder");
  assert.equal(await next, "holder");
});
