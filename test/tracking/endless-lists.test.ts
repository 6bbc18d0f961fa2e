import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { MAX_WALK_PAGES } from "../../src/tracking/cadence.js";
import { readStatus } from "../../src/tracking/status.js";
import { type Engine, onSqliteAndLong } from "../support/engines.js";
import { openTrackingWorld } from "../support/tracking.js";
import { makeAllDue } from "./truth.js";

const MINUTE_MS = 60_000;
const REAL = 60;
const NEW_PER_DAY = 100;

/** A forge with an endless list, two minutes before the end of a day (UTC): a request a second is sent to it. */
async function start(t: TestContext, engine: Engine) {
  const world = await openTrackingWorld(
    t,
    await engine.open(),
    [{ kind: "forgejo", name: "WORK", repositories: REAL, newPerDay: NEW_PER_DAY, catalogue: "quiet" }],
    { startAfterDays: 11 - (2 * MINUTE_MS) / DAY_MS, idleMs: HOUR_MS },
  );
  const { clock, modules } = world;
  const forge = world.forge("WORK");
  forge.switches.fault = ({ kind }) => (kind === "search" ? { name: "endless-list" } : undefined);
  const status = async () => {
    const [one] = await readStatus(modules.database, clock.now());
    assert.ok(one?.walk);
    return { ...one, walk: one.walk };
  };
  const real = new Set(forge.catalogue.ids().map(String));
  /** Numbers of available repositories. */
  const available = async () => {
    const rows = await modules.database.read
      .selectFrom("repositories")
      .select("provider_id")
      .where("availability", "=", "AVAILABLE")
      .execute();
    const existing = rows.filter(({ provider_id }) => real.has(provider_id ?? "")).length;
    return { existing, invented: rows.length - existing };
  };
  const logged = (words: string) => world.logged.filter((line) => line.includes(words)).length;
  return { world, forge, status, available, logged };
}

onSqliteAndLong("A list that never ends", (engine) => {
  test("adds what a day allows, also after a restart, and heals", async (t) => {
    const { world, forge, status, available, logged } = await start(t, engine);
    await world.pass(MINUTE_MS / 2);
    assert.deepEqual(await available(), { existing: REAL, invented: NEW_PER_DAY - REAL });
    await world.restart();
    assert.equal(logged("too many new repositories"), 1);
    await world.pass(MINUTE_MS / 2);
    assert.deepEqual(await available(), { existing: REAL, invented: NEW_PER_DAY - REAL });
    const { newToday } = await status();
    assert.equal(newToday.added, NEW_PER_DAY);
    assert.ok(newToday.surplus > 1_000, `${newToday.surplus} rows`);
    await world.pass(MINUTE_MS + MINUTE_MS / 2);
    assert.deepEqual(await available(), { existing: REAL, invented: 2 * NEW_PER_DAY - REAL });
    assert.deepEqual([(await status()).newToday.added, logged("unexpected error")], [NEW_PER_DAY, 0]);
    forge.switches.fault = null;
    await makeAllDue(world);
    await world.pass(2 * HOUR_MS);
    const healed = await available();
    assert.equal(healed.existing, REAL);
    assert.ok(
      healed.invented < 2 * NEW_PER_DAY - REAL,
      "those that do not exist are lost, as many as a day allows",
    );
    assert.ok((await status()).walk.walks >= 1);
    assert.deepEqual(forge.violations, []);
  });

  test("ends a walk after its most pages, which is a failure, and the next one begins at the front", async (t) => {
    const { world, forge, status, logged } = await start(t, engine);
    const { clock, modules } = world;
    await world.pass(10_000);
    const { pages } = (await status()).walk;
    assert.ok(pages > 2);
    await world.stop();
    await modules.database.write
      .updateTable("walks")
      .set({ pages: MAX_WALK_PAGES - 2 })
      .execute();
    await world.restart();
    await world.pass(MINUTE_MS);
    const { walk } = await status();
    assert.deepEqual([walk.isRunning, walk.walks, walk.pages], [false, 0, MAX_WALK_PAGES]);
    assert.ok((walk.nextAt ?? 0) >= clock.now() + HOUR_MS / 2);
    assert.equal(logged(`has no end after ${MAX_WALK_PAGES} pages`), 1);
    assert.equal(world.worker.reporters.get("WORK")?.report.failures.malformed, 1);
    forge.switches.fault = null;
    await makeAllDue(world);
    await world.pass(HOUR_MS);
    assert.ok((await status()).walk.walks >= 1);
    assert.equal((await status()).walk.pages, 2);
  });
});
