import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { Database } from "../../src/database/database.js";
import { DAY_MS, HOUR_MS, WEEK_MS } from "../../src/lib/clock.js";
import { thinSnapshots } from "../../src/tracking/retention.js";
import { onSqliteAndLong } from "../support/engines.js";
import { ManualClock } from "../support/manual-clock.js";
import { examples, fc } from "../support/properties.js";
import { allSnapshots, snapshotsOf } from "../support/snapshots.js";
import { createWorld, NOW, observation, snapshot } from "../support/world.js";

const never = new AbortController().signal;

async function series(database: Database, name: string): Promise<number[]> {
  const { id } = await database.read
    .selectFrom("repositories")
    .select("id")
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
  return (await snapshotsOf(database, id)).map(({ capturedAt }) => capturedAt);
}

/** The snapshots to keep: all recent ones, then the last of each day, then the last of each week. */
function kept(times: readonly number[], now: number): number[] {
  const daily = Math.floor((now - 30 * DAY_MS) / DAY_MS) * DAY_MS;
  const weekly = Math.floor((now - 400 * DAY_MS) / WEEK_MS) * WEEK_MS;
  return times.filter((at, i) => {
    const next = times[i + 1];
    if (next === undefined || at >= daily) return true;
    const step = at < weekly ? WEEK_MS : DAY_MS;
    return Math.floor(next / step) !== Math.floor(at / step);
  });
}

/** Runs until nothing is left to remove, each run removing a part. Returns the number of removed snapshots. */
async function thinAll(database: Database, now: number): Promise<number> {
  const borders = () => sql`select value from marks where name = 'retention'`.execute(database.write);
  let removed = 0;
  for (let before: unknown; ; ) {
    removed += await thinSnapshots({ database, now, signal: never });
    const { rows } = await borders();
    if (JSON.stringify(rows) === before) return removed;
    before = JSON.stringify(rows);
  }
}

async function checkCounters(database: Database): Promise<void> {
  const one = async (query: ReturnType<typeof sql<{ n: number }>>) =>
    Number((await query.execute(database.read)).rows[0]?.n ?? 0);
  const counted = await one(sql<{ n: number }>`select sum(snapshots) as n from snapshot_hours`);
  assert.equal(counted, (await allSnapshots(database)).length);
  assert.equal(
    await one(sql<{ n: number }>`select count(*) as n from snapshot_hours where snapshots < 0`),
    0,
  );
}

onSqliteAndLong("Thinning old snapshots", (engine) => {
  test("stars still held take the place of no total, nor a total theirs, and the beginning of a history stays", async () => {
    const world = await createWorld(engine);
    const { database } = world.modules;
    const noon = 40 * 24;
    await world.record(
      observation("mixed/sources", [
        snapshot(noon + 5, 6, { source: "BACKFILLED" }),
        snapshot(noon + 4, 7, { source: "BACKFILLED" }),
        snapshot(noon + 3, 1),
        snapshot(noon + 2, 2),
        snapshot(noon + 1, 3, { source: "BACKFILLED" }),
        snapshot(noon, 4, { source: "BACKFILLED" }),
        snapshot(0, 5),
      ]),
    );
    assert.equal(await thinSnapshots({ database, now: NOW, signal: never }), 3);
    assert.deepEqual(
      (await snapshotsOf(database, 1)).map(({ stars }) => stars),
      [6, 2, 4, 5],
    );
  });

  test("all are kept for 30 days, the last of each day for 400, the last of each week beyond", async () => {
    const world = await createWorld(engine);
    const { database } = world.modules;
    const times: number[] = [];
    for (let hours = 460 * 24; hours >= 0; hours -= hours > 40 * 24 ? 9 : 5) times.push(hours);
    await world.record(
      observation(
        "old/one",
        times.map((hours) => snapshot(hours, 100_000 - hours)),
      ),
    );
    const before = await series(database, "one");
    const removed = await thinAll(database, NOW);
    const after = await series(database, "one");
    assert.deepEqual(after, kept(before, NOW));
    assert.equal(removed, before.length - after.length);
    await checkCounters(database);
    assert.equal(await thinSnapshots({ database, now: NOW, signal: never }), 0, "a second time");
    assert.deepEqual(await series(database, "one"), after);
  });

  test("thinning day by day keeps the same snapshots as thinning once", async () => {
    const world = await createWorld(engine);
    const { database } = world.modules;
    const clock = new ManualClock(NOW - 20 * DAY_MS);
    const hours = Array.from({ length: 60 * 4 }, (_, i) => (60 * 4 - i) * 6);
    await world.record(
      observation(
        "old/two",
        hours.map((ago) => snapshot(ago, 5_000 - ago)),
      ),
    );
    const before = await series(database, "two");
    for (let day = 0; day <= 20; day++, clock.advance(DAY_MS)) {
      await thinAll(database, clock.now());
    }
    assert.deepEqual(await series(database, "two"), kept(before, NOW));
    await checkCounters(database);
  });

  test("a run passes a twentieth of all snapshots, or a day or week with more", async () => {
    const world = await createWorld(engine);
    const { database } = world.modules;
    const daily = Array.from({ length: 360 }, (_, i) => snapshot((359 - i) * 24, i));
    await world.record(...Array.from({ length: 3 }, (_, i) => observation(`old/${i}`, daily)));
    const later = NOW + 3 * 365 * DAY_MS;
    for (let left = 3 * 360; left > 3 * 53; ) {
      const removed = await thinSnapshots({ database, now: later, signal: never });
      assert.ok(removed > 0 && removed <= Math.max(left / 20, 3 * 6), `${removed} of ${left}`);
      left -= removed;
      assert.equal((await allSnapshots(database)).length, left);
    }
  });

  test("being stopped in the middle loses no snapshot that should be kept, and the next run does all else", async () => {
    const world = await createWorld(engine);
    const { database } = world.modules;
    await world.record(observation("old/three", [snapshot(2_000, 1), snapshot(1_999.9, 2), snapshot(1, 3)]));
    const ended = AbortSignal.abort();
    assert.equal(await thinSnapshots({ database, now: NOW, signal: ended }), 0);
    assert.equal((await series(database, "three")).length, 3);
    assert.equal(await thinSnapshots({ database, now: NOW, signal: never }), 1);
    await checkCounters(database);
  });

  test("for any snapshots, thinning keeps a subset with the newest", async () => {
    const world = await createWorld(engine);
    const { database } = world.modules;
    let count = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 0, max: 600 * 24 }), { minLength: 1 }),
        async (ago) => {
          const name = `any-${count++}`;
          const times = ago.toSorted((a, b) => b - a);
          await world.modules.catalog.record([
            observation(
              `any/${name}`,
              times.map((hours) => snapshot(hours, 1)),
            ),
          ]);
          await sql`delete from marks where name = 'retention'`.execute(database.write);
          const reading = series(database, name);
          await thinAll(database, NOW);
          assert.ok((await reading).length > 0, "a reader waits for nothing");
          const before = times.map((hours) => NOW - hours * HOUR_MS);
          const after = await series(database, name);
          assert.deepEqual(after, kept(before, NOW));
          assert.equal(after.at(-1), before.at(-1));
        },
      ),
      { numRuns: examples(25) },
    );
    await checkCounters(database);
  });
});
