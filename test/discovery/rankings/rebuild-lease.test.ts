import assert from "node:assert/strict";
import { test } from "node:test";
import { type Database, openDatabase } from "../../../src/database/database.js";
import { rebuildAlone, rebuildState } from "../../../src/growth/rebuild-lease.js";
import { createLog } from "../../../src/lib/log.js";
import { onBothEngines } from "../../support/engines.js";
import { ManualClock } from "../../support/manual-clock.js";

onBothEngines("A rebuild", (engine) => {
  const clock = new ManualClock(Date.UTC(2026, 0, 10));
  const note = (database: Database, name: string) =>
    database.write.insertInto("marks").values({ name, value: "" }).execute();
  const noted = async ({ read }: Database) =>
    (await read.selectFrom("marks").select("name").where("name", "like", "run %").execute()).map(
      ({ name }) => name,
    );

  /** Two processes, the first of which has begun a run and stops in the middle of it. */
  async function begin() {
    const first = await engine.open();
    const second = await openDatabase({ ...engine.location(), pool: 4, log: createLog("silent") });
    const inTheMiddle = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const done = rebuildAlone(first, clock, async (lease) => {
      await lease.step(async (tx) => {
        await tx.insertInto("marks").values({ name: "run first begun", value: "" }).execute();
      });
      inTheMiddle.resolve();
      await goOn.promise;
      await lease.end(async (tx) => {
        await tx.insertInto("marks").values({ name: "run first ended", value: "" }).execute();
      });
      return "first";
    });
    await inTheMiddle.promise;
    const other = () =>
      rebuildAlone(second, clock, async (lease) => {
        await lease.end(async (tx) => {
          await tx.insertInto("marks").values({ name: "run second ended", value: "" }).execute();
        });
        return "second";
      });
    return { first, second, done, goOn: () => goOn.resolve(), other };
  }

  test("is done by one process, while others go on with other work", async () => {
    const { first, second, done, goOn, other } = await begin();
    assert.equal(await other(), undefined);
    await note(second, "run other work");
    assert.equal(await rebuildState(second.read, clock), "running");
    goOn();
    assert.equal(await done, "first");
    assert.deepEqual((await noted(first)).toSorted(), [
      "run first begun",
      "run first ended",
      "run other work",
    ]);
    assert.equal(await other(), "second");
    await second.close();
  });

  test("whose process hangs or is killed is begun again by another, and ends once", async () => {
    const { first, second, done, goOn, other } = await begin();
    clock.advance(119_000);
    assert.equal(await other(), undefined);
    clock.advance(2_000);
    assert.equal(await rebuildState(second.read, clock), "abandoned");
    assert.equal(await other(), "second");
    goOn();
    assert.equal(await done, undefined, "it has been taken over");
    assert.deepEqual((await noted(first)).toSorted(), ["run first begun", "run second ended"]);
    assert.equal(await rebuildState(first.read, clock), "none");
    await second.close();
  });
});
