import assert from "node:assert/strict";
import { before, test } from "node:test";
import { readLastDays } from "../../src/growth/growth.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { onBothEngines } from "../support/engines.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

onBothEngines("The course of stars over 30 days", (engine) => {
  let world: World;
  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("a/steady", daily(...Array.from({ length: 40 }, (_, i) => 100 + i))),
      observation("b/young", [snapshot(50, 7), snapshot(1, 9)]),
      observation("c/left", [snapshot(38 * 24, 4), snapshot(28 * 24, 6)]),
    );
  });

  const idOf = async (fullName: string): Promise<number> =>
    (await world.modules.catalog.findByName("GITHUB", fullName))?.repository.id ?? 0;

  test("has 31 points, evenly between the snapshots around each", async () => {
    const [steady, young, left] = [await idOf("a/steady"), await idOf("b/young"), await idOf("c/left")];
    const days = await readLastDays(world.modules.database, [steady, young, left]);
    assert.deepEqual(
      days.get(steady),
      Array.from({ length: 31 }, (_, i) => 109 + i),
    );
    assert.deepEqual(days.get(young)?.slice(-4), [null, 7, 8, 9]);
    // It ends with the newest snapshot of each.
    assert.deepEqual(days.get(left), [...new Array(20).fill(null), 4, 4, 4, 5, 5, 5, 5, 5, 6, 6, 6]);
  });

  test("is one line of the star history and the totals, where somebody looked", async () => {
    const now = await createWorld(engine);
    const past = [10, 8, 6].map((days) => snapshot(24 * days, 100 - days, { source: "BACKFILLED" }));
    await now.record(
      observation("a/tracked", [...past, snapshot(24 * 4, 99), snapshot(0, 101)]),
      observation("a/old", [snapshot(24, 99), snapshot(0, 101)], {
        facts: { createdAt: NOW - 900 * DAY_MS },
      }),
    );
    const days = await readLastDays(now.modules.database, [1, 2]);
    assert.deepEqual(days.get(1)?.slice(-11), [90, 91, 92, 93, 94, null, 99, 100, 100, 101, 101]);
    assert.deepEqual(days.get(2)?.slice(-3), [null, 99, 101]);
  });

  test("is empty for no repositories", async () => {
    assert.deepEqual(await readLastDays(world.modules.database, []), new Map());
  });
});
