import assert from "node:assert/strict";
import { test } from "node:test";
import { nextDue } from "../../src/tracking/claims.js";
import { enroll } from "../../src/tracking/schedule.js";
import { onSqliteAndLong } from "../support/engines.js";
import { countStatements } from "../support/statements.js";
import { createWorld, NOW, observation, snapshot } from "../support/world.js";

const GITHUB = { name: "GITHUB", kind: "github" } as const;
const REPOSITORIES = 500;

onSqliteAndLong("Enrolling repositories", (engine) => {
  test("takes a bounded number of statements, and schedules star histories by stars", async () => {
    const world = await createWorld(engine);
    const { database } = world.modules;
    await world.record(
      ...Array.from({ length: REPOSITORIES }, (_, i) => observation(`owner/r${i}`, [snapshot(1, i)])),
    );
    const [first] = await database.read.selectFrom("repositories").select("id").orderBy("id").execute();
    await database.write
      .insertInto("tracking")
      .values({
        repository_id: first?.id ?? 0,
        provider: "GITHUB",
        node_id: null,
        etag: null,
        leased_until: 0,
        failures: 0,
        history_cursor: "",
        history_due: null,
      })
      .execute();
    const counted = countStatements(database);
    assert.equal(
      await enroll(counted.database, GITHUB, { now: NOW, spreadMs: 1_000, limit: 5_000 }),
      REPOSITORIES,
    );
    const statements = counted.statements();
    assert.ok(statements > 0 && statements <= 20, `${statements} statements`);
    assert.equal(await nextDue(database, "GITHUB"), NOW);
    const rows = await database.read
      .selectFrom("tracking")
      .innerJoin("repositories", "id", "repository_id")
      .select(["id", "stars", "history_due"])
      .execute();
    for (const { id, stars, history_due } of rows)
      assert.equal(history_due, id === first?.id ? null : NOW - (stars ?? 0) * 1_000);
    assert.equal(await enroll(counted.database, GITHUB, { now: NOW, spreadMs: 1_000, limit: 5_000 }), 0);
  });
});
