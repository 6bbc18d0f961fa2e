import assert from "node:assert/strict";
import { test } from "node:test";
import { enroll, nextDue } from "../../src/tracking/schedule.js";
import { onSqliteAndLong } from "../support/engines.js";
import { countStatements } from "../support/statements.js";
import { heldLease } from "../support/tracking.js";
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
        failures: 0,
        history_cursor: "",
        history_due: null,
      })
      .execute();
    const counted = countStatements(database);
    const context = { database: counted.database, lease: await heldLease(counted.database, world.clock) };
    assert.equal(await enroll(context, GITHUB, { now: NOW, spreadMs: 1_000, limit: 5_000 }), REPOSITORIES);
    const statements = counted.statements();
    assert.ok(statements > 0 && statements <= 20, `${statements} statements`);
    assert.equal(await nextDue(database.read, "GITHUB", "refresh"), NOW);
    const rows = await database.read
      .selectFrom("tracking")
      .innerJoin("repositories", "id", "repository_id")
      .select(["id", "stars", "history_due"])
      .execute();
    for (const { id, stars, history_due } of rows)
      assert.equal(history_due, id === first?.id ? null : NOW - (stars ?? 0) * 1_000);
    assert.equal(await enroll(context, GITHUB, { now: NOW, spreadMs: 1_000, limit: 5_000 }), 0);
  });
});
