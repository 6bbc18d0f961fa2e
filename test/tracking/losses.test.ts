import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Provider } from "../../src/forges/contract.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { refreshNow, track } from "../../src/tracking/tracking.js";
import { type Engine, onSqliteAndLong } from "../support/engines.js";
import type { Forge, ForgeRepository, ForgeRequest } from "../support/forge/forge.js";
import { snapshotsOf } from "../support/snapshots.js";
import { laneOf, openTrackingWorld, type TrackedForge, type TrackingWorld } from "../support/tracking.js";

const MINUTE_MS = 60_000;
const DELETED = { visibility: "deleted" } as const;
/** The requests of a refresh, by kind of forge, and of a confirmation. */
const FORGES = [
  { kind: "github", name: "GITHUB", refresh: "graphql", second: "repository-by-id" },
  { kind: "gitlab", name: "GITLAB", refresh: "graphql", second: "repository-by-id" },
  { kind: "forgejo", name: "CODEBERG", refresh: "repository-by-id", second: "repository" },
] as const;
/** The requests for a document of the forge itself. */
const CONTROLS: readonly string[] = ["meta", "list", "version"];
const [GITHUB] = FORGES;
/** For simulations of many days: it has no backfill lane. */
const QUICK = { kind: "forgejo", name: "CODEBERG" } as const;

interface Stage {
  world: TrackingWorld;
  forge: Forge;
  ids: number[];
}

/** Whether walks find nothing. */
let walksAreStopped = false;

function stoppable(provider: Provider): Provider {
  const discover: Provider["discover"] = async (...input) =>
    walksAreStopped ? { repositories: [], next: null } : provider.discover(...input);
  return Object.assign(Object.create(provider), { discover });
}

/** A forge whose repositories are all recorded. */
async function start(t: TestContext, engine: Engine, tracked: Partial<TrackedForge> = {}): Promise<Stage> {
  const { kind = GITHUB.kind, name = GITHUB.name } = tracked;
  walksAreStopped = false;
  const world = await openTrackingWorld(
    t,
    await engine.open(),
    [{ kind, name, repositories: 12, catalogue: "quiet", wrap: stoppable, ...tracked }],
    { idleMs: HOUR_MS / 4, deriveEveryMs: 6 * HOUR_MS },
  );
  const forge = world.forge(name);
  await world.pass(30 * MINUTE_MS);
  await makeDue(world);
  await world.pass(10 * MINUTE_MS);
  return { world, forge, ids: forge.catalogue.ids() };
}

/** Makes all repositories due, but no walk. */
async function makeDue({ modules, clock }: TrackingWorld): Promise<void> {
  await modules.database.write.updateTable("repositories").set({ next_refresh_at: clock.now() }).execute();
}

/** Passes some days, in each of which a new worker runs for two hours. */
async function passDays(world: TrackingWorld, days: number, afterEach = async () => {}): Promise<void> {
  for (let day = 0; day < days; day++) {
    await world.stop();
    world.clock.advance(DAY_MS - 2 * HOUR_MS);
    await world.addWorker();
    await world.pass(2 * HOUR_MS);
    await afterEach();
  }
}

async function states({ modules }: TrackingWorld): Promise<Record<string, number>> {
  const rows = await modules.database.read
    .selectFrom("repositories")
    .select(({ fn }) => ["availability", fn.countAll().as("total")])
    .groupBy("availability")
    .orderBy("availability")
    .execute();
  return Object.fromEntries(rows.map(({ availability, total }) => [availability, Number(total)]));
}

const rowOf = ({ modules }: TrackingWorld, id: number) =>
  modules.database.read
    .selectFrom("repositories")
    .innerJoin("tracking", "tracking.repository_id", "repositories.id")
    .select(["id", "owner", "name", "availability", "node_id", "missing_since", "failures", "counted_at"])
    .where("provider_id", "=", String(id))
    .executeTakeFirstOrThrow();

async function missing({ modules }: TrackingWorld): Promise<number> {
  const { total } = await modules.database.read
    .selectFrom("tracking")
    .select(({ fn }) => fn.countAll().as("total"))
    .where("missing_since", "is not", null)
    .executeTakeFirstOrThrow();
  return Number(total);
}

/** What a forge hides from some requests. */
const hide =
  (...kinds: string[]) =>
  (_: ForgeRepository, { kind }: ForgeRequest) =>
    kinds.includes(kind) ? DELETED : undefined;
const count = (forge: Forge, kind: string) => forge.counters.byKind[kind] ?? 0;

onSqliteAndLong("A repository that its forge reports missing", (engine) => {
  for (const { kind, name, refresh, second } of engine.name === "sqlite" ? FORGES : [GITHUB]) {
    test(`is gone once a second endpoint, which returns another one, reports it too: ${kind}`, async (t) => {
      const { world, forge, ids } = await start(t, engine, { kind, name });
      const [deleted = 0] = ids;
      forge.catalogue.add({ at: world.clock.now(), kind: "deleted", id: deleted, to: null });
      const before = count(forge, second);
      await makeDue(world);
      await world.pass(20 * MINUTE_MS);
      const row = await rowOf(world, deleted);
      assert.deepEqual([row.availability, row.missing_since], ["GONE", null]);
      // On GitLab the refresh itself also reads alone what its query leaves out; by name, it may have a new id.
      const reads = kind === "github" ? 2 : 3;
      assert.equal(count(forge, second) - before, reads, "the loss and the control");
      const { refreshed, lost, held } = world.worker.reporters.get(name)?.report ?? {};
      assert.deepEqual([lost, held], [1, 0]);
      assert.ok((refreshed ?? 0) >= 12);
      assert.deepEqual(forge.violations, []);
    });

    test(`and is the only one there is gone once the forge returns a document of its own: ${kind}`, async (t) => {
      const { world, forge, ids } = await start(t, engine, { kind, name, repositories: 1 });
      walksAreStopped = true;
      forge.catalogue.add({ at: world.clock.now(), kind: "deleted", id: ids[0] ?? 0, to: null });
      forge.switches.fault = ({ kind: asked }) => (CONTROLS.includes(asked) ? "status-502" : undefined);
      await makeDue(world);
      await world.pass(20 * MINUTE_MS);
      assert.deepEqual([await states(world), await missing(world)], [{ AVAILABLE: 1 }, 1]);
      forge.switches.fault = null;
      await makeDue(world);
      await world.pass(20 * MINUTE_MS);
      assert.deepEqual([await states(world), await missing(world)], [{ GONE: 1 }, 0]);
    });

    test(`that a second endpoint returns is recorded as it is there: ${kind}`, async (t) => {
      const { world, forge, ids } = await start(t, engine, { kind, name });
      const [hidden = 0] = ids;
      const { id } = await rowOf(world, hidden);
      const known = (await snapshotsOf(world.modules.database, id)).length;
      await world.modules.database.write
        .updateTable("tracking")
        .set({ node_id: kind === "github" ? "MDEwOlJlcG9zaXRvcnk3" : null })
        .where("repository_id", "=", id)
        .execute();
      forge.switches.lie = ({ id: one }, { kind: asked }) =>
        one === hidden && asked === refresh ? DELETED : undefined;
      await makeDue(world);
      await world.pass(20 * MINUTE_MS);
      const row = await rowOf(world, hidden);
      assert.deepEqual([row.availability, row.missing_since, row.failures], ["AVAILABLE", null, 0]);
      assert.equal((await snapshotsOf(world.modules.database, id)).length, known + 1);
      if (kind === "github") assert.match(row.node_id ?? "", /^R_/);
    });
  }

  test("is not gone while the second endpoint returns nothing else either, or pages, or redirects, or errors", async (t) => {
    const { world, forge } = await start(t, engine);
    walksAreStopped = true;
    const { clock } = world;
    forge.switches.lie = hide("graphql", "repository-by-id");
    const faults = [
      undefined,
      { name: "html" },
      { name: "other-host", location: `${forge.url}/login` },
      { name: "status-502" },
    ] as const;
    for (const fault of faults) {
      forge.switches.fault = ({ kind }) => (kind.startsWith("repository") ? fault : undefined);
      await makeDue(world);
      await world.pass(2 * HOUR_MS);
      assert.deepEqual(await states(world), { AVAILABLE: 12 });
    }
    assert.equal(await missing(world), 12);
    const { body } = await world.get("/api/repos?sort=stars&limit=100");
    assert.equal(body.data.length, 12);
    forge.switches.lie = null;
    forge.switches.fault = null;
    const repaired = clock.now();
    await passDays(world, 2);
    assert.equal(await missing(world), 0);
    assert.deepEqual(await states(world), { AVAILABLE: 12 });
    for (const id of forge.catalogue.ids()) assert.ok(((await rowOf(world, id)).counted_at ?? 0) > repaired);
  });

  test("is gone if another repository has its name and its id does not exist", async (t) => {
    const { world, forge, ids } = await start(t, engine, { kind: "forgejo", name: "CODEBERG" });
    const [deleted = 0, taker = 0] = ids;
    const { owner, name } = await rowOf(world, deleted);
    forge.catalogue.add({ at: world.clock.now(), kind: "deleted", id: deleted, to: null });
    forge.catalogue.add({ at: world.clock.now(), kind: "transferred", id: taker, to: `${owner}/${name}` });
    await makeDue(world);
    await world.pass(2 * HOUR_MS);
    assert.equal((await rowOf(world, deleted)).availability, "GONE");
    const row = await rowOf(world, taker);
    assert.deepEqual([row.availability, row.name], ["AVAILABLE", name]);
  });

  test("because its id was given to another one is looked up by name, and continues under its new id", async (t) => {
    const { world, forge, ids } = await start(t, engine, QUICK);
    walksAreStopped = true;
    const [victim = 0] = ids;
    const { id } = await rowOf(world, victim);
    const known = (await snapshotsOf(world.modules.database, id)).length;
    const other = { owner: "new", name: "one", fullName: "new/one" };
    forge.switches.lie = ({ id: one, createdAt }, { kind }) => {
      if (one !== victim) return undefined;
      return kind === "repository" ? { id: 999_999 } : { ...other, createdAt: createdAt + 400 * DAY_MS };
    };
    await makeDue(world);
    await world.pass(20 * MINUTE_MS);
    const newcomer = await rowOf(world, victim);
    assert.ok(newcomer.id !== id && newcomer.owner === "new");
    assert.equal(await missing(world), 1);
    assert.deepEqual(await states(world), { AVAILABLE: 13 });
    await world.pass(2 * HOUR_MS);
    assert.equal((await rowOf(world, 999_999)).id, id);
    assert.ok((await snapshotsOf(world.modules.database, id)).length > known);
    assert.equal(await missing(world), 0);
    assert.deepEqual(await states(world), { AVAILABLE: 13 });
  });

  test("waits for its next refresh, by number, if too many are reported at the same time", async (t) => {
    const { world, forge } = await start(t, engine, { repositories: 60 });
    walksAreStopped = true;
    // As when old node ids end.
    forge.switches.lie = hide("graphql");
    const before = count(forge, "repository-by-id");
    await makeDue(world);
    await world.pass(20 * MINUTE_MS);
    assert.equal(count(forge, "repository-by-id") - before, 10);
    assert.equal(await missing(world), 50);
    await world.pass(1.5 * HOUR_MS);
    assert.equal(await missing(world), 0);
    assert.equal(count(forge, "repository-by-id") - before, 60);
    assert.deepEqual(await states(world), { AVAILABLE: 60 });
    assert.deepEqual(forge.violations, []);
  });

  test("is held back beyond ten a day, survives a restart, and is gone on a later day if it is", async (t) => {
    const { world, forge, ids } = await start(t, engine, { ...QUICK, repositories: 60 });
    const { clock } = world;
    const deleted = ids.slice(0, 25);
    for (const id of deleted) forge.catalogue.add({ at: clock.now(), kind: "deleted", id, to: null });
    await makeDue(world);
    await world.pass(2 * HOUR_MS);
    assert.deepEqual(await states(world), { AVAILABLE: 50, GONE: 10 });
    assert.equal(await missing(world), 15);
    const before = count(forge, "repository");
    await makeDue(world);
    await world.pass(HOUR_MS);
    assert.equal(count(forge, "repository"), before, "no further loss is confirmed on that day");
    await passDays(world, 9);
    assert.deepEqual(await states(world), { AVAILABLE: 35, GONE: 25 });
    assert.equal(await missing(world), 0);
    const warnings = world.logged.filter((line) => line.includes("too many repositories are lost"));
    assert.ok(warnings.length >= 1 && warnings.length <= 3, `${warnings.length} warnings`);
    const rows = await world.modules.database.read
      .selectFrom("lost_days")
      .selectAll()
      .orderBy("day")
      .execute();
    assert.deepEqual(
      rows.map(({ lost }) => lost),
      [10, 10, 5],
    );
    assert.deepEqual(forge.violations, []);
  });

  test("is private however many are, as when all owners of a forge hide theirs from strangers", async (t) => {
    const { world, forge, ids } = await start(t, engine, { ...QUICK, repositories: 40 });
    const { opened } = world;
    const [first = 0] = ids;
    const { id, owner, name } = await rowOf(world, first);
    for (const id of ids) forge.catalogue.override(id, { visibility: "members" });
    await makeDue(world);
    await world.pass(4 * HOUR_MS);
    assert.deepEqual(await states(world), { PRIVATE: 40 });
    assert.equal((await world.get("/api/repos?limit=100")).body.data.length, 0);
    await world.stop();
    const provider = opened[0]?.provider;
    assert.ok(provider);
    const context = laneOf(world, provider);
    await assert.rejects(track(context, `${owner}/${name}`), { kind: "private" });
    await assert.rejects(refreshNow(context, id), { kind: "private" });
    for (const id of ids) forge.catalogue.override(id, { visibility: "public" });
    await passDays(world, 2);
    assert.deepEqual(await states(world), { AVAILABLE: 40 });
  });

  test("is held back beyond ten a day also if its id was given to another one, but not if it was never found", async (t) => {
    const { world, forge, ids } = await start(t, engine, { ...QUICK, repositories: 40 });
    const { clock, modules } = world;
    walksAreStopped = true;
    const displaced = ids.slice(0, 20).map(String);
    for (const id of displaced) forge.catalogue.override(Number(id), DELETED);
    await modules.database.write
      .updateTable("repositories")
      .set({ provider_id: null })
      .where("provider_id", "in", displaced)
      .execute();
    const at = clock.now();
    const imported = Array.from({ length: 15 }, (_, i) => ({
      ...{ provider: "CODEBERG", owner: "none", name: `n${i}`, at, facts: { stars: 5 } },
      ...{ snapshots: [], source: "archive" },
    }));
    await modules.catalog.record(imported);
    await world.pass(20 * MINUTE_MS);
    await makeDue(world);
    await world.pass(2 * HOUR_MS);
    assert.deepEqual(await states(world), { AVAILABLE: 30, GONE: 25 });
  });

  test("by a walk alone is read within a day, however late it is due", async (t) => {
    const { world, forge, ids } = await start(t, engine, QUICK);
    const { clock, modules } = world;
    const later = clock.now() + 6 * DAY_MS;
    await modules.database.write.updateTable("repositories").set({ next_refresh_at: later }).execute();
    const [unlisted = 0] = ids;
    forge.switches.lie = ({ id }, { kind }) => (id === unlisted && kind === "search" ? DELETED : undefined);
    await world.pass(10 * HOUR_MS);
    const rows = await modules.database.read
      .selectFrom("repositories")
      .select(["provider_id", "next_refresh_at", "counted_at"])
      .execute();
    for (const { provider_id, next_refresh_at, counted_at } of rows) {
      const isDueSoon = (next_refresh_at ?? 0) <= clock.now() + DAY_MS;
      const wasRead = (counted_at ?? 0) > clock.now() - 6 * HOUR_MS;
      if (provider_id === String(unlisted)) assert.ok(isDueSoon || wasRead);
      else assert.ok(wasRead, "the walk read it");
    }
    await world.pass(DAY_MS);
    assert.ok(((await rowOf(world, unlisted)).counted_at ?? 0) > later - 6 * DAY_MS);
    assert.deepEqual(await states(world), { AVAILABLE: 12 });
  });

  test("counts once, however long lists still show it", async (t) => {
    const { world, forge, ids } = await start(t, engine, { ...QUICK, repositories: 40 });
    const [denied = 0] = ids;
    forge.switches.lie = ({ id }, { kind }) =>
      id === denied && kind.startsWith("repository") && kind !== "repositories" ? DELETED : undefined;
    await makeDue(world);
    await world.pass(HOUR_MS);
    await passDays(world, 4);
    assert.deepEqual(await states(world), { AVAILABLE: 39, GONE: 1 });
    const days = await world.modules.database.read.selectFrom("lost_days").selectAll().execute();
    assert.deepEqual(
      days.map(({ lost }) => lost),
      [1],
    );
    forge.switches.lie = null;
    await passDays(world, 2);
    assert.deepEqual(await states(world), { AVAILABLE: 40 });
  });

  test("returns without a trace if it comes back while it is held back", async (t) => {
    const { world, forge, ids } = await start(t, engine, { ...QUICK, repositories: 40 });
    walksAreStopped = true;
    for (const id of ids.slice(0, 30)) forge.catalogue.override(id, DELETED);
    await makeDue(world);
    await world.pass(3 * HOUR_MS);
    const gone = (await states(world)).GONE ?? 0;
    assert.equal(gone, 10);
    for (const id of ids) forge.catalogue.override(id, { visibility: "public" });
    await passDays(world, 8);
    assert.deepEqual(await states(world), { AVAILABLE: 40 });
    assert.equal(await missing(world), 0);
  });

  test("is stale and in no ranking of gains once its last reading is two intervals old", async (t) => {
    const { world, forge, ids } = await start(t, engine, { ...QUICK, repositories: 20 });
    await passDays(world, 2);
    const held = ids.slice(0, 4);
    forge.switches.lie = ({ id }, { kind }) =>
      held.includes(id) && kind !== "history" ? DELETED : undefined;
    forge.switches.fault = ({ kind }) =>
      kind === "repository" || kind === "repository-by-id" ? "html" : undefined;
    await makeDue(world);
    await passDays(world, 5);
    assert.equal((await states(world)).GONE, undefined);
    const { body } = await world.get("/api/repos?sort=stars&limit=100");
    const stale = body.data.filter((one: { stale: boolean }) => one.stale);
    assert.equal(stale.length, 4);
    const gained = await world.get("/api/repos?sort=stars-gained&window=24h&limit=100");
    assert.ok(gained.body.data.length > 0);
    const names = new Set(stale.map(({ fullName }: { fullName: string }) => fullName));
    for (const { fullName } of gained.body.data) assert.ok(!names.has(fullName), fullName);
  });

  test("that was wrongly recorded as gone returns with its history: by refresh, walk and track", async (t) => {
    const { world, forge, ids } = await start(t, engine);
    const { modules, clock, opened } = world;
    const { database } = modules;
    walksAreStopped = true;
    const rows = await Promise.all(ids.slice(0, 4).map((id) => rowOf(world, id)));
    const [refreshed, renewed, tracked, walked] = rows;
    assert.ok(refreshed && renewed && tracked && walked);
    const histories = new Map<number, number>();
    for (const { id } of rows) histories.set(id, (await snapshotsOf(database, id)).length);
    const own = rows.map(({ id }) => id);
    await database.write
      .updateTable("repositories")
      .set({ availability: "GONE" })
      .where("id", "in", own)
      .execute();
    // Its node id is one that no longer exists.
    const stale = { node_id: "R_kgDOstale" };
    await database.write.updateTable("tracking").set(stale).where("repository_id", "=", renewed.id).execute();
    await world.stop();
    clock.advance(HOUR_MS);
    const provider = opened[0]?.provider;
    assert.ok(provider);
    const context = laneOf(world, provider);
    await refreshNow(context, refreshed.id);
    // The first attempt drops the node id, the second is by number.
    await assert.rejects(refreshNow(context, renewed.id), { kind: "gone" });
    clock.advance(MINUTE_MS);
    await refreshNow(context, renewed.id);
    assert.match((await rowOf(world, ids[1] ?? 0)).node_id ?? "", /^R_kgDO(?!stale)/);
    clock.advance(MINUTE_MS);
    await track(context, `${tracked.owner}/${tracked.name}`);
    clock.advance(HOUR_MS);
    walksAreStopped = false;
    await database.write.updateTable("walks").set({ next_at: 0, cursor: null }).execute();
    await world.addWorker();
    await world.pass(2 * HOUR_MS);
    assert.deepEqual(await states(world), { AVAILABLE: 12 });
    for (const { id } of rows) {
      const { length } = await snapshotsOf(database, id);
      assert.ok(length > (histories.get(id) ?? 0), `${length} snapshots`);
    }
    assert.equal(forge.violations.length, 0);
  });
});
