import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { Catalog } from "../../src/repositories/repositories.js";
import { onBothEngines } from "../support/engines.js";
import { ManualClock } from "../support/manual-clock.js";
import { NOW, observation } from "../support/world.js";

const REPOSITORIES = 1_000;

onBothEngines("The planner of the database", (engine) => {
  test("knows how many repositories pass the filters of lists", async () => {
    // That of SQLite follows the order of the tables in the statement.
    if (engine.name === "sqlite") return;
    const database = await engine.open();
    const catalog = new Catalog(database, new ManualClock(NOW));
    await catalog.record(Array.from({ length: REPOSITORIES }, (_, i) => observation(`o/r${i}`, [])));
    await sql`update repositories set stars = id, forks = id, pushed_at = id, created_at = id,
      archived = case when id % 10 = 0 then 1 end, fork = case when id % 10 = 0 then 1 end`.execute(
      database.write,
    );
    await database.dialect.analyze(database.write);
    const estimate = async (condition: string) => {
      const { rows } = await sql<{ "QUERY PLAN": [{ Plan: { "Plan Rows": number } }] }>`
        explain (format json) select 1 from repositories where ${sql.raw(condition)}`.execute(database.read);
      return rows[0]?.["QUERY PLAN"][0].Plan["Plan Rows"] ?? 0;
    };
    const [lowest] = (
      await sql<{ id: number }>`select min(id) as id from repositories`.execute(database.read)
    ).rows;
    const tenth = Number(lowest?.id) + REPOSITORIES / 10;
    const conditions = [
      ...["stars", "forks", "pushed_at", "created_at"].map(
        (name) => `coalesce(${name}, -1) between 0 and ${tenth}`,
      ),
      ...["archived", "fork"].map((name) => `coalesce(${name}, 0) = 1`),
    ];
    for (const condition of conditions) {
      const rows = await estimate(condition);
      assert.ok(rows > 70 && rows < 150, `${condition}: ${rows} rows`);
    }
  });
});
