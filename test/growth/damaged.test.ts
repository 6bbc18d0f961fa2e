import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { Database } from "../../src/database/database.js";
import { sumCounts } from "../../src/growth/sums.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { buildModules, followChanges, type Modules, updateDerived } from "../../src/modules.js";
import { outdateAll } from "../../src/repositories/repositories.js";
import { thinSnapshots } from "../../src/repositories/snapshots/removal.js";
import { type Engine, onBothEngines } from "../support/engines.js";
import { type LogLine, recordedLog } from "../support/logs.js";
import { ManualClock } from "../support/manual-clock.js";
import { createWorld, daily, NOW, observation, snapshot } from "../support/world.js";

const DAYS = daily(100, 101, 103, 106, 110, 115, 121, 128, 136);
const NAMES = ["a", "b", "c"];

async function open(engine: Engine): Promise<{ modules: Modules; lines: LogLine[] }> {
  const { log, lines } = recordedLog("warn");
  const modules = buildModules(await engine.open(), { clock: new ManualClock(NOW), log });
  await modules.catalog.record(NAMES.map((name) => observation(`o/${name}`, DAYS)));
  return { modules, lines };
}

/** Flips a bit in the middle of the block of a repository. */
async function damage(database: Database, id: number): Promise<() => Promise<void>> {
  const { data } = await database.write
    .selectFrom("snapshot_blocks")
    .select("data")
    .where("repository_id", "=", id)
    .executeTakeFirstOrThrow();
  const bytes = Uint8Array.from(data);
  const middle = bytes.length >> 1;
  bytes[middle] = (bytes[middle] ?? 0) ^ 8;
  const store = async (value: Uint8Array) => {
    await sql`update snapshot_blocks set data = ${value} where repository_id = ${id}`.execute(database.write);
  };
  await store(bytes);
  return () => store(Uint8Array.from(data));
}

async function marksOf(database: Database): Promise<[string, number][]> {
  const rows = await database.read.selectFrom("outdated").selectAll().orderBy("kind").execute();
  return rows.map(({ kind, repository_id }): [string, number] => [kind, repository_id]);
}

/** Lets the next update compute all growth, as a repair of the store does. */
async function sweep({ dialect, write }: Database): Promise<void> {
  await dialect.exclusively(write, "catalogue", (tx) => outdateAll(tx, dialect));
}

/** Stars gained in a week, by name; null without growth. */
async function gains({ catalog, rankings }: Modules): Promise<(number | null)[]> {
  return Promise.all(
    NAMES.map(async (name) => {
      const found = await catalog.findByName("GITHUB", `o/${name}`);
      const trends = await rankings.trendsOf(found?.repository.id ?? 0);
      return trends["7d"]?.starsDelta ?? null;
    }),
  );
}

onBothEngines("A damaged block of snapshots", (engine) => {
  test("leaves its repository without growth until it is repaired, and stops no other", async () => {
    const { modules, lines } = await open(engine);
    const { database, rankings, catalog } = modules;
    const repair = await damage(database, 2);
    assert.equal(await rankings.update(), 3);
    assert.deepEqual(await gains(modules), [35, null, 35]);
    assert.deepEqual(
      (await rankings.ranks(2)).map(({ ranking }) => ranking),
      ["stars", "stars"],
      "it is still ranked by what is known",
    );
    assert.deepEqual(await marksOf(database), []);

    const revision = await catalog.revision();
    assert.equal(await rankings.update(), 0, "it is not tried again and again");
    assert.equal(await catalog.revision(), revision);

    // New snapshots of it and of another, one by one.
    await catalog.record(["a", "b"].map((name) => observation(`o/${name}`, [snapshot(-1, 150)])));
    await rankings.update();
    assert.deepEqual(await gains(modules), [49, null, 35]);
    await sweep(database);
    await rankings.update();
    assert.deepEqual(
      lines.map(({ level, repositoryId }) => [level, repositoryId]),
      [[50, 2]],
      "the log names it once",
    );
    assert.match(lines[0]?.msg ?? "", /damaged/);

    await repair();
    await sweep(database);
    await rankings.update();
    assert.deepEqual(await gains(modules), [49, 49, 35]);
  });

  test("is found repaired by the next snapshot", async () => {
    const { modules } = await open(engine);
    const { database, rankings, catalog } = modules;
    const repair = await damage(database, 2);
    await rankings.update();
    await repair();
    await catalog.record([observation("o/b", [snapshot(-1, 150)])]);
    await rankings.update();
    assert.deepEqual(await gains(modules), [35, 49, 35]);
    assert.deepEqual(await marksOf(database), []);
  });

  test("stays as it is when snapshots are recorded, packed and thinned around it", async () => {
    const { modules } = await open(engine);
    const { database, catalog, rankings } = modules;
    const { dialect, write } = database;
    await damage(database, 2);
    const blocks = () =>
      write.selectFrom("snapshot_blocks").selectAll().where("repository_id", "=", 2).execute();
    const [damaged] = await blocks();
    // Before it, at times that it covers, and after it.
    const late = [snapshot(24 * 40, 90), snapshot(24 * 39, 91), snapshot(30, 5), snapshot(48, 5)];
    const added = await catalog.record(NAMES.map((name) => observation(`o/${name}`, late)));
    assert.equal(added.snapshotsAdded, 3 + 2 + 3, "what its time holds is not known");
    for (let hour = 1; hour <= 8; hour++)
      await catalog.record(NAMES.map((name) => observation(`o/${name}`, [snapshot(-hour / 4, 150 + hour)])));
    await followChanges(modules);
    const now = await blocks();
    assert.deepEqual(
      now.find(({ from_at }) => from_at === damaged?.from_at),
      damaged,
    );
    assert.deepEqual(
      now.map(({ snapshots }) => snapshots).sort((a, b) => a - b),
      [2, 8, 9],
    );
    const to = Math.floor((NOW + DAY_MS) / DAY_MS) * DAY_MS;
    const removed = await dialect.exclusively(write, "catalogue", (tx) =>
      thinSnapshots(tx, dialect, { ids: [1, 2, 3], steps: [{ from: 0, to, step: DAY_MS }] }),
    );
    // Of nine on the last day and two on the day before; the damaged block has the first of each.
    assert.equal(removed, 2 * (8 + 1) + 7);
    assert.deepEqual(
      (await blocks()).find(({ from_at }) => from_at === damaged?.from_at),
      damaged,
    );
    await rankings.update();
    const total = await write
      .selectFrom("snapshot_hours")
      .select(({ fn }) => fn.sum<number>("snapshots").as("total"))
      .executeTakeFirstOrThrow();
    const stored = await write
      .selectFrom("snapshot_blocks")
      .select(({ fn }) => fn.sum<number>("snapshots").as("total"))
      .executeTakeFirstOrThrow();
    const tails = await write.selectFrom("snapshots").selectAll().execute();
    assert.equal(Number(total.total), Number(stored.total) + tails.length);
  });

  test("makes the requests for its own history fail, by name, and no other", async () => {
    const world = await createWorld(engine);
    const { modules } = world;
    await world.record(...NAMES.map((name) => observation(`o/${name}`, DAYS)));
    await damage(modules.database, 2);
    await updateDerived(modules);
    const series = await world.get("/api/repos/2/metrics");
    assert.equal(series.status, 500);
    assert.equal(series.body.error.code, "INTERNAL");
    assert.match(series.body.error.message, /The history of repository 2 is damaged/);
    const picture = await world.get("/api/embed/chart.svg?repo=github:o/b");
    assert.match(picture.body, /The history of repository 2 is damaged/);
    for (const path of [
      "/api/repos/1/metrics",
      "/api/repos/github/o/b",
      "/api/repos/2/ranks",
      "/api/repos?sort=stars",
      "/explore",
      "/",
    ])
      assert.equal((await world.get(path)).status, 200, path);
  });

  test("leaves out its repository if a watchlist sums histories", async () => {
    const world = await createWorld(engine);
    const { modules } = world;
    await world.record(...NAMES.map((name) => observation(`o/${name}`, DAYS)));
    await damage(modules.database, 2);
    const recency = await modules.catalog.recency();
    const listed = await modules.catalog.findMany([1, 2, 3]);
    const { points, measured, repositories } = await sumCounts(modules.database, listed, { recency });
    assert.deepEqual([points.at(-1)?.stars, measured, repositories], [2 * 136, 2, 3]);
  });
});
