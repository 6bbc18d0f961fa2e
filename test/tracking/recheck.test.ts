import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { type Engine, onSqliteAndLong } from "../support/engines.js";
import type { Forge } from "../support/forge/forge.js";
import { snapshotsOf } from "../support/snapshots.js";
import { openTrackingWorld, type TrackedForge, type TrackingWorld } from "../support/tracking.js";
import { makeRefreshesDue } from "./truth.js";

const MINUTE_MS = 60_000;
/** The request that refreshes, and the one that reads again. */
const FORGES = [
  { kind: "github", name: "GITHUB", refresh: "graphql", again: "repository-by-id" },
  { kind: "gitlab", name: "GITLAB", refresh: "graphql", again: "repository-by-id" },
  { kind: "forgejo", name: "CODEBERG", refresh: "repository-by-id", again: "repository" },
] as const;
const [GITHUB, GITLAB] = FORGES;

async function start(
  t: TestContext,
  engine: Engine,
  tracked: Pick<TrackedForge, "kind" | "name"> & Partial<TrackedForge>,
): Promise<{ world: TrackingWorld; forge: Forge }> {
  const world = await openTrackingWorld(
    t,
    await engine.open(),
    [{ repositories: 6, catalogue: "quiet", ...tracked }],
    { idleMs: 2 * MINUTE_MS },
  );
  await world.pass(10 * MINUTE_MS);
  await makeRefreshesDue(world);
  await world.pass(5 * MINUTE_MS);
  return { world, forge: world.forge(tracked.name) };
}

/** The repository with the most stars. */
async function largest({ modules }: TrackingWorld) {
  const { id, provider_id, stars } = await modules.database.read
    .selectFrom("repositories")
    .select(["id", "provider_id", "stars"])
    .orderBy("stars", "desc")
    .executeTakeFirstOrThrow();
  return { id, onForge: Number(provider_id), stars: stars ?? 0 };
}

async function scheduleOf({ modules }: TrackingWorld, id: number) {
  return modules.database.read
    .selectFrom("repositories")
    .select(["refresh_interval", "next_refresh_at"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
}

const starsOf = async ({ modules }: TrackingWorld, id: number) =>
  (await snapshotsOf(modules.database, id)).flatMap(({ stars, source }) =>
    source === "OBSERVED" ? [stars] : [],
  );
const agains = (forge: Forge, kind: string) => forge.counters.byKind[kind] ?? 0;

onSqliteAndLong("A reading whose counts have fallen doubtfully", (engine) => {
  for (const { kind, name, refresh, again } of engine.name === "sqlite" ? FORGES : [GITHUB]) {
    test(`is followed within minutes by one through another endpoint, and the schedule stays: ${kind}`, async (t) => {
      const { world, forge } = await start(t, engine, { kind, name });
      const { id, onForge, stars } = await largest(world);
      const known = (await starsOf(world, id)).length;
      forge.switches.lie = (truth, request) =>
        truth.id === onForge && request.kind === refresh ? { stars: 0 } : undefined;
      const before = agains(forge, again);
      await makeRefreshesDue(world);
      await world.pass(3 * MINUTE_MS);
      assert.deepEqual((await starsOf(world, id)).slice(known), [0], "recorded as any other reading");
      const planned = await scheduleOf(world, id);
      await world.pass(7 * MINUTE_MS);
      const [, second = 0, ...more] = (await starsOf(world, id)).slice(known);
      assert.ok(second >= stars, `${second} of ${stars} stars`);
      assert.deepEqual(more, []);
      assert.equal(agains(forge, again) - before, 1);
      assert.deepEqual(await scheduleOf(world, id), planned);
      const { doubted, rechecked } = world.worker.reporters.get(name)?.report ?? {};
      assert.deepEqual([doubted, rechecked], [1, 1]);
      assert.deepEqual(forge.violations, []);
    });
  }

  test("is confirmed by a second one at the same level, and not read a third time", async (t) => {
    const { world, forge } = await start(t, engine, GITHUB);
    const { id, onForge } = await largest(world);
    const known = (await starsOf(world, id)).length;
    forge.switches.lie = ({ id: one }) => (one === onForge ? { stars: 7 } : undefined);
    await makeRefreshesDue(world);
    await world.pass(HOUR_MS);
    assert.deepEqual((await starsOf(world, id)).slice(known, known + 2), [7, 7]);
    for (let i = 0; i < 2; i++) {
      await makeRefreshesDue(world);
      await world.pass((2 * HOUR_MS) / 3);
    }
    assert.equal(agains(forge, GITHUB.again), 1);
  });

  test("is not the count of the repository until as many readings agree as growth wants", async (t) => {
    for (const [part, needed] of [
      [0.5, 2],
      [0, 3],
    ] as const) {
      const { world, forge } = await start(t, engine, GITHUB);
      const { id, stars } = await largest(world);
      forge.switches.lie = (truth) => ({ stars: Math.floor(truth.stars * part) });
      const shown = async () => {
        const { stars: count } = await world.modules.catalog.get(id);
        const { body } = await world.get("/api/repos?sort=stars");
        assert.equal(body.data.find((one: { id: string }) => one.id === String(id)).stars, count);
        return count ?? 0;
      };
      const counts = async () => (await starsOf(world, id)).filter((count) => count < 0.75 * stars).length;
      while ((await counts()) < needed) {
        await makeRefreshesDue(world);
        await world.pass(3 * MINUTE_MS);
        const read = await counts();
        assert.equal((await shown()) === stars, read < needed, `${read} of ${needed} at ${part}`);
      }
      assert.ok((await shown()) < 0.75 * stars);
      // Back from half of the stars is a leap without forks, which takes another reading; back from none is not.
      forge.switches.lie = null;
      for (let readings = part === 0 ? 1 : 2; readings > 0; readings--) {
        await makeRefreshesDue(world);
        await world.pass(3 * MINUTE_MS);
        assert.equal((await shown()) === stars, readings === 1);
      }
    }
  });

  test("that was wrong never replaces the count, and the next good one is the count", async (t) => {
    const { world, forge } = await start(t, engine, GITHUB);
    const { id, onForge, stars } = await largest(world);
    forge.switches.lie = (truth, { kind }) =>
      truth.id === onForge && kind === GITHUB.refresh ? { stars: 0 } : undefined;
    await makeRefreshesDue(world);
    for (let minute = 0; minute < 12; minute++) {
      await world.pass(MINUTE_MS);
      assert.ok(((await world.modules.catalog.get(id)).stars ?? 0) >= stars, `minute ${minute}`);
    }
    assert.ok((await starsOf(world, id)).includes(0), "its snapshot is recorded");
    assert.equal(agains(forge, GITHUB.again), 1);
  });

  test("is read a second time once per refresh while the endpoints disagree", async (t) => {
    const { world, forge } = await start(t, engine, GITLAB);
    const { id, onForge } = await largest(world);
    const known = (await starsOf(world, id)).length;
    forge.switches.lie = (truth, { kind }) =>
      truth.id === onForge && kind === GITLAB.refresh ? { stars: 0 } : undefined;
    for (let round = 0; round < 3; round++) {
      await makeRefreshesDue(world);
      await world.pass(3 * MINUTE_MS);
      await makeRefreshesDue(world);
      await world.pass(37 * MINUTE_MS);
    }
    const readings = (await starsOf(world, id)).slice(known);
    const isTrue = readings.map((stars) => stars > 0);
    assert.equal(isTrue.filter(Boolean).length, 3, `${readings}`);
    assert.equal(agains(forge, GITLAB.again), 3);
    assert.ok(!isTrue.some((one, i) => one && isTrue[i - 1] === true), `${readings}`);
  });

  test("is not worth twice the requests when all of them are: the largest are read again, at most 60 an hour", async (t) => {
    const { world, forge } = await start(t, engine, { ...GITHUB, repositories: 110 });
    forge.switches.lie = (truth, { kind }) =>
      kind === GITHUB.refresh ? { stars: Math.floor(truth.stars / 2), forks: 0 } : undefined;
    const before = forge.counters.requests;
    await makeRefreshesDue(world);
    await world.pass(20 * MINUTE_MS);
    const { report } = world.worker.reporters.get("GITHUB") ?? {};
    assert.ok((report?.doubted ?? 0) > 80, `${report?.doubted} doubtful`);
    assert.equal(agains(forge, GITHUB.again), 60);
    assert.ok(forge.counters.requests - before < 110, "more requests than repositories");
    const rows = await world.modules.database.read
      .selectFrom("tracking")
      .innerJoin("repositories", "id", "repository_id")
      .select(["stars", "doubted_at"])
      .orderBy("stars", "desc")
      .execute();
    assert.ok(
      rows.slice(0, 20).every(({ doubted_at }) => doubted_at !== null),
      "the largest come first",
    );
    assert.deepEqual(forge.violations, []);
  });

  test("is read a second time by the next worker if this one is stopped", async (t) => {
    const { world, forge } = await start(t, engine, GITHUB);
    const { id, onForge, stars } = await largest(world);
    forge.switches.lie = (truth, { kind }) =>
      truth.id === onForge && kind === GITHUB.refresh ? { stars: 0 } : undefined;
    await makeRefreshesDue(world);
    await world.pass(3 * MINUTE_MS);
    await world.stop();
    assert.equal((await starsOf(world, id)).at(-1), 0);
    world.clock.advance(DAY_MS / 24);
    forge.switches.lie = null;
    await world.addWorker();
    await world.pass(5 * MINUTE_MS);
    const readings = await starsOf(world, id);
    assert.ok((readings.at(-1) ?? 0) > 0.75 * stars, `${readings} where it had ${stars}`);
    assert.equal(agains(forge, GITHUB.again), 1);
  });

  test("waits for the quota of the other endpoint, and for a forge that does not respond", async (t) => {
    const { world, forge } = await start(t, engine, GITHUB);
    const { id, onForge, stars } = await largest(world);
    forge.switches.lie = (truth, { kind }) =>
      truth.id === onForge && kind === GITHUB.refresh ? { stars: 0 } : undefined;
    forge.switches.fault = ({ kind }) => (kind === GITHUB.again ? "status-502" : undefined);
    await makeRefreshesDue(world);
    await world.pass(15 * MINUTE_MS);
    assert.equal((await starsOf(world, id)).at(-1), 0);
    forge.switches.fault = null;
    forge.spend("first-token", "core", 5_000);
    await world.pass(1.5 * HOUR_MS);
    const readings = await starsOf(world, id);
    assert.ok(
      readings.some((reading, i) => readings[i - 1] === 0 && reading >= stars),
      `${readings}`,
    );
    assert.deepEqual(forge.violations, []);
  });
});
