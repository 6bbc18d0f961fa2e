import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { KnownLists } from "../../src/catalog/known-lists.js";

describe("What is known of lists", () => {
  test("holds as long as the revision stays", () => {
    const lists = new KnownLists();
    lists.of(1, "a").total = 5;
    assert.deepEqual(lists.of(1, "a"), { total: 5 });
    assert.deepEqual(lists.of(1, "b"), {});
    assert.deepEqual(lists.of(2, "a"), {});
  });

  test("takes nothing from those who began before", () => {
    const lists = new KnownLists();
    const late = lists.of(1, "a");
    lists.of(2, "a").total = 6;
    late.total = 5;
    lists.of(1, "a").total = 5;
    assert.deepEqual(lists.of(2, "a"), { total: 6 });
  });

  test("is bounded: the list that was asked for longest ago is forgotten", () => {
    const lists = new KnownLists();
    for (let i = 0; i < 1_000; i++) lists.of(1, String(i)).total = i;
    assert.equal(lists.of(1, "0").total, 0);
    lists.of(1, "one more").total = 1;
    assert.equal(lists.of(1, "1").total, undefined);
    assert.equal(lists.of(1, "0").total, 0);
  });
});
