import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { SegmentedCache } from "../../src/http/segmented-cache.js";

/** Room for ten values of size 10. */
const cacheOfTen = () =>
  new SegmentedCache<{ size: number }>({ maxSize: 100, maxEntries: 1_000, sizeOf: ({ size }) => size });
const TEN = { size: 10 };

const keysOf = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${i}`);

describe("The segmented cache", () => {
  test("keeps as many new entries as there is room for", () => {
    const cache = cacheOfTen();
    for (const key of keysOf("a", 10)) cache.set(key, TEN);
    for (const key of keysOf("a", 10)) assert.equal(cache.get(key), TEN, key);
  });

  test("evicts the oldest new entry, not one that has been used again", () => {
    const cache = cacheOfTen();
    for (const key of keysOf("a", 5)) {
      cache.set(key, TEN);
      cache.get(key);
    }
    for (const key of keysOf("scan", 1_000)) cache.set(key, TEN);
    for (const key of keysOf("a", 5)) assert.equal(cache.get(key), TEN, key);
    const kept = keysOf("scan", 1_000).filter((key) => cache.get(key) !== undefined);
    assert.deepEqual(kept, ["scan995", "scan996", "scan997", "scan998", "scan999"]);
  });

  test("puts the least recently used entry back on probation when too many have been used again", () => {
    const cache = cacheOfTen();
    for (const key of keysOf("a", 10)) {
      cache.set(key, TEN);
      cache.get(key);
    }
    // Eight are protected; the first two are evicted by two new ones.
    for (const key of keysOf("b", 2)) cache.set(key, TEN);
    const kept = keysOf("a", 10).filter((key) => cache.get(key) !== undefined);
    assert.deepEqual(kept, keysOf("a", 10).slice(2));
  });

  test("stays within its room whatever is replaced, and does not keep what is larger", () => {
    const cache = cacheOfTen();
    const sizes = new Map<string, number>();
    for (let i = 0; i < 2_000; i++) {
      const key = `k${(i * 7) % 23}`;
      const size = 1 + ((i * 13) % 40);
      cache.set(key, { size });
      sizes.set(key, size);
      if (i % 3 === 0) cache.get(`k${(i * 5) % 23}`);
    }
    const kept = [...sizes.keys()].flatMap((key) => cache.get(key)?.size ?? []);
    assert.ok(kept.reduce((sum, size) => sum + size, 0) <= 100, kept.join());
    cache.set("large", { size: 101 });
    assert.equal(cache.get("large"), undefined);
  });
});
