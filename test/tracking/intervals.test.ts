import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { untrackOthers } from "../../src/tracking/untrack.js";
import { onSqliteAndLong } from "../support/engines.js";
import { QUIET } from "../support/forge/world.js";
import { openTrackingWorld, type TrackingWorld } from "../support/tracking.js";
import { makeAllDue } from "./truth.js";

const SLOW_POLL = { idleMs: HOUR_MS / 2 };
const LIST = "/api/repos?sort=stars-gained&window=24h&limit=100";

const scheduled = ({ modules }: TrackingWorld) =>
  modules.database.read
    .selectFrom("repositories")
    .select(["id", "provider", "refresh_interval", "next_refresh_at", "refreshed_at", "stars"])
    .orderBy("id")
    .execute();

/** Growth that counts now. */
const gaining = ({ modules }: TrackingWorld) =>
  modules.database.read
    .selectFrom("rollups")
    .innerJoin("repositories", "id", "repository_id")
    .select("id")
    .where("window_hours", "=", 24)
    .where("rollups.stars_delta", ">", 0)
    .execute();

onSqliteAndLong("The scheduled interval of a repository", (engine) => {
  test("is a day until its growth is known, and then what the schedule says, whatever fails meanwhile", async (t) => {
    const forge = { kind: "gitlab", name: "GITLAB", repositories: 12, catalogue: "quiet" } as const;
    const world = await openTrackingWorld(t, await engine.open(), [forge], SLOW_POLL);
    await world.pass(HOUR_MS / 4);
    const first = await scheduled(world);
    assert.equal(first.length, 12);
    assert.deepEqual(new Set(first.map(({ refresh_interval }) => refresh_interval)), new Set([DAY_MS]));
    await world.pass(HOUR_MS);
    await makeAllDue(world);
    await world.pass(HOUR_MS);
    const known = await scheduled(world);
    for (const { refresh_interval, next_refresh_at, refreshed_at } of known) {
      const wait = (next_refresh_at ?? 0) - (refreshed_at ?? 0);
      assert.ok(Math.abs(wait / (refresh_interval ?? 0) - 0.9) <= 0.1, `${wait} of ${refresh_interval}`);
    }
    world.forge("GITLAB").switches.fault = () => "status-404";
    await makeAllDue(world);
    await world.pass(HOUR_MS);
    const failed = await scheduled(world);
    assert.deepEqual(
      failed.map(({ refresh_interval }) => refresh_interval),
      known.map(({ refresh_interval }) => refresh_interval),
    );
    assert.notDeepEqual(failed, known);
  });

  test("keeps repositories that gain in the list of 24 hours, also while few of them can be read", async (t) => {
    const forge = { kind: "gitlab", name: "GITLAB", repositories: 12, catalogue: { rates: QUIET } } as const;
    const world = await openTrackingWorld(t, await engine.open(), [forge], {
      ...SLOW_POLL,
      startAfterDays: 0,
    });
    await world.pass(1.5 * DAY_MS);
    let seen = 0;
    for (let step = 0; step < 4; step++) {
      await world.pass(6 * HOUR_MS);
      seen += (await gaining(world)).length;
    }
    assert.ok(seen > 10, `${seen} gains`);
    const listed = async () => (await world.get(LIST)).body.data.length;
    const before = await listed();
    const { switches } = world.forge("GITLAB");
    switches.allowances = { core: { limit: 10, anonymous: 10, windowMs: DAY_MS } };
    await world.pass(1.5 * DAY_MS);
    assert.ok((await listed()) > 0.8 * before, `${await listed()} of ${before} are still listed`);
    switches.allowances = { core: { limit: 6, anonymous: 6, windowMs: DAY_MS } };
    // One by one, so that a few are read, and the windows go on.
    switches.lie = (_, { kind }) => (kind === "graphql" ? { visibility: "private" } : undefined);
    await world.pass(1.5 * DAY_MS);
    assert.equal(await listed(), before, "overdue, but not tried in vain");
  });

  test("ends when no worker has had its provider for a day: its growth leaves the rankings", async (t) => {
    const forges = [
      { kind: "gitlab", name: "GITLAB", repositories: 6 },
      { kind: "forgejo", name: "CODEBERG", repositories: 6 },
    ] as const;
    const world = await openTrackingWorld(t, await engine.open(), forges, {
      ...SLOW_POLL,
      startAfterDays: 0,
    });
    await world.pass(1.25 * DAY_MS);
    await world.stop();
    const { database, rankings } = world.modules;
    const others = { configured: ["GITLAB"] };
    assert.equal(await untrackOthers(database, { ...others, now: world.clock.now() }), 0, "it may be back");
    const before = await scheduled(world);
    const now = world.clock.now() + DAY_MS + HOUR_MS;
    assert.equal(await untrackOthers(database, { ...others, now }), 6);
    const after = await scheduled(world);
    for (const [i, one] of after.entries()) {
      const isGone = one.provider === "CODEBERG";
      assert.deepEqual({ ...one }, { ...before[i], ...(isGone && { refresh_interval: 0 }) });
    }
    await rankings.update();
    const grown = await database.read.selectFrom("rollups").select("provider").distinct().execute();
    assert.deepEqual(
      grown.map(({ provider }) => provider),
      ["GITLAB"],
    );
    assert.equal(await untrackOthers(database, { ...others, now }), 0, "it costs nothing afterwards");
    await world.addWorker();
    await makeAllDue(world);
    await world.pass(HOUR_MS);
    for (const { refresh_interval } of await scheduled(world)) assert.ok((refresh_interval ?? 0) > 0);
  });
});
