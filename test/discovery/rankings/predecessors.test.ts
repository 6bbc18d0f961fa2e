import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../../src/lib/clock.js";
import { onBothEngines } from "../../support/engines.js";
import { createWorld, NOW, observation, snapshot, type World } from "../../support/world.js";

const days = (count: number): number => 24 * count;

onBothEngines("Growth under a new name", (engine) => {
  const idOf = async ({ modules }: World, fullName: string): Promise<number> => {
    const found = await modules.catalog.findByName("GITHUB", fullName);
    assert.ok(found, fullName);
    return found.repository.id;
  };
  const link = async (world: World, from: string, to: string, status = "SUSPECTED") => {
    const [from_id, to_id] = [await idOf(world, from), await idOf(world, to)];
    const times = { continues_at: NOW, suspected_at: NOW };
    await world.modules.database.write
      .insertInto("renames")
      .values({ from_id, to_id, status, evidence: "{}", ...times })
      .execute();
    await world.modules.database.write
      .insertInto("outdated")
      .values({ kind: "rollups", repository_id: to_id })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await world.modules.rankings.update();
    return from_id;
  };

  test("begins on its first day, from the last snapshot of the suspected earlier name", async () => {
    const world = await createWorld(engine);
    await world.record(
      observation("o/old", [snapshot(days(8), 900), snapshot(days(2), 990), snapshot(days(1), 1_000)]),
      observation("n/new", [snapshot(0, 1_040)]),
    );
    const id = await idOf(world, "n/new");
    const before = await world.modules.rankings.standing(id);
    assert.deepEqual(before.trends, { "24h": null, "7d": null, "30d": null });

    const from = await link(world, "o/old", "n/new");
    const { trends } = await world.modules.rankings.standing(id);
    const shown = [trends["24h"], trends["7d"]].map((trend) => [trend?.predecessorId, trend?.starsDelta]);
    assert.deepEqual(shown, [
      [from, 40],
      [from, 140],
    ]);
  });

  test("is its own again once a window begins with its own snapshot", async () => {
    const world = await createWorld(engine);
    await world.record(
      observation("o/old", [snapshot(days(7), 900)]),
      observation("n/new", [snapshot(days(1), 1_000), snapshot(0, 1_040)]),
    );
    const from = await link(world, "o/old", "n/new");
    const { trends } = await world.modules.rankings.standing(await idOf(world, "n/new"));
    const shown = [trends["24h"], trends["7d"]].map((trend) => [trend?.predecessorId, trend?.starsDelta]);
    assert.deepEqual(shown, [
      [null, 40],
      [from, 140],
    ]);
  });

  test("follows a chain of names, and says whose snapshot it begins with", async () => {
    const world = await createWorld(engine);
    await world.record(
      observation("o/a", [snapshot(days(30), 100), snapshot(days(8), 800)]),
      observation("o/b", [snapshot(days(7), 900), snapshot(days(1), 990)]),
      observation("o/c", [snapshot(0, 1_040)]),
    );
    const a = await link(world, "o/a", "o/b");
    const b = await link(world, "o/b", "o/c");
    const { trends } = await world.modules.rankings.standing(await idOf(world, "o/c"));
    const shown = Object.values(trends).map((trend) => [trend?.predecessorId, trend?.starsDelta]);
    assert.deepEqual(shown, [
      [b, 50],
      [b, 140],
      [a, 940],
    ]);
  });

  test("of a snapshot that both names have at one time, the own one counts", async () => {
    const world = await createWorld(engine);
    await world.record(
      observation("o/old", [snapshot(days(2), 900), snapshot(days(1), 950)]),
      observation("n/new", [snapshot(days(1), 960), snapshot(0, 1_000)]),
    );
    await link(world, "o/old", "n/new");
    const { trends } = await world.modules.rankings.standing(await idOf(world, "n/new"));
    assert.deepEqual([trends["24h"]?.predecessorId, trends["24h"]?.starsDelta], [null, 40]);
  });

  test("takes nothing from a rejected name, and ends where two names continue each other", async () => {
    const world = await createWorld(engine);
    await world.record(
      observation("o/old", [snapshot(days(1), 1_000)]),
      observation("n/new", [snapshot(0, 1_040)]),
      observation("o/x", [snapshot(days(2), 10)]),
      observation("o/y", [snapshot(days(1), 20), snapshot(0, 30)]),
    );
    await link(world, "o/old", "n/new", "REJECTED");
    await link(world, "o/x", "o/y");
    await link(world, "o/y", "o/x");
    const { trends } = await world.modules.rankings.standing(await idOf(world, "n/new"));
    assert.equal(trends["24h"], null);
    const { trends: ofY } = await world.modules.rankings.standing(await idOf(world, "o/y"));
    assert.deepEqual([ofY["24h"]?.starsDelta, ofY["24h"]?.predecessorId], [10, null]);
    assert.ok((ofY["24h"]?.to ?? 0) - (ofY["24h"]?.from ?? 0) === DAY_MS);
  });
});
