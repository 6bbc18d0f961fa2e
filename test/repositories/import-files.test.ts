import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, isoTime } from "../../src/lib/clock.js";
import { updateDerived } from "../../src/modules.js";
import { onBothEngines } from "../support/engines.js";
import { createWorld, NOW, observation, snapshotAt, type World } from "../support/world.js";

const SOURCE = "github-ranking";
const NEWEST = Math.floor(NOW / DAY_MS) * DAY_MS;
const NAMES = Array.from({ length: 20 }, (_, i) => `o/r${i}`);

/** The time of a day's file, counted back from the newest. */
const timeOf = (daysAgo: number) => NEWEST - daysAgo * DAY_MS;

/** Records the rows of a file, as an import does before it records the file. */
async function recordRows(world: World, daysAgo: number, names: readonly string[]): Promise<void> {
  const at = timeOf(daysAgo);
  const rows = names.map((name, i) =>
    observation(name, [snapshotAt(at, 1_000 - 10 * daysAgo + i, { forks: 100 })], { source: SOURCE }),
  );
  await world.modules.catalog.recordAll(rows);
}

async function recordFile(world: World, daysAgo: number, rows: number) {
  const capturedAt = timeOf(daysAgo);
  const file = `ranking-${isoTime(capturedAt).slice(0, 10)}.csv`;
  return world.modules.catalog.recordFiles([
    { source: SOURCE, file, capturedAt, rows, zeros: 0, damage: [] },
  ]);
}

async function importDay(world: World, daysAgo: number, names: readonly string[]): Promise<void> {
  await recordRows(world, daysAgo, names);
  await recordFile(world, daysAgo, names.length);
}

/** Whether a repository has growth and ranks. */
async function isRanked(world: World, name: string): Promise<boolean> {
  const { catalog, rankings } = world.modules;
  const id = (await catalog.findByName("GITHUB", name))?.repository.id ?? 0;
  const hasTrend = (await rankings.trendsOf(id))["7d"] !== null;
  assert.equal(
    (await rankings.ranks(id)).some(({ ranking }) => ranking === "stars-gained"),
    hasTrend,
  );
  return hasTrend;
}

onBothEngines("A repository of an archive", (engine) => {
  test("leaves the rankings when the newest file does not have it, and comes back with the next that does", async () => {
    const world = await createWorld(engine);
    for (const daysAgo of [9, 8, 2]) await importDay(world, daysAgo, NAMES);
    await updateDerived(world.modules);
    assert.equal(await isRanked(world, "o/r0"), true);
    await importDay(world, 1, NAMES.slice(1));
    await updateDerived(world.modules);
    assert.deepEqual([await isRanked(world, "o/r0"), await isRanked(world, "o/r1")], [false, true]);
    await importDay(world, 0, NAMES);
    await updateDerived(world.modules);
    assert.equal(await isRanked(world, "o/r0"), true);
  });

  test("leaves them although the import was killed before its file was recorded, once it is repeated", async () => {
    const world = await createWorld(engine);
    for (const daysAgo of [9, 8, 2]) await importDay(world, daysAgo, NAMES);
    await recordRows(world, 1, NAMES.slice(1));
    await updateDerived(world.modules);
    assert.equal(await isRanked(world, "o/r0"), true, "the file is not known to be complete");
    await importDay(world, 1, NAMES.slice(1));
    await updateDerived(world.modules);
    assert.equal(await isRanked(world, "o/r0"), false);
  });

  test("keeps its ranks when the newest file is damaged, until later ones show that it is not", async () => {
    const world = await createWorld(engine);
    for (const daysAgo of [9, 8, 7, 3]) await importDay(world, daysAgo, NAMES);
    await importDay(world, 2, NAMES.slice(10));
    await updateDerived(world.modules);
    assert.equal(await isRanked(world, "o/r0"), true);
    await importDay(world, 1, NAMES.slice(10));
    await importDay(world, 0, NAMES.slice(10));
    await updateDerived(world.modules);
    assert.deepEqual([await isRanked(world, "o/r0"), await isRanked(world, "o/r19")], [false, true]);
  });

  test("comes back when a file that seemed complete turns out to be short", async () => {
    const world = await createWorld(engine);
    await importDay(world, 3, NAMES.slice(10));
    await recordRows(world, 12, NAMES);
    await recordRows(world, 5, NAMES);
    await updateDerived(world.modules);
    assert.equal(await isRanked(world, "o/r0"), false);
    const judged = await recordFile(world, 5, 20);
    assert.deepEqual(
      judged.map(({ damage, isNews }) => [damage[0]?.kind, isNews]),
      [
        [undefined, false],
        ["FEW_ROWS", true],
      ],
    );
    await updateDerived(world.modules);
    assert.equal(await isRanked(world, "o/r0"), true);
  });
});

onBothEngines("Files of archives", (engine) => {
  const rowsOf = ({ modules }: World) =>
    modules.database.read.selectFrom("import_files").selectAll().orderBy("captured_at").execute();

  test("are the same rows when they are recorded again, or in another order", async () => {
    const counts = [20, 20, 9, 20, 18];
    const world = await createWorld(engine);
    for (const [i, rows] of counts.entries()) await recordFile(world, i, rows);
    const once = await rowsOf(world);
    assert.deepEqual(once.map(({ damage }) => damage === null).toReversed(), [true, true, false, true, true]);
    world.clock.advance(DAY_MS);
    const revision = await world.modules.catalog.revision();
    for (const [i, rows] of counts.entries()) await recordFile(world, i, rows);
    assert.deepEqual(await rowsOf(world), once);
    assert.equal(await world.modules.catalog.revision(), revision);
    const other = await createWorld(engine);
    for (const [i, rows] of [...counts.entries()].toReversed()) await recordFile(other, i, rows);
    assert.deepEqual(await rowsOf(other), once);
  });

  test("with one repaired among them are judged by the one with more rows, in either order", async () => {
    for (const lengths of [
      [5, 20],
      [20, 5],
    ]) {
      const world = await createWorld(engine);
      for (const daysAgo of [3, 2, 1]) await recordFile(world, daysAgo, 20);
      for (const rows of lengths) await recordFile(world, 0, rows);
      const newest = (await rowsOf(world)).at(-1);
      assert.deepEqual([newest?.row_count, newest?.damage], [20, null]);
    }
  });

  test("can be judged without being recorded", async () => {
    const world = await createWorld(engine);
    for (const daysAgo of [3, 2, 1]) await recordFile(world, daysAgo, 20);
    const file = { source: SOURCE, file: "x.csv", capturedAt: NEWEST, rows: 10, zeros: 0, damage: [] };
    const [judged] = await world.modules.catalog.judgeFiles([file]);
    assert.equal(judged?.damage[0]?.kind, "FEW_ROWS");
    assert.equal((await rowsOf(world)).length, 3);
  });
});

onBothEngines("The archive of a repository", (engine) => {
  const sourceOf = async ({ modules }: World) =>
    (await modules.catalog.findByName("GITHUB", "o/r"))?.repository.importSource;
  const from = (daysAgo: number, source?: string) =>
    observation("o/r", [snapshotAt(timeOf(daysAgo), 5)], source === undefined ? {} : { source });

  test("is the one that reported it last, whatever the forge reported since", async () => {
    const world = await createWorld(engine);
    await world.record(from(3, "awesome-go"));
    assert.equal(await sourceOf(world), "awesome-go");
    await world.record(from(2, "github-ranking"));
    await world.record(from(4, "awesome-selfhosted"));
    assert.equal(await sourceOf(world), "github-ranking");
    await world.record(from(0));
    assert.equal(await sourceOf(world), "github-ranking");
  });

  test("is filled in by an older file if none is known", async () => {
    const world = await createWorld(engine);
    await world.record(from(0));
    assert.equal(await sourceOf(world), null);
    await world.record(from(2, "github-ranking"));
    assert.equal(await sourceOf(world), "github-ranking");
  });
});
