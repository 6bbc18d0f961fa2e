import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { Database } from "../../../src/database/database.js";
import type { Dialect } from "../../../src/database/dialect.js";
import { createLog } from "../../../src/lib/log.js";
import { buildModules, type Modules } from "../../../src/modules.js";
import type { Observation } from "../../../src/repositories/observation.js";
import { type Engine, onBothEngines } from "../../support/engines.js";
import { ManualClock } from "../../support/manual-clock.js";
import { NOW, observation, snapshot } from "../../support/world.js";

const LANGUAGES = ["Go", "Rust", "C"];
const SIZE = 90;

/** Repositories with some stars each, `minute` minutes after NOW. */
const grown = (minute: number, factor: number): Observation[] =>
  Array.from({ length: SIZE }, (_, i) =>
    observation(
      `o/r${i}`,
      [snapshot(48, i, { forks: 0 }), snapshot(-minute / 60, i + ((i * factor) % 31), { forks: i % 4 })],
      {
        at: NOW + minute * 60_000,
        facts: {
          stars: i + ((i * factor) % 31),
          language: LANGUAGES[(i + factor) % 4] ?? null,
          topics: i % 3 === 0 ? ["web", `t${i % 7}`] : ["cli"],
          availability: (i * factor) % 11 === 5 ? "GONE" : "AVAILABLE",
        },
      },
    ),
  );

function modulesOn(database: Database): Modules {
  return buildModules(database, { clock: new ManualClock(NOW), log: createLog("silent") });
}

/** All ranks by repository, all facets, and the first page. */
async function derived({ rankings, database }: Modules): Promise<unknown> {
  const rows = await database.read.selectFrom("repositories").select("id").orderBy("id").execute();
  const ranks = await Promise.all(rows.map(({ id }) => rankings.ranks(id)));
  const facets = await sql`select * from facets order by kind, provider, name`.execute(database.read);
  const { generatedAt: _, ...home } = await rankings.home();
  return { ranks, facets: facets.rows.map((row) => ({ ...Object(row) })), home };
}

/** The database with a dialect that fails at the transaction with this number, from 1, and notes how many there were. */
function failing(database: Database, at: number): { failing: Database; count: () => number } {
  let count = 0;
  const dialect: Dialect = {
    ...database.dialect,
    exclusively: (db, purpose, work) =>
      database.dialect.exclusively(db, purpose, async (tx) => {
        count++;
        const result = await work(tx);
        if (count === at) throw new Error("killed");
        return result;
      }),
  };
  return { failing: { ...database, dialect }, count: () => count };
}

async function recorded(engine: Engine): Promise<Modules> {
  const modules = modulesOn(await engine.open());
  await modules.catalog.record(grown(0, 3));
  await modules.rankings.update();
  await modules.catalog.record(grown(1, 8));
  return modules;
}

onBothEngines("Leaderboards", (engine) => {
  test("are the same after an update that was interrupted at any transaction", async () => {
    const whole = await recorded(engine);
    const watched = failing(whole.database, 0);
    await modulesOn(watched.failing).rankings.update();
    const expected = await derived(whole);
    const steps = watched.count();
    assert.ok(steps > 8, `${steps} transactions`);
    for (let step = 1; step <= steps; step += engine.name === "sqlite" ? 1 : 3) {
      const modules = await recorded(engine);
      await assert.rejects(modulesOn(failing(modules.database, step).failing).rankings.update(), /killed/);
      await modules.rankings.update();
      assert.deepEqual(await derived(modules), expected, `interrupted at transaction ${step}`);
    }
  });

  test("that are damaged are rebuilt with the next change", async () => {
    const [damaged, whole] = [await recorded(engine), await recorded(engine)];
    for (const { catalog, rankings, database } of [damaged, whole]) {
      await rankings.update();
      if (database === damaged.database)
        await database.write
          .updateTable("leaderboards")
          .set({ data: new Uint8Array([1, 2, 3]) })
          .execute();
      await catalog.record(grown(2, 5).slice(0, 20));
      await rankings.update();
    }
    assert.deepEqual(await derived(damaged), await derived(whole));
  });
});
