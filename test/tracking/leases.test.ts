import assert from "node:assert/strict";
import { test } from "node:test";
import type { Provider } from "../../src/forges/contract.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { claimDue } from "../../src/tracking/claims.js";
import { TrackQueue } from "../../src/tracking/requests/queue.js";
import { type Engine, onBothEngines } from "../support/engines.js";
import { ManualClock } from "../support/manual-clock.js";
import { createTrackingWorld, type TrackedForge } from "../support/tracking.js";
import { checkTruth, makeAllDue, makeRefreshesDue } from "./truth.js";

const FORGE: TrackedForge = { kind: "gitlab", name: "GITLAB", repositories: 30, catalogue: "quiet" };
/** Longer than a lease. */
const LATE_MS = 15 * 60_000;

type SlowCall = "refreshMany" | "discover" | "recheck";

/** A worker whose next call of a kind takes longer than its lease, and another one. */
async function start(engine: Engine, call: SlowCall) {
  const slow = { isNext: false, was: 0 };
  let sleep: (ms: number) => Promise<void> = async () => {};
  const wrap = (provider: Provider): Provider => {
    const late = async <T>(result: Promise<T>): Promise<T> => {
      const isSlow = slow.isNext;
      slow.isNext = false;
      const found = await result;
      if (isSlow) {
        slow.was++;
        await sleep(LATE_MS);
      }
      return found;
    };
    const calls: Pick<Provider, SlowCall> = {
      refreshMany: (...input) => late(provider.refreshMany(...input)),
      discover: (...input) => late(provider.discover(...input)),
      recheck: (...input) => late(provider.recheck(...input)),
    };
    return { ...provider, [call]: calls[call] };
  };
  const world = await createTrackingWorld(await engine.open(), [{ ...FORGE, wrap }]);
  const ending = new AbortController();
  sleep = (ms) => world.clock.sleep(ms, ending.signal);
  const end = () => {
    ending.abort();
    return world.close();
  };
  return { world, slow, end };
}

onBothEngines("A worker that takes longer than its lease", (engine) => {
  const leased = async ({ modules }: { modules: { database: Awaited<ReturnType<Engine["open"]>> } }) =>
    (
      await modules.database.read
        .selectFrom("tracking")
        .select("repository_id")
        .where("leased_until", ">", 0)
        .execute()
    ).length;

  test("records no refresh that another one has done since", async (t) => {
    const { world, slow, end } = await start(engine, "refreshMany");
    t.after(end);
    await world.pass(HOUR_MS);
    await world.addWorker();
    const from = world.clock.now();
    await makeRefreshesDue(world);
    slow.isNext = true;
    await world.pass(HOUR_MS);
    assert.equal(slow.was, 1);
    assert.equal(
      await checkTruth(world, { from: from - 1, to: world.clock.now() + 1 }),
      30,
      "one snapshot each",
    );
    assert.equal(await leased(world), 0);
  });

  test("does not move a walk that another one has gone on with", async (t) => {
    const { world, slow, end } = await start(engine, "discover");
    t.after(end);
    await world.pass(HOUR_MS);
    const walk = () => world.modules.database.read.selectFrom("walks").selectAll().executeTakeFirstOrThrow();
    const first = await walk();
    await world.addWorker();
    await makeAllDue(world);
    slow.isNext = true;
    await world.pass(2 * HOUR_MS);
    assert.equal(slow.was, 1);
    const second = await walk();
    assert.deepEqual([second.walks, second.pages, second.cursor], [first.walks + 1, first.pages, null]);
    assert.equal(second.leased_until, 0);
  });

  test("changes nothing of a request or a list that another one works off", async () => {
    const database = await engine.open();
    const clock = new ManualClock(Date.UTC(2026, 0, 10));
    const { trackRequests } = buildModules(database, { clock, log: createLog("silent") });
    const { dialect } = database;
    await trackRequests.queue([{ provider: "GITLAB", fullName: "o/r" }], null);
    await trackRequests.lists.addReadme({ provider: "GITLAB", fullName: "o/list" });
    const queue = new TrackQueue(database, "GITLAB");
    const claim = async () => {
      const times = { now: clock.now(), leasedUntil: clock.now() + 600_000 };
      const request = await queue.claim({ ...times, mayReadHistory: true });
      const list = await trackRequests.lists.claim("GITLAB", times);
      return { request: request ?? assert.fail(), list: list ?? assert.fail() };
    };
    const stored = async () => [
      await database.read.selectFrom("track_requests").selectAll().execute(),
      await database.read.selectFrom("track_lists").selectAll().execute(),
    ];
    const late = await claim();
    clock.advance(600_000);
    const next = await claim();
    const before = await stored();
    await queue.postpone(late.request, 0);
    await queue.readPage(late.request, { isLast: false });
    await queue.fail(late.request, "gone", clock.now());
    await queue.finish(late.request, clock.now());
    await trackRequests.lists.postpone(late.list, 0);
    await trackRequests.lists.fail(late.list, "gone");
    const linked = [{ provider: "GITLAB", fullName: "linked/repository" }];
    assert.equal(await trackRequests.lists.record(late.list, linked), 0);
    assert.deepEqual(await stored(), before);
    const isClaimed = (request: typeof late.request) =>
      database.write.transaction().execute((tx) => TrackQueue.isClaimed(tx, dialect, request));
    assert.deepEqual([await isClaimed(late.request), await isClaimed(next.request)], [false, true]);
    await queue.fail(next.request, "gone", clock.now());
    assert.equal(await trackRequests.lists.record(next.list, linked), 1);
    assert.equal(await isClaimed(next.request), false);
  });

  test("ends no second reading that another one has claimed", async (t) => {
    const { world, slow, end } = await start(engine, "recheck");
    t.after(end);
    await world.pass(HOUR_MS);
    const { database } = world.modules;
    const due = world.clock.now();
    const { repository_id: id } = await database.read
      .selectFrom("tracking")
      .select("repository_id")
      .executeTakeFirstOrThrow();
    await database.write
      .updateTable("tracking")
      .set({ recheck_at: due })
      .where("repository_id", "=", id)
      .execute();
    slow.isNext = true;
    // The lane looks every four minutes.
    await world.pass(5 * 60_000);
    assert.equal(slow.was, 1);
    world.clock.advance(10 * 60_000);
    const now = world.clock.now();
    const request = { dueFor: "recheck", now, leasedUntil: now + HOUR_MS, limit: 1 } as const;
    const [other] = await claimDue(database, "GITLAB", request);
    assert.equal(other?.repositoryId, id);
    await world.pass(10 * 60_000);
    const row = await database.read
      .selectFrom("tracking")
      .select(["recheck_at", "leased_until"])
      .where("repository_id", "=", id)
      .executeTakeFirstOrThrow();
    assert.deepEqual({ ...row }, { recheck_at: due, leased_until: now + HOUR_MS });
  });
});
