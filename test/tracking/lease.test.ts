import assert from "node:assert/strict";
import { test } from "node:test";
import { type Database, openDatabase } from "../../src/database/database.js";
import type { Provider } from "../../src/forges/contract.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { LeaseLost, WorkerLease } from "../../src/tracking/lease.js";
import { type Engine, onBothEngines } from "../support/engines.js";
import { ManualClock } from "../support/manual-clock.js";
import { createTrackingWorld, onClock, type TrackedForge, type TrackingWorld } from "../support/tracking.js";
import { checkTruth, makeRefreshesDue } from "./truth.js";

const SECOND = 1_000;
/** A holder that renews no longer is replaced within this time. */
const REPLACED_MS = 30 * SECOND;
const FORGE: TrackedForge = { kind: "gitlab", name: "GITLAB", repositories: 30, catalogue: "quiet" };
const log = createLog("silent");

/** Another connection to the same database, as another process has. */
async function connect(engine: Engine, clock: ManualClock): Promise<Database> {
  return onClock(await openDatabase({ ...engine.location(), pool: 4, log }), clock);
}

const NO_RENEWALS = new AbortController().signal;

/** A process that is active or stands by. Once it is killed nothing that it waits for comes any more. */
function begin(database: Database, clock: ManualClock) {
  const state = { isActive: false, isKilled: false };
  const stopping = new AbortController();
  const ownClock = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sleep: async (ms: number, signal?: AbortSignal) => {
      await clock.sleep(ms, signal);
      if (state.isKilled && !stopping.signal.aborted) await new Promise(() => {});
    },
  };
  const lease = new WorkerLease(database, { clock: ownClock, log });
  const ended = lease.whileHeld(stopping.signal, async (signal) => {
    state.isActive = true;
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    state.isActive = false;
  });
  const stop = () => {
    stopping.abort();
    return ended;
  };
  return { state, lease, stop };
}

onBothEngines("The lease of the active worker", (engine) => {
  async function start() {
    const clock = new ManualClock(Date.UTC(2026, 0, 10));
    const alive: { isKilled: boolean }[] = [];
    const databases = [onClock(await engine.open(), clock), await connect(engine, clock)] as const;
    /** Lets time pass until something has happened. Returns how long that took. */
    const until = async (hasHappened: () => boolean, mostMs: number) => {
      const began = clock.now();
      for (;;) {
        // Each one that is alive sleeps until it renews or looks again.
        await clock.whenSleeping(() => alive.filter(({ isKilled }) => !isKilled).length);
        if (hasHappened() || clock.now() - began >= mostMs) return clock.now() - began;
        clock.advance(SECOND);
      }
    };
    const beginOn = (i: 0 | 1) => {
      const one = begin(databases[i], clock);
      alive.push(one.state);
      return one;
    };
    return { clock, databases, until, beginOn };
  }

  test("is held by one process; another one takes over within 30 s after it was killed", async (t) => {
    const { databases, until, beginOn } = await start();
    const one = beginOn(0);
    await until(() => one.state.isActive, 5 * SECOND);
    const other = beginOn(1);
    t.after(async () => {
      await other.stop();
      await databases[1].close();
    });
    await until(() => other.state.isActive, 10 * 60 * SECOND);
    assert.deepEqual([one.state.isActive, other.state.isActive], [true, false], "it is renewed");
    one.state.isKilled = true;
    const tookMs = await until(() => other.state.isActive, REPLACED_MS);
    assert.ok(other.state.isActive && tookMs > 10 * SECOND, `${tookMs} ms`);
    await assert.rejects(
      one.lease.write(async () => {}),
      LeaseLost,
    );
  });

  test("is released at the end, so that another process takes over within seconds", async (t) => {
    const { databases, until, beginOn } = await start();
    const one = beginOn(0);
    await until(() => one.state.isActive, 5 * SECOND);
    const other = beginOn(1);
    t.after(async () => {
      await other.stop();
      await databases[1].close();
    });
    one.state.isKilled = true;
    await one.stop();
    assert.ok((await until(() => other.state.isActive, REPLACED_MS)) <= 6 * SECOND);
  });

  test("that was lost during a pause ends the work, and keeps it from writing before", async (t) => {
    const { clock, databases } = await start();
    t.after(() => databases[1].close());
    const [one, other] = databases.map((database) => new WorkerLease(database, { clock, log }));
    assert.ok(one && other);
    const note = (text: string) => (tx: Parameters<Parameters<WorkerLease["write"]>[0]>[0]) =>
      tx.insertInto("marks").values({ name: text, value: text }).execute();
    assert.deepEqual([await one.take(), await other.take()], [true, false]);
    clock.advance(19 * SECOND);
    assert.equal(await other.take(), false);
    await one.write(note("before"));
    clock.advance(2 * SECOND);
    await one.write(note("late, but nobody has taken it"));
    assert.deepEqual([await other.take(), await one.take()], [true, false]);
    await assert.rejects(one.write(note("lost")), LeaseLost);
    await other.write(note("after"));
    await one.release();
    assert.equal(await one.take(), false, "it releases no lease of another one");
    const marks = await databases[1].read.selectFrom("marks").select("name").execute();
    assert.deepEqual(
      marks
        .map(({ name }) => name)
        .filter((name) => name !== "clock")
        .sort(),
      ["after", "before", "late, but nobody has taken it"],
    );
    assert.equal(await other.hold(NO_RENEWALS, async () => {}), false);
    assert.equal(await one.take(), true);
  });

  test("with an end far in the future, from a clock that was wrong, can be taken", async (t) => {
    const { clock, databases } = await start();
    t.after(() => databases[1].close());
    const [one, other] = databases.map((database) => new WorkerLease(database, { clock, log }));
    assert.equal(await one?.take(), true);
    clock.set(clock.now() - HOUR_MS);
    assert.equal(await other?.take(), true);
  });
});

type SlowCall = "refreshMany" | "discover";

onBothEngines("A worker whose lease is taken in the middle of its work", (engine) => {
  /** A world whose next call of a kind ends after `resume` is called, and a second process on its database. */
  async function start(call: SlowCall) {
    const paused = Promise.withResolvers<void>();
    const resumed = Promise.withResolvers<void>();
    const state = { isNext: false };
    const wrap = (provider: Provider): Provider => {
      const slow = async (...input: never[]) => {
        const isSlow = state.isNext;
        state.isNext = false;
        const found = await (provider[call] as (...input: never[]) => Promise<never>)(...input);
        if (!isSlow) return found;
        paused.resolve();
        await resumed.promise;
        return found;
      };
      return Object.assign(Object.create(provider), { [call]: slow });
    };
    const opened = await engine.open();
    const world = await createTrackingWorld(opened, [{ ...FORGE, wrap }]);
    await world.pass(HOUR_MS);
    const { clock } = world;
    const database = await connect(engine, clock);
    const modules = buildModules(database, { clock, log });
    const lease = new WorkerLease(database, { clock, log });
    return {
      world,
      /** Pauses the worker in its next call; then the other process takes the lease and works for an hour. */
      async replace(): Promise<void> {
        state.isNext = true;
        void world.pass(HOUR_MS / 4).catch(() => {});
        await paused.promise;
        clock.advance(REPLACED_MS);
        // The lease of the world was taken by the clock of the real server.
        await opened.write.updateTable("worker_lease").set({ ends_at: clock.now() }).execute();
        assert.equal(await lease.take(), true);
      },
      modules,
      lease,
      resume: () => resumed.resolve(),
      async end() {
        resumed.resolve();
        await world.close();
        await database.close();
      },
    };
  }

  const stored = async ({ modules: { database } }: Pick<TrackingWorld, "modules">) => ({
    snapshots: await database.read.selectFrom("snapshots").selectAll().orderBy("repository_id").execute(),
    tracking: await database.read.selectFrom("tracking").selectAll().orderBy("repository_id").execute(),
    walks: await database.read.selectFrom("walks").selectAll().execute(),
  });

  for (const call of ["refreshMany", "discover"] as const)
    test(`records nothing of it, and the other one loses and doubles nothing: ${call}`, async (t) => {
      const { world, replace, resume, end, modules, lease } = await start(call);
      t.after(end);
      const { clock } = world;
      const { write } = world.modules.database;
      if (call === "discover") await write.updateTable("walks").set({ next_at: clock.now() }).execute();
      else await makeRefreshesDue(world);
      const from = clock.now();
      await replace();
      const before = await stored(world);
      resume();
      await world.stop();
      assert.deepEqual(await stored(world), before);
      await world.addWorker({ modules, lease });
      await world.pass(60 * SECOND);
      assert.equal(await checkTruth(world, { from, to: clock.now() + 1 }), 30, "one snapshot each");
    });
});
