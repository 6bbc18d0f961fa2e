import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/lib/log.js";
import { bumpRevision } from "../../src/repositories/changes.js";
import { Catalog } from "../../src/repositories/repositories.js";
import { onBothEngines } from "../support/engines.js";
import { ManualClock } from "../support/manual-clock.js";
import { NOW } from "../support/world.js";

onBothEngines("The recent revision", (engine) => {
  test("is at most a second old, and never older than what this process has written", async () => {
    const database = await engine.open();
    const other = await openDatabase({ ...engine.location(), pool: 2, log: createLog("silent") });
    const clock = new ManualClock(NOW);
    const catalog = new Catalog(database, clock);
    const recent = async () => (await catalog.recentRevision()).value;
    const first = await recent();
    await database.write.transaction().execute(bumpRevision);
    assert.equal(await recent(), first + 1, "written here");
    await other.write.transaction().execute(bumpRevision);
    assert.equal(await recent(), first + 1, "written elsewhere");
    assert.equal((await catalog.revision()).value, first + 2);
    assert.equal(await recent(), first + 2, "as new as what was read before");
    await other.write.transaction().execute(bumpRevision);
    clock.advance(999);
    assert.equal(await recent(), first + 2);
    clock.advance(1);
    assert.equal(await recent(), first + 3, "a second later");
    await other.close();
  });

  test("is of the same store if a read ends after one that began later, and if there were very many changes", async () => {
    const database = await engine.open();
    const held = Promise.withResolvers<void>();
    const waits = [held.promise];
    const prepare: typeof database.prepare = (build) => {
      const run = database.prepare(build);
      return async (values) => {
        const wait = waits.shift();
        const rows = await run(values);
        await wait;
        return rows;
      };
    };
    const catalog = new Catalog({ ...database, prepare }, new ManualClock(NOW));
    const late = catalog.revision();
    await database.write.transaction().execute(bumpRevision);
    const first = await catalog.revision();
    held.resolve();
    assert.equal(await late, first);
    await database.write.transaction().execute(async (tx) => {
      for (let i = 0; i < 399; i++) await bumpRevision(tx);
    });
    const second = await catalog.revision();
    assert.deepEqual([second.era, second.value], [first.era, first.value + 399]);
    await database.write.transaction().execute(async (tx) => {
      for (let i = 0; i < 400; i++) await bumpRevision(tx);
    });
    // All is read again, but what is known is not wrong.
    const third = await catalog.revision();
    assert.deepEqual([third.era, third.replacedIn], [first.era + 1, first.replacedIn]);
  });

  test("is read again after a read that failed", async () => {
    const database = await engine.open();
    let fails = true;
    const prepare: typeof database.prepare = (build) => {
      const run = database.prepare(build);
      return (values) => (fails ? Promise.reject(new Error("unavailable")) : run(values));
    };
    const catalog = new Catalog({ ...database, prepare }, new ManualClock(NOW));
    await assert.rejects(catalog.recentRevision(), /unavailable/);
    fails = false;
    assert.equal((await catalog.recentRevision()).value, 1);
  });
});
