import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ownTurn } from "../src/loop-turns.js";

test("computations that take breaks at the same time get one turn of the event loop each, in order", async () => {
  const PARTS = 3;
  const ran: string[] = [];
  const compute = async (name: string) => {
    for (let part = 0; part < PARTS; part++) {
      await ownTurn();
      ran.push(name);
    }
  };
  const computing = Promise.all(["a", "b", "c"].map(compute));
  let before = 0;
  for (let turns = 0; ran.length < 3 * PARTS && turns < 100; turns++) {
    await setImmediate();
    assert.ok(ran.length - before <= 1, "one part in a turn");
    before = ran.length;
  }
  await computing;
  assert.deepEqual(ran, ["a", "b", "c", "a", "b", "c", "a", "b", "c"]);
});
