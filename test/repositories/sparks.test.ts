import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onBothEngines } from "../support/engines.js";
import { createWorld, daily, observation, snapshot, type World } from "../support/world.js";

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

  test("has 16 points, each by the last snapshot before it", async () => {
    const [steady, young, left] = [await idOf("a/steady"), await idOf("b/young"), await idOf("c/left")];
    const counts = await world.modules.catalog.sparks([steady, young, left]);
    const sparks = new Map([...counts].map(([id, own]) => [id, own.map((count) => count?.stars ?? null)]));
    // A point every second day, exactly at a snapshot.
    assert.deepEqual(
      sparks.get(steady),
      Array.from({ length: 16 }, (_, i) => 109 + 2 * i),
    );
    assert.deepEqual(sparks.get(young), [...new Array(14).fill(null), 7, 9]);
    // It ends with the newest snapshot of each, and one older than a week does not count.
    assert.deepEqual(sparks.get(left), [...new Array(10).fill(null), 4, 4, 4, 4, null, 6]);
  });

  test("says which counts are of stars still held", async () => {
    const now = await createWorld(engine);
    const past = [10, 8, 6].map((days) => snapshot(24 * days, 100 - days, { source: "BACKFILLED" }));
    await now.record(observation("a/tracked", [...past, snapshot(24 * 4, 99), snapshot(0, 101)]));
    const counts = (await now.modules.catalog.sparks([1])).get(1) ?? [];
    assert.deepEqual(
      counts.slice(-6).map((count) => `${count?.stars} ${count?.basis}`),
      ["90 RETAINED", "92 RETAINED", "94 RETAINED", "99 TOTAL", "99 TOTAL", "101 TOTAL"],
    );
  });

  test("is empty for no repositories", async () => {
    assert.deepEqual(await world.modules.catalog.sparks([]), new Map());
  });
});
