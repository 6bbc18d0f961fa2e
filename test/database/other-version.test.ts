import assert from "node:assert/strict";
import { copyFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sql } from "kysely";
import { type Database, LATEST_VERSION, openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/lib/log.js";
import { openStore } from "../reliability/support/open-store.js";
import { type Engine, onBothEngines, onSqlite } from "../support/engines.js";
import { createWorld, observation, snapshot } from "../support/world.js";

const log = createLog("silent");
const NEWER = { version: LATEST_VERSION + 1, name: "of tomorrow", applied_at: 0 };

function rawStore(engine: Engine) {
  const { url, dataDir } = engine.location();
  return openStore(url ?? join(dataDir, "sidereal.db"));
}

/** Ways to write a mark. */
const WRITES: Record<string, (database: Database) => Promise<unknown>> = {
  "a statement": ({ write }) => sql`insert into marks (name, value) values ('w', '1')`.execute(write),
  "a statement that survives a power cut": ({ durable }) =>
    sql`insert into marks (name, value) values ('d', '1')`.execute(durable),
  "a transaction": ({ write }) =>
    write.transaction().execute((tx) => tx.insertInto("marks").values({ name: "t", value: "1" }).execute()),
};

onBothEngines("A database that a newer program has migrated", (engine) => {
  test("is written to no longer, and the service is not ready", async () => {
    const database = await engine.open();
    const world = await createWorld({ open: async () => database });
    await world.record(observation("o/a", [snapshot(1, 1)]));
    assert.equal((await world.get("/readyz")).status, 200);
    const other = rawStore(engine);
    await other.db.insertInto("schema_version").values(NEWER).execute();
    for (const [what, write] of Object.entries(WRITES))
      await assert.rejects(
        write(database),
        { name: "DatabaseFault", message: /made by a newer Sidereal/ },
        what,
      );
    assert.deepEqual(
      (await other.db.selectFrom("marks").selectAll().execute()).filter(({ value }) => value === "1"),
      [],
    );
    world.clock.advance(2_000);
    const { status, body } = await world.get("/readyz");
    assert.equal(status, 503);
    assert.match(body.error.message, /made by a newer Sidereal/);
    await other.db.deleteFrom("schema_version").where("version", "=", NEWER.version).execute();
    await other.close();
    assert.equal((await world.get("/readyz")).status, 200);
  });

  test("is not written to by what has waited for the migration", async () => {
    const database = await engine.open();
    const other = rawStore(engine);
    const written: Promise<unknown>[] = [];
    await other.dialect.exclusively(other.db, "migrate", async (tx) => {
      await tx.insertInto("schema_version").values(NEWER).execute();
      written.push(assert.rejects(WRITES["a transaction"]?.(database) ?? Promise.resolve()));
      // It begins to wait.
      for (let i = 0; i < 3; i++) await sql`select 1`.execute(database.read);
    });
    await Promise.all(written);
    await other.close();
  });
});

onBothEngines("An older database", (engine) => {
  test("is refused, and stays as it is, if it is not to be migrated", async () => {
    await engine.open();
    const other = rawStore(engine);
    await other.db.deleteFrom("schema_version").where("version", "=", LATEST_VERSION).execute();
    await assert.rejects(openDatabase({ ...engine.location(), pool: 1, log, upgrades: false }), {
      message: new RegExp(
        `^The database is at version ${LATEST_VERSION - 1}, and this Sidereal needs version`,
      ),
    });
    const { rows } = await sql`select version from schema_version where version >= ${LATEST_VERSION}`.execute(
      other.db,
    );
    assert.deepEqual(rows, []);
    await other.close();
  });
});

onSqlite("A file that is replaced while it is open", (engine) => {
  test("is neither read for lists nor written to", async () => {
    const database = await engine.open();
    const world = await createWorld({ open: async () => database });
    const path = join(engine.location().dataDir, "sidereal.db");
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
    world.clock.advance(2_000);
    for (const path of ["/readyz", "/api/repos"]) assert.equal((await world.get(path)).status, 503, path);
    for (const [what, write] of Object.entries(WRITES))
      await assert.rejects(write(database), { message: /removed or replaced/ }, what);
  });
});
