import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { readHidingTarget } from "../../src/repositories/repositories.js";
import { readStatus } from "../../src/tracking/status.js";
import { type Engine, onSqliteAndLong } from "../support/engines.js";
import { QUIET } from "../support/forge/world.js";
import { createTrackingWorld, type TrackedForge } from "../support/tracking.js";
import { checkTruth, makeAllDue } from "./truth.js";

const MINUTE_MS = 60_000;
const CORE = { limit: 5_000, anonymous: 4, windowMs: HOUR_MS };

async function start(engine: Engine, forge: TrackedForge) {
  return createTrackingWorld(await engine.open(), [{ catalogue: { rates: QUIET }, ...forge }], {
    idleMs: 10 * MINUTE_MS,
  });
}

onSqliteAndLong("A walk", (engine) => {
  test("reads the counts of all repositories, so that none needs a request of its own", async (t) => {
    const world = await start(engine, { kind: "forgejo", name: "CODEBERG", repositories: 60 });
    t.after(() => world.close());
    await world.pass(HOUR_MS);
    const { counters } = world.forge("CODEBERG");
    const { byKind } = counters;
    assert.equal(byKind["repository-by-id"] ?? 0, 0, "new repositories are complete");
    await makeAllDue(world);
    const from = world.clock.now();
    const before = counters.requests;
    await world.pass(5 * MINUTE_MS);
    assert.ok((await checkTruth(world, { from, to: world.clock.now() + 1 })) >= 50);
    // The refresh lane is a moment ahead of the walk.
    assert.ok(counters.requests - before <= 25, `${counters.requests - before} requests`);
    assert.equal(world.worker.reporters.get("CODEBERG")?.report.failures.malformed, undefined);
  });

  test("neither reads nor finds what operators hide, and reads it on once it is shown again", async (t) => {
    const world = await start(engine, { kind: "forgejo", name: "CODEBERG", repositories: 20 });
    t.after(() => world.close());
    const { catalog, database } = world.modules;
    await world.pass(HOUR_MS);
    const all = await database.read.selectFrom("repositories").select(["id", "owner", "name"]).execute();
    const [known, removed] = all;
    assert.ok(known && removed);
    const targets = [known, removed].map(({ owner, name }) => readHidingTarget(`codeberg:${owner}/${name}`));
    for (const target of targets)
      if (target) await catalog.hiding.hide({ target, reason: "a mail", note: null, by: "", endsAt: null });
    await database.dialect.exclusively(database.write, "catalogue", (tx) => catalog.removeIn(tx, removed.id));
    const before = await database.read
      .selectFrom("repositories")
      .selectAll()
      .where("id", "=", known.id)
      .execute();
    await makeAllDue(world);
    const requests = world.forge("CODEBERG").counters.requests;
    await world.pass(5 * HOUR_MS);
    assert.ok(world.forge("CODEBERG").counters.requests - requests < 100, "no loop over what is never read");
    const later = await database.read.selectFrom("repositories").selectAll().execute();
    assert.equal(later.length, all.length - 1);
    const { refreshed_at, stars } = later.find(({ id }) => id === known.id) ?? {};
    assert.deepEqual([refreshed_at, stars], [before[0]?.refreshed_at, before[0]?.stars]);
    for (const target of targets) if (target) await catalog.hiding.unhide(target);
    await world.pass(5 * HOUR_MS);
    assert.equal((await database.read.selectFrom("repositories").select("id").execute()).length, all.length);
    assert.ok(((await catalog.find(known.id))?.refreshedAt ?? 0) > (refreshed_at ?? 0));
  });

  test("follows the last one after four hours if it is short, and continues where a stopped worker ended", async (t) => {
    const world = await start(engine, { kind: "forgejo", name: "CODEBERG", repositories: 120 });
    t.after(() => world.close());
    const { modules, clock } = world;
    await world.pass(HOUR_MS);
    const walk = async () => {
      const [status] = await readStatus(modules.database, clock.now());
      assert.ok(status?.walk);
      return status.walk;
    };
    const first = await walk();
    assert.deepEqual([first.walks, first.pages], [1, 3]);
    assert.ok((first.tookMs ?? 0) < HOUR_MS);
    const wait = (first.nextAt ?? 0) - first.startedAt;
    assert.ok(wait >= 3.6 * HOUR_MS && wait <= 4.4 * HOUR_MS, `${wait / HOUR_MS} h`);
    // A worker that is stopped in the middle.
    let pages = 0;
    world.forge("CODEBERG").switches.fault = ({ kind }) =>
      kind === "search" && ++pages > 1 ? "status-502" : undefined;
    await world.pass(4.5 * HOUR_MS);
    const middle = await walk();
    assert.deepEqual([middle.walks, middle.pages, middle.isRunning], [1, 1, true]);
    world.forge("CODEBERG").switches.fault = null;
    await world.restart();
    await world.pass(MINUTE_MS);
    assert.deepEqual([(await walk()).walks, (await walk()).pages], [2, 3]);
  });

  test("fills the lists of 24 hours if single requests are far too few, without a token", async (t) => {
    // Days are slow on PostgreSQL.
    const repositories = engine.name === "sqlite" ? 150 : 60;
    const world = await start(engine, { kind: "github", name: "GITHUB", repositories, tokens: [] });
    t.after(() => world.close());
    const { forge, clock, modules } = world;
    // As 60 an hour for 2,250 repositories.
    forge("GITHUB").switches.allowances = { ...forge("GITHUB").switches.allowances, core: CORE };
    await world.pass(1.25 * DAY_MS);
    let [gaining, listed] = [0, 0];
    for (let look = 0; look < 2; look++) {
      await world.pass(5 * HOUR_MS);
      const now = clock.now();
      const rows = await modules.database.read
        .selectFrom("rollups")
        .innerJoin("repositories", "id", "repository_id")
        .select(["provider_id", "rollups.stars_delta"])
        .where("window_hours", "=", 24)
        .execute();
      const known = new Map(rows.map((row) => [row.provider_id, row]));
      const { catalogue } = forge("GITHUB");
      for (const { id, stars } of catalogue.truth(now)) {
        // Gained before the readings that count.
        const gained =
          (catalogue.get(id, now - 5 * HOUR_MS)?.stars ?? stars) -
          (catalogue.get(id, now - 20 * HOUR_MS)?.stars ?? 0);
        if (gained < 3) continue;
        gaining++;
        const row = known.get(String(id));
        if (row !== undefined && row.stars_delta > 0) listed++;
      }
    }
    assert.ok(gaining > repositories / 10, `${gaining} gains`);
    assert.ok(listed >= 0.95 * gaining, `${listed} of ${gaining} are listed`);
    assert.deepEqual(forge("GITHUB").violations, []);
  });

  test("lets own records wait for a query that has room, if one reads a hundred", async (t) => {
    const world = await start(engine, { kind: "github", name: "GITHUB", repositories: 40 });
    t.after(() => world.close());
    const { forge, clock, modules } = world;
    await world.pass(HOUR_MS);
    await world.stop();
    const now = clock.now();
    const { write } = modules.database;
    const ids = await modules.database.read.selectFrom("repositories").select("id").execute();
    for (const [i, { id }] of ids.entries()) {
      const due = now + i * MINUTE_MS;
      await write.updateTable("tracking").set({ details_due: due }).where("repository_id", "=", id).execute();
    }
    await write
      .updateTable("walks")
      .set({ next_at: now + DAY_MS })
      .execute();
    await write
      .updateTable("repositories")
      .set({ next_refresh_at: now + DAY_MS })
      .execute();
    await world.addWorker();
    const queries = () => forge("GITHUB").counters.byKind.graphql ?? 0;
    const before = queries();
    await world.pass(5.9 * HOUR_MS);
    assert.equal(queries(), before);
    await world.pass(HOUR_MS);
    // Those that gain much are due again within the hour.
    assert.ok(queries() - before <= 2, `${queries() - before} queries`);
    const read = await modules.database.read
      .selectFrom("tracking")
      .select(({ fn }) => fn.countAll().as("total"))
      .where("detailed_at", ">", now)
      .executeTakeFirst();
    assert.equal(Number(read?.total), ids.length);
  });

  test("leaves own records to what is left over: a backlog of them stretches no interval", async (t) => {
    const world = await start(engine, { kind: "github", name: "GITHUB", repositories: 40, tokens: [] });
    t.after(() => world.close());
    const { forge, clock, modules } = world;
    forge("GITHUB").switches.allowances = { ...forge("GITHUB").switches.allowances, core: CORE };
    await world.pass(3 * HOUR_MS);
    await modules.database.write
      .updateTable("tracking")
      .set({ details_due: clock.now() - 10 * DAY_MS })
      .execute();
    await modules.database.write
      .updateTable("repositories")
      .set({ next_refresh_at: clock.now() + DAY_MS })
      .execute();
    const began = clock.now();
    await world.pass(2.5 * HOUR_MS);
    assert.equal(world.worker.reporters.get("GITHUB")?.report.stretch, 1);
    const read = await modules.database.read
      .selectFrom("tracking")
      .select(({ fn }) => fn.countAll().as("total"))
      .where("detailed_at", ">", began)
      .executeTakeFirst();
    assert.ok(Number(read?.total) >= 4, `${read?.total} own records were read`);
    // Late counts come first.
    await modules.database.write
      .updateTable("repositories")
      .set({ next_refresh_at: clock.now() })
      .where("provider_id", "in", String(forge("GITHUB").catalogue.ids()[0]).split(","))
      .execute();
    const since = clock.now();
    await world.pass(1.1 * HOUR_MS);
    const hot = await modules.database.read
      .selectFrom("repositories")
      .select("refreshed_at")
      .where("provider_id", "=", String(forge("GITHUB").catalogue.ids()[0]))
      .executeTakeFirst();
    assert.ok((hot?.refreshed_at ?? 0) > since);
  });
});
