import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Database } from "../../src/database/database.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { readPreparedStatus, readStatus } from "../../src/tracking/status.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openTrackingWorld } from "../support/tracking.js";

onSqliteAndLong("The status for pages", ({ open }) => {
  const start = async (t: TestContext, database?: Database) => {
    const forge = { kind: "github", name: "GITHUB", repositories: 12, catalogue: "quiet" } as const;
    const world = await openTrackingWorld(t, database ?? (await open()), [forge]);
    return world;
  };

  test("is prepared by the worker, and read in one row", async (t) => {
    const database = await open();
    assert.equal(await readPreparedStatus(database), undefined, "before any worker");
    const world = await start(t, database);
    await world.pass(3 * HOUR_MS);
    await world.stop();
    const prepared = await readPreparedStatus(database);
    assert.ok(prepared !== undefined && world.clock.now() - prepared.at <= HOUR_MS);
    const [now] = await readStatus(database, prepared.at);
    const [then] = prepared.providers;
    assert.deepEqual(
      [then?.provider, then?.repositories, then?.scheduled],
      [now?.provider, now?.repositories, now?.scheduled],
    );
    const { WHOLE = 0, READING = 0, WAITING = 0 } = then?.histories ?? {};
    assert.equal(WHOLE + READING + WAITING, 12, "each star history is counted once, by its state");
    assert.ok(prepared.databaseBytes > 0);
  });

  test("names every forge from the start, before it has responded", async (t) => {
    const world = await start(t);
    world.forge("GITHUB").switches.fault = () => "html";
    await world.pass(1);
    const { providers = [] } = (await readPreparedStatus(world.modules.database)) ?? {};
    assert.deepEqual(
      providers.map(({ provider, worker }) => [provider, worker !== null]),
      [["GITHUB", true]],
    );
  });

  test("says since when a forge fails, and when it last responded, also after a restart of the worker", async (t) => {
    const world = await start(t);
    await world.pass(HOUR_MS);
    const now = world.clock.now();
    world.forge("GITHUB").switches.fault = () => "status-500";
    await world.pass(6 * HOUR_MS);
    const read = async () => {
      const [status] = await readStatus(world.modules.database, world.clock.now());
      const { startedAt = 0, lastSuccessAt = 0, failing = null } = status?.worker?.report ?? {};
      return { startedAt, last: [lastSuccessAt, failing?.since] };
    };
    const before = await read();
    await world.restart();
    await world.pass(HOUR_MS);
    const after = await read();
    assert.ok(after.startedAt > before.startedAt);
    assert.deepEqual(after.last, before.last);
    const [success, since] = after.last;
    assert.ok(success && success <= now && since && since > now && since < world.clock.now() - 2 * HOUR_MS);
  });

  test("names no time for a walk that is due or under way", async (t) => {
    const world = await start(t);
    const { modules, clock, forge } = world;
    const walk = async () => (await readStatus(modules.database, clock.now()))[0]?.walk;
    forge("GITHUB").switches.fault = () => "status-500";
    await world.pass(60_000);
    assert.equal(await walk(), null);
    forge("GITHUB").switches.fault = null;
    await world.pass(HOUR_MS);
    assert.ok(((await walk())?.nextAt ?? 0) > clock.now());
  });

  test("says when the next page of a star history is read, unless one is due or none is left", async (t) => {
    const world = await start(t);
    await world.pass(HOUR_MS);
    await world.stop();
    const { database } = world.modules;
    const now = world.clock.now();
    const nextAt = async (due: number | null) => {
      await database.write.updateTable("tracking").set({ history_due: due }).execute();
      return (await readStatus(database, now))[0]?.backfillNextAt;
    };
    assert.equal(await nextAt(now + HOUR_MS), now + HOUR_MS);
    assert.equal(await nextAt(now - 1), null);
    assert.equal(await nextAt(null), null);
  });
});
