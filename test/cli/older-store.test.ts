import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { FIRST_VERSION, LATEST_VERSION, migrateIn } from "../../src/database/migrate.js";
import { systemClock } from "../../src/lib/clock.js";
import { noteBackup } from "../../src/transfer/transfer.js";
import { dumpStore, openStore } from "../reliability/support/open-store.js";
import { CommandWorld } from "../support/command.js";
import { onBothEngines } from "../support/engines.js";
import { emptyPlace, settingsOf } from "../support/stores.js";

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

onBothEngines("A store of the first version", (engine) => {
  test("is migrated by a command of its own, which says before what it will do, and changes nothing then", async () => {
    const place = await emptyPlace(engine);
    const store = openStore(place.url ?? join(place.dataDir, "sidereal.db"));
    await store.dialect.exclusively(store.db, "migrate", (tx) =>
      migrateIn(tx, store.dialect, { clock: systemClock, to: FIRST_VERSION }),
    );
    const dataDir = place.url === undefined ? place.dataDir : world.newDataDir();
    const run = (...args: string[]) => world.runHere(dataDir, args, settingsOf(place));
    const before = await dumpStore(store);
    await assert.rejects(run("status"), { message: /Run "sidereal migrate", or use the Sidereal/ });
    const checked = await run("migrate", "--check");
    assert.equal(checked.code, 4);
    assert.match(
      checked.stdout,
      new RegExp(`at version ${FIRST_VERSION}\\. .* to version ${LATEST_VERSION}`),
    );
    assert.match(checked.stdout, /^ {2}39: days of growth\n {2}40: hidden repositories\n/m);
    assert.match(checked.stdout, /^No backup was taken on this machine/m);
    await noteBackup(dataDir, { takenAt: Date.UTC(2026, 3, 30), fileBytes: 1 });
    assert.match((await run("migrate", "--check")).stdout, /is of 2026-04-30T00:00:00/);
    assert.deepEqual(await dumpStore(store), before);
    const migrated = await run("migrate", "--json");
    assert.equal(migrated.code, 0);
    const { version, needed, migrated: isDone } = JSON.parse(migrated.stdout);
    assert.deepEqual([version, needed, isDone], [FIRST_VERSION, LATEST_VERSION, true]);
    for (const flags of [[], ["--check"]]) {
      const again = await run("migrate", ...flags);
      assert.deepEqual(
        [again.code, again.stdout],
        [0, `The database is at version ${LATEST_VERSION}, which this Sidereal needs.\n`],
      );
    }
    await store.close();
  });
});
