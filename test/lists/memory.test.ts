import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ListMemory } from "../../src/lists/memory.js";

describe("Facts about lists", () => {
  test("are remembered while the revision stays the same", () => {
    const memory = new ListMemory();
    memory.of(1, "a").total = 5;
    assert.equal(memory.of(1, "a").total, 5);
    assert.equal(memory.of(1, "b").total, undefined);
    assert.equal(memory.of(1, "b").catalogue, memory.of(1, "a").catalogue);
    const { catalogue } = memory.of(1, "a");
    assert.equal(memory.of(2, "a").total, undefined);
    assert.notEqual(memory.of(2, "a").catalogue, catalogue);
  });

  test("are not taken from a request that started before the revision grew", () => {
    const memory = new ListMemory();
    const late = memory.of(1, "a");
    memory.of(2, "a").total = 6;
    late.total = 5;
    memory.of(1, "a").total = 5;
    assert.equal(memory.of(2, "a").total, 6);
  });

  test("are bounded: those of the least recently used list are evicted", () => {
    const memory = new ListMemory();
    for (let i = 0; i < 1_000; i++) memory.of(1, String(i)).total = i;
    assert.equal(memory.of(1, "0").total, 0);
    memory.of(1, "one more").total = 1;
    assert.equal(memory.of(1, "1").total, undefined);
    assert.equal(memory.of(1, "0").total, 0);
  });
});
