import assert from "node:assert/strict";
import { test } from "node:test";
import { Steps } from "../../src/discovery/model.js";
import { bumpRevision, outdateAll } from "../../src/repositories/changes.js";
import { Catalog } from "../../src/repositories/repositories.js";
import { removeRepositories } from "../../src/repositories/sample.js";
import { onBothEngines } from "../support/engines.js";
import { discoveryOf, listOf } from "../support/lists.js";
import { ManualClock } from "../support/manual-clock.js";
import { keepState } from "../support/replaced-store.js";
import { openAt } from "../support/stores.js";
import { NOW, observation, snapshot } from "../support/world.js";

onBothEngines("The catalogue in memory", (engine) => {
  async function openLists() {
    const database = await engine.open();
    const clock = new ManualClock(NOW);
    const modules = discoveryOf(database, clock);
    const record = (name: string, hoursAgo: number, stars: number) =>
      modules.catalog.record([observation(`o/${name}`, [snapshot(hoursAgo, stars)])]);
    const list = async () => {
      const { rows, total } = await modules.lists.read(listOf());
      return [...rows.map(({ repository: { name, stars } }) => `${name} ${stars}`), total];
    };
    await record("a", 9, 3);
    await record("b", 9, 2);
    assert.deepEqual(await list(), ["a 3", "b 2", 2]);
    return { ...modules, database, clock, record, list };
  }

  test("follows a change of all repositories: deleted ones are gone, and changed ones are as they are now", async () => {
    const { database, catalog, list } = await openLists();
    await database.durable.transaction().execute(async (tx) => {
      await removeRepositories(tx, database.dialect, [1], NOW);
      await tx.deleteFrom("changes").execute();
      await tx.updateTable("repositories").set({ stars: 7 }).where("name", "=", "b").execute();
      await outdateAll(tx, database.dialect);
    });
    await catalog.revision();
    assert.deepEqual(await list(), ["b 7", 1]);
  });

  test("has a change that came while an earlier one was applied", async (t) => {
    const { live, record, list } = await openLists();
    let release = () => {};
    const applied = new Promise<void>((resolve) => {
      release = resolve;
    });
    const pause = t.mock.method(Steps.prototype, "pause", () => applied);
    await record("a", 8, 30);
    const first = live.current();
    while (pause.mock.callCount() === 0) await new Promise((resolve) => setImmediate(resolve));
    await record("b", 8, 40);
    const second = list();
    await new Promise((resolve) => setImmediate(resolve));
    release();
    await first;
    assert.deepEqual(await second, ["b 40", "a 30", 2]);
  });

  test("is loaded again once so much has changed that the store may have been replaced", async () => {
    const { database, clock, record, list } = await openLists();
    const putBack = await keepState(engine, database);
    await record("b", 8, 999);
    assert.deepEqual(await list(), ["b 999", "a 3", 2]);
    await putBack();
    const other = await openAt(engine.location());
    await other.write.transaction().execute(async (tx) => {
      for (let i = 0; i < 410; i++) await bumpRevision(tx);
    });
    await new Catalog(other, clock).record([observation("o/a", [snapshot(8, 100)])]);
    await other.close();
    clock.advance(2_000);
    await list();
    assert.deepEqual(await list(), ["a 100", "b 2", 2]);
  });

  test("a repository that goes after it was found is in no row of the list", async (t) => {
    const { catalog, list } = await openLists();
    const recentRevision = catalog.recentRevision.bind(catalog);
    let times = 0;
    t.mock.method(catalog, "recentRevision", async () => {
      // The first is that of the catalogue in memory, the second that of the rows.
      if (++times === 2) await catalog.record([observation("o/b", [], { facts: { availability: "GONE" } })]);
      return recentRevision();
    });
    assert.deepEqual(await list(), ["a 3", 2]);
  });
});
