import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../src/database/database.js";
import { LARGE_FROM } from "../../src/discovery/model.js";
import { createLog } from "../../src/lib/log.js";
import { Catalog } from "../../src/repositories/repositories.js";
import { onBothEngines } from "../support/engines.js";
import { keepState } from "../support/replaced-store.js";
import { until } from "../support/until.js";
import { createWorld, observation, snapshot } from "../support/world.js";

const counted = (fullName: string, hoursAgo: number, stars: number, topics: readonly string[] = []) =>
  observation(fullName, [snapshot(hoursAgo, stars)], { facts: { topics: [...topics] } });

onBothEngines("A database that is replaced under a running service", (engine) => {
  /** A service that has lost its last change, and `later` others have been made since, by another process. */
  async function replaced(later: number) {
    const world = await createWorld(engine, { SIDEREAL_CACHE_MB: "8" });
    const { catalog, database } = world.modules;
    await catalog.record([counted("o/a", 9, 3), counted("o/b", 9, 2), counted("o/c", 9, 1)]);
    const list = async (query = "sort=stars") => {
      const { status, body } = await world.get(`/api/repos?${query}`);
      return status === 200 ? body.data.map((one: { stars: number }) => one.stars) : status;
    };
    assert.deepEqual(await list(), [3, 2, 1]);
    const putBack = await keepState(engine, database);
    await catalog.record([counted("o/b", 8, 999, ["lost"])]);
    world.clock.advance(2_000);
    assert.deepEqual(await list(), [999, 3, 1]);
    assert.deepEqual(await list("topic=lost"), [999]);
    const { body } = await world.get("/api/changes");
    await putBack();
    const other = await openDatabase({ ...engine.location(), pool: 2, log: createLog("silent") });
    for (let i = 0; i < later; i++)
      await new Catalog(other, world.clock).record([counted("o/c", 8 - i, 700 + i)]);
    await other.close();
    world.clock.advance(2_000);
    return { world, list, cursor: body.meta.nextCursor };
  }

  for (const later of [0, 1, 3])
    test(`is noticed, with ${later} changes since`, async () => {
      const { world, list, cursor } = await replaced(later);
      const expected = later === 0 ? [3, 2, 1] : [699 + later, 3, 2];
      await list();
      assert.deepEqual(await list(), expected);
      assert.deepEqual(await list("topic=lost"), []);
      await until("the store has another identity", async () => {
        const { status } = await world.get(`/api/changes?since=${cursor}`);
        return status === 410;
      });
      const { body } = await world.get("/api/changes");
      assert.equal((await world.get(`/api/changes?since=${body.meta.nextCursor}`)).status, 200);
    });

  test("has no lists while a large one is loaded", async (t) => {
    const { world, list } = await replaced(1);
    t.mock.method(world.modules.database.dialect, "lastId", async () => LARGE_FROM);
    await assert.rejects(world.modules.live.current(), { code: "UNAVAILABLE" });
    await until("the catalogue is loaded", async () => (await list("sort=stars&limit=9")) !== 503);
    assert.deepEqual(await list("sort=stars&limit=7"), [700, 3, 2]);
  });
});
