import assert from "node:assert/strict";
import { test } from "node:test";
import { prepareStatus, readPreparedStatus } from "../../src/tracking/status.js";
import { onSqlite } from "../support/engines.js";
import { createWorld, daily, observation } from "../support/world.js";

/** The same document without one of its fields, for each at any depth. */
function* withoutEach(document: unknown): Generator<unknown> {
  if (typeof document !== "object" || document === null) return;
  for (const [key, value] of Object.entries(document)) {
    if (!Array.isArray(document))
      yield Object.fromEntries(Object.entries(document).filter(([name]) => name !== key));
    for (const changed of withoutEach(value))
      yield Array.isArray(document) ? document.with(Number(key), changed) : { ...document, [key]: changed };
  }
}

onSqlite("Documents that another version has stored", (engine) => {
  test("show what they have: a field that is missing is not known yet", async () => {
    const database = await engine.open();
    const world = await createWorld({ open: async () => database });
    await world.record(observation("o/a", daily(1, 5, 9)));
    const row = await database.read.selectFrom("summaries").selectAll().executeTakeFirstOrThrow();
    let changes = 0;
    for (const changed of withoutEach(JSON.parse(row.body))) {
      changes++;
      await database.write
        .updateTable("summaries")
        .set({ body: JSON.stringify(changed) })
        .execute();
      for (const path of ["/api/home", "/api/stats/summary", "/api/repos?q=nothing", "/"])
        assert.equal((await world.get(path)).status, 200, `${path}: ${JSON.stringify(changed)}`);
    }
    assert.ok(changes > 20);
  });

  test("of the status of tracking are prepared again", async () => {
    const database = await engine.open();
    const world = await createWorld({ open: async () => database });
    await world.record(observation("o/a", daily(1, 5, 9)));
    await prepareStatus(world.modules, world.clock.now());
    const prepared = await readPreparedStatus(database);
    assert.equal(prepared?.providers.length, 1);
    const { body } = await database.read.selectFrom("status_documents").selectAll().executeTakeFirstOrThrow();
    for (const changed of withoutEach(JSON.parse(body))) {
      await database.write
        .updateTable("status_documents")
        .set({ body: JSON.stringify(changed) })
        .execute();
      const read = await readPreparedStatus(database);
      // Only numbers by availability may be missing.
      if (read !== undefined)
        assert.deepEqual(
          { ...read.providers[0], repositories: {} },
          { ...prepared?.providers[0], repositories: {} },
        );
    }
  });
});
