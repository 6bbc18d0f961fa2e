import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { inQuietTurn, noteAccepted, ownTurn } from "../../src/lib/loop-turns.js";

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

test("long work waits for a turn without new connections, but not for ever", async () => {
  for (const [arriving, expected] of [
    [0, 1],
    [10, 11],
    [1_000, 65],
  ] as const) {
    let turns = 0;
    let ranAfter: number | undefined;
    inQuietTurn(() => {
      ranAfter = turns;
    });
    while (ranAfter === undefined && turns < 2_000) {
      // A connection arrives before the check of the turn that is counted next.
      if (turns < arriving) noteAccepted();
      turns++;
      await setImmediate();
    }
    assert.equal(ranAfter, expected, `${arriving} turns with connections`);
  }
});
