import assert from "node:assert/strict";
import { test } from "node:test";
import { HOUR_MS } from "../../src/clock.js";
import { type Database, openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/log.js";
import { buildModules } from "../../src/modules.js";
import { type Engine, onBothEngines } from "../support/engines.js";
import { createTrackingWorld, type TrackedForge, type TrackingOptions } from "../support/tracking.js";
import { makeAllDue } from "./truth.js";

/** Reports what is left with each response, and reads one repository per request. */
const GITLAB: TrackedForge = { kind: "gitlab", name: "GITLAB", repositories: 60, catalogue: "quiet" };

/** Another connection to the same database, as another process has. */
function openAgain(engine: Engine): Promise<Database> {
  return openDatabase({ ...engine.location(), pool: 4, log: createLog("silent") });
}

onBothEngines("Two workers", (engine) => {
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
    process.stdout.write(`# ${JSON.stringify(forge.counters)} ${forge.violations.length}\n`);
    assert.equal(forge.counters.byStatus[429] ?? 0, 0, "the forge refused nothing");
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
    process.stdout.write(`# ${JSON.stringify(forge.counters)} ${forge.violations.length}\n`);
    assert.ok(forge.violations.length > 0);
  });
});
