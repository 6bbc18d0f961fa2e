import assert from "node:assert/strict";
import { before, test } from "node:test";
import { DAY_MS } from "../../src/lib/clock.js";
import type { HistoryWindow } from "../../src/watchlists/sums.js";
import { onSqliteAndLong } from "../support/engines.js";
import { countTurns } from "../support/turns.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

onSqliteAndLong("The star history of a list", (engine) => {
  let world: World;
  const at = (days: number) => NOW - days * DAY_MS;
  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("one/one", daily(10, 20, 30, 40)),
      observation("two/two", [snapshot(36, 100), snapshot(30, 105), snapshot(-1, 999)]),
      observation("three/three", []),
    );
  });
  const history = (ids: readonly number[], window: HistoryWindow = "90d") =>
    world.modules.watchlists.starHistory(ids, { end: NOW, window });

  test("adds up what each had last before a moment, from its first snapshot on", async () => {
    assert.deepEqual(await history([1, 2, 3]), [
      { at: at(3), stars: 10, repositories: 1, retained: 0 },
      { at: at(2), stars: 20, repositories: 1, retained: 0 },
      { at: at(1), stars: 30 + 105, repositories: 2, retained: 0 },
      { at: at(0), stars: 40 + 105, repositories: 2, retained: 0 },
    ]);
    assert.deepEqual(await history([3]), []);
    assert.deepEqual(await history([]), []);
  });

  test("has fewer moments the longer the list is, and always the last one", async () => {
    await world.record(
      ...Array.from({ length: 200 }, (_, i) =>
        observation(`many/r${i}`, daily(...Array.from({ length: 95 }, () => 1))),
      ),
    );
    const ids = await idsOf(world, 200);
    for (const [count, step] of [
      [10, 1],
      [166, 1],
      [167, 3],
      [200, 3],
    ] as const) {
      const points = await history(ids.slice(0, count));
      assert.equal(points.at(-1)?.at, NOW);
      assert.equal(points.length, Math.floor(90 / step) + 1, `${count}`);
      assert.ok(points.every(({ stars, repositories }) => stars === count && repositories === count));
    }
  });

  test("covers the window, and no more than there is", async () => {
    const [id = 0] = await idsOf(world, 1);
    const daysOf = async (window: HistoryWindow) =>
      (await history([id], window)).map((point) => Math.round((NOW - point.at) / DAY_MS));
    assert.deepEqual((await daysOf("30d")).slice(0, 2), [30, 29]);
    assert.equal((await daysOf("90d")).length, 91);
    assert.deepEqual((await daysOf("1y")).slice(0, 2), [94, 93]);
    assert.deepEqual((await daysOf("all")).slice(0, 2), [91, 84]);
  });

  test("leaves other work a turn of the event loop after every 50 repositories", async () => {
    const ids = Array.from({ length: 500 }, (_, i) => i + 1);
    assert.ok((await countTurns(history(ids))) >= 8);
  });
});

/** The ids of the repositories `many/r0`, `many/r1` and so on. */
async function idsOf(world: World, count: number): Promise<number[]> {
  const found = Array.from({ length: count }, (_, i) =>
    world.modules.catalog.findByName("GITHUB", `many/r${i}`),
  );
  return (await Promise.all(found)).map((one) => one?.repository.id ?? 0);
}
