import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { countFreshness, isStale, readNewestFiles } from "../../src/repositories/recency.js";
import { Catalog } from "../../src/repositories/repositories.js";
import { onBothEngines } from "../support/engines.js";
import { ManualClock } from "../support/manual-clock.js";
import { fc } from "../support/properties.js";
import { NOW, observation, snapshotAt } from "../support/world.js";

const file = (source: string, days: number, more: { file?: string; isDamaged?: boolean } = {}) => ({
  source,
  file: more.file ?? `${source}-${days}.csv`,
  capturedAt: NOW - days * DAY_MS,
  rows: 100,
  zeros: 0,
  damage: more.isDamaged ? [{ kind: "CUT_OFF" as const, reason: "it ends inside a row" }] : [],
});

onBothEngines("Fresh and stale repositories", (engine) => {
  test("are counted as each of them is judged", async () => {
    const repository = fc.record({
      hours: fc.integer({ min: 0, max: 40 * 24 }),
      interval: fc.constantFrom(null, null, 0, HOUR_MS, DAY_MS, 7 * DAY_MS),
      source: fc.constantFrom(undefined, "one", "two", "none"),
      isCounted: fc.integer({ min: 0, max: 9 }).map((value) => value > 0),
    });
    const database = await engine.open();
    const catalog = new Catalog(database, new ManualClock(NOW));
    await catalog.recordFiles([file("one", 0), file("two", 3), file("two", 1, { isDamaged: true })]);
    const given = fc.sample(repository, { numRuns: 300, seed: 4 });
    await catalog.record(
      given.map(({ hours, source, isCounted }, i) =>
        observation(`o/r${i}`, isCounted ? [snapshotAt(NOW - hours * HOUR_MS, i)] : [], {
          ...(source === undefined ? {} : { source }),
        }),
      ),
    );
    const named = given.map(({ interval }, i) => [interval, `o/r${i}`] as const);
    for (const interval of new Set(named.map(([one]) => one)))
      await database.write
        .updateTable("repositories")
        .set({ refresh_interval: interval, next_refresh_at: interval === null ? null : NOW + DAY_MS })
        .where(
          "name_key",
          "in",
          named.flatMap(([one, name]) => (one === interval ? name : [])),
        )
        .execute();
    const recency = await catalog.recency();
    const judged = await Promise.all(
      named.map(async ([, name]) => (await catalog.findByName("GITHUB", name))?.repository ?? assert.fail()),
    );
    const counted = judged.filter(({ countedAt }) => countedAt !== null);
    const stale = counted.filter((one) => isStale(one, recency)).length;
    assert.ok(stale > 50 && counted.length - stale > 50, "both kinds are there");
    assert.deepEqual(await countFreshness(database.read, "GITHUB", recency), {
      freshRepositories: counted.length - stale,
      staleRepositories: stale,
    });
  });

  test("the newest undamaged file of each archive is found", async () => {
    const database = await engine.open();
    const catalog = new Catalog(database, new ManualClock(NOW));
    assert.deepEqual(await readNewestFiles(database.read), []);
    await catalog.recordFiles([
      file("one", 5),
      file("one", 2),
      file("one", 1, { isDamaged: true }),
      file("two", 9, { isDamaged: true }),
    ]);
    assert.deepEqual(await readNewestFiles(database.read), [
      { source: "one", file: "one-2.csv", capturedAt: NOW - 2 * DAY_MS },
    ]);
  });

  test("what decides is read again only when something has changed", async () => {
    const database = await engine.open();
    const catalog = new Catalog(database, new ManualClock(NOW));
    await catalog.record([observation("o/a", [snapshotAt(NOW, 1)])]);
    const first = await catalog.recency();
    assert.equal(await catalog.recency(), first);
    await catalog.recordFiles([file("one", 0)]);
    assert.equal((await catalog.recency()).newestFiles.get("one"), NOW);
  });
});
