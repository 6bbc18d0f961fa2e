import assert from "node:assert/strict";
import { test } from "node:test";
import { type Database, openDatabase } from "../../src/database/database.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { type Engine, onSqliteAndLong } from "../support/engines.js";
import { createTrackingWorld, type TrackedForge, type TrackingOptions } from "../support/tracking.js";
import { makeAllDue, makeRefreshesDue } from "./truth.js";

/** Reports what is left with each response, and reads one repository per request. */
const GITLAB: TrackedForge = { kind: "gitlab", name: "GITLAB", repositories: 60, catalogue: "quiet" };

/** Another connection to the same database, as another process has. */
function openAgain(engine: Engine): Promise<Database> {
  return openDatabase({ ...engine.location(), pool: 4, log: createLog("silent") });
}

onSqliteAndLong("Two workers", (engine) => {
  /** Two workers, each over its own connection. */
  async function start(tracked: TrackedForge, options: TrackingOptions = {}) {
    const world = await createTrackingWorld(await engine.open(), [tracked], options);
    const { clock } = world;
    const second = await openAgain(engine);
    await world.addWorker(buildModules(second, { clock, log: createLog("silent") }));
    return { world, end: () => world.close().then(() => second.close()) };
  }

  const limit = { limit: 20, anonymous: 0, windowMs: HOUR_MS };

  test("with one token stay within its quota", async (t) => {
    const { world, end } = await start(GITLAB);
    t.after(end);
    const forge = world.forge(GITLAB.name);
    forge.switches.gitlabGraphql = { offered: "none", lacks: [] };
    forge.switches.allowances = { core: limit };
    for (let half = 0; half < 2; half++) {
      await makeAllDue(world);
      await world.pass(8 * HOUR_MS);
    }
    assert.deepEqual(forge.violations, []);
    assert.equal(forge.counters.byStatus[429] ?? 0, 0, "the forge refused nothing");
  });

  test("keep one pace, of which each alone would take all", async (t) => {
    const sent: number[] = [];
    for (const sharesQuota of [true, false]) {
      // One request a second, and ten at the beginning.
      const forge: TrackedForge = { kind: "forgejo", name: "WORK", repositories: 300, catalogue: "quiet" };
      const { world, end } = await start(forge, { sharesQuota, idleMs: 1_000 });
      t.after(end);
      // All repositories are found, and ten requests may be sent at once again.
      await world.pass(60_000);
      await makeRefreshesDue(world);
      world.forge("WORK").counters.reset();
      await world.pass(120_000);
      sent.push(world.forge("WORK").counters.requests);
    }
    const [shared = 0, alone = 0] = sent;
    assert.ok(shared >= 100 && shared <= 131, `${shared} requests in two minutes`);
    assert.ok(alone >= 200, `${alone} requests of workers that know nothing of each other`);
  });

  test("that know nothing of each other exceed it, so the test can fail", async (t) => {
    const { world, end } = await start(GITLAB, { sharesQuota: false });
    t.after(end);
    const forge = world.forge(GITLAB.name);
    forge.switches.gitlabGraphql = { offered: "none", lacks: [] };
    forge.switches.allowances = { core: limit };
    for (let half = 0; half < 2; half++) {
      await makeAllDue(world);
      await world.pass(8 * HOUR_MS);
    }
    assert.ok(forge.violations.length > 0);
  });
});
