import assert from "node:assert/strict";
import { test } from "node:test";
import type { Provider, RepositoryRef } from "../../src/forges/contract.js";
import { UpstreamFailure } from "../../src/forges/failures.js";
import { WINDOW_HOURS, WINDOWS } from "../../src/growth/definitions.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { historyStateOf } from "../../src/repositories/history-state.js";
import { SNAPSHOT_SOURCES } from "../../src/repositories/record-rules.js";
import { basisOf } from "../../src/repositories/snapshots/readings.js";
import { readTracked } from "../../src/tracking/schedule.js";
import {
  backfillStep,
  DAILY_DAYS,
  pastSnapshots,
  recordHistoryPage,
} from "../../src/tracking/star-history.js";
import { onSqliteAndLong } from "../support/engines.js";
import { fc } from "../support/properties.js";
import { allSnapshots, snapshotsOf } from "../support/snapshots.js";
import { laneOf, openTrackingWorld, type TrackedForge } from "../support/tracking.js";

const FORGE: TrackedForge = { kind: "github", name: "GITHUB", repositories: 4, catalogue: "quiet" };
/** As outside of tests. */
const QUICK = { idleMs: 5_000 };
const DAYS_ON_PAGE = 210;
const TODAY = 20_000;

test("gains of past days add up: daily for 400 days, weekly before", () => {
  const gains = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 600 });
  fc.assert(
    fc.property(gains, fc.integer({ min: 0, max: 1_000 }), (gained, begin) => {
      const days = gained.map((gain, i) => ({ day: (TODAY - i - 1) * DAY_MS, gained: gain }));
      const total = begin + gained.reduce((sum, gain) => sum + gain, 0);
      const now = TODAY * DAY_MS;
      const { snapshots, before } = pastSnapshots({ days }, total, now);
      assert.equal(before, begin);
      for (const { capturedAt, stars, source } of snapshots) {
        assert.equal(source, "BACKFILLED");
        const later = days.filter(({ day }) => day >= capturedAt).reduce((sum, one) => sum + one.gained, 0);
        assert.equal(stars, total - later);
      }
      const times = snapshots.map(({ capturedAt }) => capturedAt);
      assert.deepEqual(
        times,
        times.toSorted((a, b) => a - b),
      );
      for (const [i, at] of times.entries()) {
        const distance = (times[i + 1] ?? now) - at;
        assert.ok(
          distance === DAY_MS || at === now || (now - at > DAILY_DAYS * DAY_MS && distance <= 7 * DAY_MS),
        );
      }
    }),
  );
});

onSqliteAndLong("The star history of a repository", (engine) => {
  test("is read within half a minute of the first start", async (t) => {
    const world = await openTrackingWorld(t, await engine.open(), [FORGE], QUICK);
    const { forge, pass } = world;
    await pass(30_000);
    assert.ok((forge("GITHUB").counters.byKind.history ?? 0) > 0);
  });

  test("that is not prepared yet is read when the forge said, and the others are read meanwhile", async (t) => {
    const world = await openTrackingWorld(t, await engine.open(), [FORGE], QUICK);
    const { modules, clock, opened } = world;
    await world.pass(30_000);
    await world.stop();
    await modules.database.write.updateTable("tracking").set({ history_due: clock.now() }).execute();
    const until = clock.now() + HOUR_MS;
    const requested: string[] = [];
    const history = async ({ providerId }: RepositoryRef) => {
      requested.push(providerId);
      throw new UpstreamFailure("malformed", "not ready yet", { until });
    };
    const provider: Provider = Object.assign(Object.create(opened[0]?.provider ?? null), { history });
    const lane = laneOf(world, provider);
    for (let step = 0; step < 4; step++) assert.equal((await backfillStep(lane)).waitMs, 0);
    assert.equal(new Set(requested).size, 4);
    const rows = await modules.database.read.selectFrom("tracking").select("history_due").execute();
    assert.ok(rows.every(({ history_due }) => history_due === until));
  });

  test("begins with the day of the creation, whatever the forge lists before it", async (t) => {
    const world = await openTrackingWorld(t, await engine.open(), [FORGE], QUICK);
    const { modules, clock, opened } = world;
    await world.pass(30_000);
    await world.stop();
    const createdAt = clock.now() - 20 * DAY_MS;
    await modules.database.write.updateTable("repositories").set({ created_at: createdAt }).execute();
    const today = Math.floor(clock.now() / DAY_MS);
    const days = Array.from({ length: 60 }, (_, i) => ({
      day: (today - i) * DAY_MS,
      gained: i < 20 ? 1 : 0,
    }));
    const history = async () => ({ days, next: "2" });
    const provider: Provider = Object.assign(Object.create(opened[0]?.provider ?? null), { history });
    for (const table of ["snapshots", "snapshot_blocks"] as const)
      await modules.database.write.deleteFrom(table).where("repository_id", "=", 1).execute();
    await modules.database.write.updateTable("tracking").set({ history_cursor: null }).execute();
    const [row] = await readTracked(modules.database.read, modules.database.dialect, { ids: [1] });
    assert.ok(row);
    const page = await recordHistoryPage(laneOf(world, provider), row);
    assert.deepEqual([page.kind, "hasMore" in page && page.hasMore], ["recorded", false]);
    const [first] = await snapshotsOf(modules.database, 1);
    assert.equal(first?.capturedAt, createdAt, "nothing before it existed, and then the stars without a day");
  });

  test("is added before our first snapshot, page by page, also across a restart", async (t) => {
    const world = await openTrackingWorld(t, await engine.open(), [FORGE]);
    const { modules, forge, clock, pass, restart } = world;
    const began = clock.now();
    await pass(90 * 60_000);
    await restart();
    await pass(5 * HOUR_MS);
    const repositories = await modules.database.read.selectFrom("repositories").selectAll().execute();
    assert.equal(repositories.length, 4);
    let longest = 0;
    for (const { id, provider_id, discovered_at } of repositories) {
      assert.ok(discovered_at >= began, "it was discovered when it was discovered");
      const snapshots = await snapshotsOf(modules.database, id);
      const past = snapshots.filter(({ source }) => source === "BACKFILLED");
      const own = snapshots.find(({ source }) => source === "OBSERVED")?.capturedAt ?? 0;
      longest = Math.max(longest, past.length);
      const catalogue = forge("GITHUB").catalogue;
      const first = snapshots.find(({ capturedAt }) => capturedAt === own);
      const last = past.at(-1);
      assert.deepEqual(
        [last?.capturedAt, last?.stars],
        [own - 1, first?.stars],
        "it ends with the count that it is computed from",
      );
      for (const { capturedAt, stars } of past) {
        assert.ok(capturedAt < own);
        const truth = catalogue.get(Number(provider_id), capturedAt)?.stars ?? 0;
        // Stars that were withdrawn later are missing.
        assert.ok(Math.abs(stars - truth) <= 0.26 * truth + 5, `${stars} for ${truth}`);
      }
    }
    assert.ok(longest > DAYS_ON_PAGE, `${longest} are no more than a page`);
    assert.deepEqual(forge("GITHUB").violations, []);
  });

  test("gives growth in all windows within a minute, and gives way to our own counts", async (t) => {
    const world = await openTrackingWorld(t, await engine.open(), [FORGE], QUICK);
    const { modules, pass } = world;
    const bases = async () => {
      const rows = await modules.database.read.selectFrom("rollups").selectAll().execute();
      return WINDOWS.map((window) => {
        const own = rows.filter((row) => row.window_hours === WINDOW_HOURS[window]);
        return new Set(own.map((row) => basisOf(SNAPSHOT_SOURCES[row.from_source] ?? "OBSERVED")));
      });
    };
    await pass(60_000);
    await modules.rankings.update();
    assert.deepEqual(await bases(), [new Set(["RETAINED"]), new Set(["RETAINED"]), new Set(["RETAINED"])]);
    await pass(30 * HOUR_MS);
    await modules.rankings.update();
    assert.deepEqual(await bases(), [new Set(["TOTAL"]), new Set(["RETAINED"]), new Set(["RETAINED"])]);
  });

  test("read long after the first count ends with the newest one, and counts part of its day", async (t) => {
    const world = await openTrackingWorld(t, await engine.open(), [{ ...FORGE, hasHistory: false }]);
    const { modules, clock, pass, stop, opened } = world;
    await pass(30_000);
    await stop();
    const { read, write } = modules.database;
    const { id } = await read.selectFrom("repositories").select("id").executeTakeFirstOrThrow();
    const began = Math.ceil(clock.now() / DAY_MS) * DAY_MS;
    clock.advance(began + 12 * HOUR_MS - clock.now());
    // A quarter of the day so far had passed at the last count.
    const [countedAt, stars] = [began + 3 * HOUR_MS, 1_000];
    await write
      .updateTable("repositories")
      .set({ counted_at: countedAt, stars })
      .where("id", "=", id)
      .execute();
    const days = [1, 2, 3, 4].map((ago) => ({ day: began - ago * DAY_MS, gained: 10 }));
    const history = async () => ({ days: [{ day: began, gained: 40 }, ...days], next: null });
    const provider: Provider = Object.assign(Object.create(opened[0]?.provider ?? null), { history });
    const tracked = async () =>
      (await readTracked(read, modules.database.dialect, { ids: [id] }))[0] ?? assert.fail();
    assert.deepEqual(await recordHistoryPage(laneOf(world, provider), await tracked()), {
      kind: "recorded",
      snapshots: 6,
      hasMore: false,
    });
    const past = (await snapshotsOf(modules.database, id)).filter(({ source }) => source === "BACKFILLED");
    const { created_at } = await read
      .selectFrom("repositories")
      .select("created_at")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    assert.deepEqual(
      past.map(({ capturedAt, stars: held }) => [capturedAt, held]),
      [
        // The stars without a day.
        [created_at, 950],
        [began - 3 * DAY_MS - 1, 960],
        [began - 2 * DAY_MS - 1, 970],
        [began - DAY_MS - 1, 980],
        [began - 1, 990],
        [countedAt - 1, 1_000],
      ],
    );
    assert.equal((await tracked()).historyDue, null, "it is complete");
  });

  test("read by two lanes is recorded once, and never goes back", async (t) => {
    const world = await openTrackingWorld(t, await engine.open(), [{ ...FORGE, hasHistory: false }]);
    const { modules, clock, pass, stop, opened } = world;
    await pass(30_000);
    await stop();
    const { read, dialect } = modules.database;
    const { id } = await read.selectFrom("repositories").select("id").executeTakeFirstOrThrow();
    const day = Math.floor(clock.now() / DAY_MS) * DAY_MS - DAY_MS;
    const history = async () => ({ days: [{ day, gained: 1 }], next: "older" });
    const provider: Provider = Object.assign(Object.create(opened[0]?.provider ?? null), { history });
    const lane = laneOf(world, provider);
    const [asked] = await readTracked(read, dialect, { ids: [id] });
    assert.ok(asked);
    assert.equal((await recordHistoryPage(lane, asked)).kind, "recorded");
    const after = await readTracked(read, dialect, { ids: [id] });
    assert.notEqual(after[0]?.historyCursor, null);
    assert.equal((await recordHistoryPage(lane, asked)).kind, "taken");
    assert.deepEqual(await readTracked(read, dialect, { ids: [id] }), after);
  });

  test("that a forge refuses is tried again in an hour, six, a day and a week; all others are read", async (t) => {
    const world = await openTrackingWorld(t, await engine.open(), [
      { ...FORGE, repositories: 12, hasHistory: false },
    ]);
    const { modules, clock, opened } = world;
    const { read, write } = modules.database;
    await world.pass(30_000);
    await world.stop();
    await write.updateTable("tracking").set({ history_cursor: null, history_due: 0 }).execute();
    const refused = new Map<string, number[]>();
    const whole = new Set<string>();
    const kinds = ["refused", "unreachable", "gone", "blocked", "malformed", "private"] as const;
    const history = async ({ providerId }: RepositoryRef) => {
      const kind = kinds[Number(providerId) % (2 * kinds.length)];
      if (kind === undefined) {
        whole.add(providerId);
        return { days: [], next: null };
      }
      refused.set(providerId, [...(refused.get(providerId) ?? []), clock.now()]);
      throw new UpstreamFailure(kind, "not this one");
    };
    const provider: Provider = Object.assign(Object.create(opened[0]?.provider ?? null), { history });
    const lane = laneOf(world, provider);
    // All of one owner: their failures are never those of the forge.
    await write.updateTable("repositories").set({ owner: "acme" }).execute();
    const began = clock.now();
    for (let step = 0; step < 12; step++) assert.equal((await backfillStep(lane)).waitMs, 0);
    assert.deepEqual([refused.size, whole.size], [6, 6]);
    const rows = await readTracked(read, modules.database.dialect, {
      provider: "GITHUB",
      providerIds: [...refused.keys()],
    });
    const states = rows.map((row) => historyStateOf(row.historyCursor, row.historyDue));
    assert.deepEqual(states.map(({ state, why }) => `${state} ${why ?? ""}`).sort(), [
      "NOT_OFFERED ",
      ...Array(3).fill("REFUSED FORBIDDEN"),
      "REFUSED UNREACHABLE",
      "REFUSED UNUSABLE",
    ]);
    for (const { state, nextAt } of states)
      assert.equal(nextAt, state === "REFUSED" ? began + HOUR_MS : null);
    for (let i = 0; i < 4; i++) {
      const { due } = await read
        .selectFrom("tracking")
        .select(({ fn }) => fn.min("history_due").as("due"))
        .executeTakeFirstOrThrow();
      clock.advance(Number(due) - clock.now());
      for (let step = 0; step < 6; step++) await backfillStep(lane);
    }
    const hours = [0, 1, 7, 31, 31 + 7 * 24];
    for (const times of refused.values())
      assert.deepEqual(
        times.map((at) => Math.round((at - began) / HOUR_MS)),
        hours,
      );
  });

  test("of five owners in a row that fails is a failure of the forge, until one is read", async (t) => {
    const world = await openTrackingWorld(t, await engine.open(), [{ ...FORGE, repositories: 12 }]);
    const { modules, opened } = world;
    await world.pass(30_000);
    await world.stop();
    let fails = true;
    const history = async () => {
      if (fails) throw new UpstreamFailure("unreachable", "no response");
      return { days: [], next: null };
    };
    const provider: Provider = Object.assign(Object.create(opened[0]?.provider ?? null), { history });
    const lane = laneOf(world, provider);
    const { read, write } = modules.database;
    const rows = await read.selectFrom("repositories").select("id").execute();
    for (const { id } of rows)
      await write
        .updateTable("repositories")
        .set({ owner: `o${id}` })
        .where("id", "=", id)
        .execute();
    await write.updateTable("tracking").set({ history_cursor: null, history_due: 0 }).execute();
    for (let step = 0; step < 4; step++) await backfillStep(lane);
    await assert.rejects(backfillStep(lane), { kind: "unreachable" });
    await assert.rejects(backfillStep(lane), { kind: "unreachable" });
    fails = false;
    await backfillStep(lane);
    fails = true;
    await backfillStep(lane);
  });

  test("that a forge does not have yet costs few requests, and is read once there is one", async (t) => {
    const world = await openTrackingWorld(t, await engine.open(), [FORGE]);
    const { forge, pass, worker, modules } = world;
    forge("GITHUB").switches.hasHistory = false;
    await pass(8 * HOUR_MS);
    assert.equal(worker.reporters.get("GITHUB")?.report.backfilled, 0);
    // By id and by name: now, in an hour, and in seven.
    assert.equal(forge("GITHUB").counters.byKind.history, 4 * 3 * 2);
    forge("GITHUB").switches.hasHistory = true;
    await world.restart();
    await pass(26 * HOUR_MS);
    const sources = (await allSnapshots(modules.database)).map(({ source }) => source);
    assert.ok(sources.includes("BACKFILLED"));
    assert.deepEqual(forge("GITHUB").violations, []);
  });
});
