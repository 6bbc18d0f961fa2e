import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../src/database/database.js";
import type { Provider, RepositoryRef } from "../../src/forges/contract.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { claimDue } from "../../src/tracking/claims.js";
import { onSqliteAndLong } from "../support/engines.js";
import { createTrackingWorld, type TrackedForge, type TrackingWorld } from "../support/tracking.js";
import { checkTruth, makeRefreshesDue } from "./truth.js";

const FORGE: TrackedForge = { kind: "gitlab", name: "GITLAB", repositories: 30, catalogue: "quiet" };

async function taken({ modules, clock }: TrackingWorld): Promise<number> {
  const row = await modules.database.read
    .selectFrom("tracking")
    .select((one) => one.fn.countAll().as("total"))
    .where("leased_until", ">", clock.now())
    .executeTakeFirst();
  return Number(row?.total);
}

/** Wraps a provider and counts concurrent requests per repository. */
function watched() {
  const under = new Map<string, number>();
  const asked = new Map<string, number>();
  let peak = 0;
  const wrap = (provider: Provider): Provider => ({
    ...provider,
    async refreshMany(refs: readonly RepositoryRef[], signal: AbortSignal) {
      for (const { providerId } of refs) {
        under.set(providerId, (under.get(providerId) ?? 0) + 1);
        asked.set(providerId, (asked.get(providerId) ?? 0) + 1);
        peak = Math.max(peak, under.get(providerId) ?? 0);
      }
      try {
        return await provider.refreshMany(refs, signal);
      } finally {
        for (const { providerId } of refs) under.set(providerId, (under.get(providerId) ?? 1) - 1);
      }
    },
  });
  return { wrap, asked, peak: () => peak };
}

onSqliteAndLong("A worker", (engine) => {
  test("that is killed leaves its work to the next one, which does it once, after the lease", async (t) => {
    const world = await createTrackingWorld(await engine.open(), [FORGE]);
    t.after(() => world.close());
    await world.pass(HOUR_MS);
    await world.stop();
    await makeRefreshesDue(world);
    const { clock, modules, forge } = world;
    const from = clock.now();
    const claims = await claimDue(modules.database, "GITLAB", {
      now: from,
      dueBefore: from,
      leasedUntil: from + 600_000,
      limit: 20,
    });
    assert.equal(claims.length, 20);
    forge("GITLAB").counters.reset();
    await world.addWorker();
    await world.pass(300_000);
    assert.equal(forge("GITLAB").counters.refreshed, 10, "what another one holds is not touched");
    await world.pass(HOUR_MS);
    assert.equal(forge("GITLAB").counters.refreshed, 30);
    assert.equal(await checkTruth(world, { from: from - 1, to: clock.now() + 1 }), 30, "one snapshot each");
    assert.equal(await taken(world), 0);
  });

  test("continues after an unexpected error, without losing or doubling anything", async (t) => {
    let faults = 2;
    const wrap = (provider: Provider): Provider => ({
      ...provider,
      refreshMany: (refs, signal) => {
        if (faults-- > 0) throw new Error("a fault of our own");
        return provider.refreshMany(refs, signal);
      },
    });
    const world = await createTrackingWorld(await engine.open(), [{ ...FORGE, wrap }], {
      idleMs: 60_000,
    });
    t.after(() => world.close());
    await world.pass(HOUR_MS);
    await makeRefreshesDue(world);
    const from = world.clock.now();
    // Shorter than the shortest interval, and over before the next list check.
    await world.pass(HOUR_MS / 12);
    assert.equal(await checkTruth(world, { from: from - 1, to: world.clock.now() + 1 }), 30);
    assert.equal(await taken(world), 0);
    assert.equal(world.logged.filter((line) => line.includes("a fault of our own")).length, 2);
  });

  test("never requests repositories that another worker on the same database has claimed", async (t) => {
    const { wrap, asked, peak } = watched();
    const world = await createTrackingWorld(await engine.open(), [{ ...FORGE, wrap }]);
    t.after(() => world.close());
    await world.pass(HOUR_MS);
    await makeRefreshesDue(world);
    asked.clear();
    const second = await openDatabase({ ...engine.location(), pool: 4, log: createLog("silent") });
    await world.addWorker(buildModules(second, { clock: world.clock, log: createLog("silent") }));
    await world.pass(HOUR_MS / 2);
    assert.equal(peak(), 1);
    assert.deepEqual(new Set(asked.values()), new Set([1]));
    assert.equal(asked.size, 30);
    await world.stop();
    await second.close();
  });

  test("that is stopped releases its claims soon, even while the forge is silent", async (t) => {
    const world = await createTrackingWorld(await engine.open(), [FORGE]);
    t.after(() => world.close());
    await world.pass(HOUR_MS);
    await world.stop();
    await makeRefreshesDue(world);
    const { forge } = world;
    let waiting = 0;
    forge("GITLAB").switches.fault = () => {
      waiting++;
      return "stall";
    };
    // No timeout can end the silent requests: stopping has to. Mocked first: a real timer would outlive the test.
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const starting = world.addWorker().catch(() => {});
    // Writers pause for some milliseconds after a long transaction, so time passes as it does outside.
    const turnUntil = async (isDone: () => boolean) => {
      for (let last = performance.now(); !isDone(); ) {
        await new Promise((resolve) => setImmediate(resolve));
        const passed = Math.floor(performance.now() - last);
        if (passed > 0) t.mock.timers.tick(passed);
        last += passed;
      }
    };
    await turnUntil(() => waiting > 0);
    let isStopped = false;
    const stopping = world.stop().then(() => {
      isStopped = true;
    });
    await turnUntil(() => isStopped);
    await stopping;
    t.mock.timers.reset();
    assert.equal(await taken(world), 0);
    await starting;
  });
});
