import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { sql } from "kysely";
import { DailyQuotas } from "../../src/accounts/quotas.js";
import type { Database } from "../../src/database/database.js";
import { VISIT_MS } from "../../src/watchlists/changes.js";
import { Watchlists } from "../../src/watchlists/watchlists.js";
import { accountsContext, addAccount } from "../support/accounts.js";
import { type Engine, onSqliteAndLong } from "../support/engines.js";
import { recordedLog } from "../support/logs.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

const MINUTE_MS = 60_000;

onSqliteAndLong("Visits of a personal list", (engine) => {
  let world: World;
  let account: string;
  const ids = [1, 2, 3];
  beforeEach(async () => {
    world = await createWorld(engine);
    account = await addAccount(world.modules.database, "ann@example.org");
    await world.record(
      observation("one/one", [snapshot(24, 100)], {
        facts: { archived: false, stars: 100 },
        providerId: "1",
      }),
      observation("two/two", [snapshot(24, 50)], { facts: { archived: true, stars: 50 }, providerId: "2" }),
      observation("three/three", [snapshot(24, 10)], { facts: { stars: 10 }, providerId: "3" }),
    );
  });
  const record = async (of: readonly number[], by = account) => {
    const { catalog, watchlists } = world.modules;
    return watchlists.visits.record(by, await catalog.findMany(of));
  };
  const look = async () => {
    const changes = await record(ids);
    await world.modules.watchlists.flush();
    return changes;
  };
  /** A snapshot this many hours after NOW. */
  const later = (hours: number, stars: number) => snapshot(-hours, stars);

  test("the first one has nothing to tell, the next one what was gained, renamed, archived and lost", async () => {
    assert.equal(await look(), undefined);
    world.clock.advance(VISIT_MS - 1);
    assert.equal(await look(), undefined, "still the same visit");
    const seenAt = world.clock.now();
    world.clock.advance(3 * 3_600_000);
    await world.record(
      observation("one/uno", [later(2, 130)], {
        at: NOW + 2 * 3_600_000,
        facts: { archived: true, stars: 130 },
        providerId: "1",
      }),
      observation("two/two", [later(2, 45)], {
        at: NOW + 2 * 3_600_000,
        facts: { archived: true, stars: 45 },
        providerId: "2",
      }),
      observation("three/three", [], {
        at: NOW + 2 * 3_600_000,
        facts: { availability: "GONE" },
        providerId: "3",
      }),
    );
    const changes = await look();
    assert.equal(changes?.since, seenAt);
    assert.equal(changes?.totalGained, 25);
    assert.deepEqual(changes?.renamed, [{ repositoryId: 1, from: "one/one" }]);
    assert.deepEqual(changes?.archived, [1]);
    assert.deepEqual(changes?.unavailable, [3]);

    // The same is told through the whole visit, however long, as long as there is no pause.
    for (let i = 0; i < 4; i++) {
      world.clock.advance(VISIT_MS - MINUTE_MS);
      assert.deepEqual((await look())?.archived, [1]);
    }
    world.clock.advance(VISIT_MS);
    const next = await look();
    assert.deepEqual([next?.totalGained, next?.renamed, next?.archived, next?.unavailable], [0, [], [], []]);
  });

  test("a gain is that of the series: a failed reading is none, and neither is its return", async () => {
    const held = [snapshot(36, 80, { source: "BACKFILLED" }), snapshot(12, 92, { source: "BACKFILLED" })];
    await world.record(observation("four/four", daily(1_000, 1_010, 1_020, 400), { providerId: "4" }));
    await record([4, 5]);
    await world.modules.watchlists.flush();
    world.clock.advance(24 * 3_600_000);
    await world.record(
      observation("four/four", [later(12, 400), later(24, 1_040)], { providerId: "4" }),
      observation("five/five", [...held, later(11, 104)], { providerId: "5" }),
    );
    assert.equal((await record([4]))?.totalGained, 20);
    assert.equal((await record([5]))?.totalGained, 6);
  });

  test("what has no snapshot from before is not known to have gained", async () => {
    await look();
    world.clock.advance(VISIT_MS);
    await world.record(observation("four/four", [later(1, 7)], { facts: { stars: 7 } }));
    assert.equal((await record([4]))?.totalGained, null);
    assert.equal((await record([]))?.totalGained, null);
  });

  test("accounts have visits of their own, which go with them", async () => {
    await look();
    world.clock.advance(VISIT_MS);
    const other = await addAccount(world.modules.database, "bob@example.org");
    assert.equal(await record(ids, other), undefined);
    await world.modules.watchlists.flush();
    const { durable } = world.modules.database;
    await durable.deleteFrom("accounts").where("id", "=", account).execute();
    const left = await durable.selectFrom("watchlist_visits").select("account_id").execute();
    assert.deepEqual(
      left.map((row) => row.account_id),
      [other],
    );
  });

  test("a visit that cannot be written is logged with its cause, and is recorded by the next look", async () => {
    const { database } = world.modules;
    const { log, lines } = recordedLog("error");
    const { failing, repair } = await withFailingWrites(engine, database);
    const watchlists = new Watchlists({
      database: failing,
      clock: world.clock,
      log,
      quotas: new DailyQuotas(accountsContext(world.modules.database, world.clock)),
    });
    const { visits } = watchlists;
    const listed = await world.modules.catalog.findMany(ids);
    assert.equal(await visits.record(account, listed), undefined);
    await watchlists.flush();
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ["a visit to a watchlist could not be recorded"],
    );
    assert.ok(lines[0]?.err.message);
    repair();
    await visits.record(account, listed);
    await watchlists.flush();
    world.clock.advance(VISIT_MS);
    assert.ok(await visits.record(account, listed));
    assert.equal(lines.length, 1);
  });
});

/** A database to which nothing can be written until `repair` is called; the durable connection works. */
async function withFailingWrites(engine: Engine, database: Database) {
  const closed = await engine.open();
  await sql`select 1`.execute(closed.write);
  await closed.close();
  const failing = { ...database, write: closed.write };
  const repair = () => {
    failing.write = database.write;
  };
  return { failing, repair };
}
