import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { FIRST_VERSION } from "../../src/database/migrate.js";
import { dumpStore, openStore } from "../reliability/support/open-store.js";
import { CommandWorld } from "../support/command.js";

const world = new CommandWorld();

test("a store from before the first version is refused by every command, with what to do, and stays as it is", async () => {
  const dataDir = world.newDataDir();
  assert.equal((await world.runHere(dataDir, ["derive"])).code, 0);
  const store = openStore(join(dataDir, "sidereal.db"));
  // One row per migration: keep the first.
  await store.db.deleteFrom("schema_version").where("version", ">", FIRST_VERSION).execute();
  await store.db
    .updateTable("schema_version")
    .set({ version: FIRST_VERSION - 1 })
    .execute();
  const before = await dumpStore(store);
  const refusal = new RegExp(
    `^The database is at version ${FIRST_VERSION - 1}, .* Export it with the Sidereal that made it`,
  );
  for (const command of ["status", "derive", "events", "export", "untrack github:o/r"]) {
    await assert.rejects(world.runHere(dataDir, command.split(" ")), { message: refusal });
    assert.deepEqual(await dumpStore(store), before, command);
  }
  for (const command of ["serve", "work"]) {
    const { code, stderr } = await world.run(dataDir, [command], { settings: { SIDEREAL_PORT: "0" } });
    assert.notEqual(code, 0, command);
    assert.match(stderr, /needs version \d+ or later\. Export it with the Sidereal that made it/, command);
    assert.deepEqual(await dumpStore(store), before, command);
  }
  await store.close();
});
