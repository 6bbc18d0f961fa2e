import assert from "node:assert/strict";
import { test } from "node:test";
import type { Provider } from "../../src/forges/contract.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openTrackingWorld, type TrackedForge } from "../support/tracking.js";
import { checkTruth, makeRefreshesDue } from "./truth.js";

const FORGE: TrackedForge = { kind: "gitlab", name: "GITLAB", repositories: 30, catalogue: "quiet" };

onSqliteAndLong("A worker", (engine) => {
  test("continues after an unexpected error, without losing or doubling anything", async (t) => {
    let faults = 2;
    const wrap = (provider: Provider): Provider => ({
      ...provider,
      refreshMany: (refs, signal) => {
        if (faults-- > 0) throw new Error("a fault of our own");
        return provider.refreshMany(refs, signal);
      },
    });
    const world = await openTrackingWorld(t, await engine.open(), [{ ...FORGE, wrap }], {
      idleMs: 60_000,
    });
    await world.pass(HOUR_MS);
    await makeRefreshesDue(world);
    const from = world.clock.now();
    // Shorter than the shortest interval, and over before the next list check.
    await world.pass(HOUR_MS / 12);
    assert.equal(await checkTruth(world, { from, to: world.clock.now() + 1 }), 30);
    assert.equal(world.logged.filter((line) => line.includes("a fault of our own")).length, 2);
  });

  test("that is stopped ends soon, even while the forge is silent, and leaves everything due", async (t) => {
    const world = await openTrackingWorld(t, await engine.open(), [FORGE]);
    await world.pass(HOUR_MS);
    await world.stop();
    await makeRefreshesDue(world);
    const { forge, clock, modules } = world;
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
    const due = await modules.database.read
      .selectFrom("repositories")
      .select("id")
      .where("next_refresh_at", "<=", clock.now())
      .execute();
    assert.equal(due.length, 30);
    await starting;
  });
});
