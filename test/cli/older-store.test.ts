import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { currentVersion, LATEST_VERSION } from "../../src/database/migrate.js";
import { makeOldStore } from "../reliability/support/old-stores.js";
import { openOldStore } from "../reliability/support/open-old-store.js";
import { CommandWorld } from "../support/command.js";
import { freePort } from "../support/ports.js";
import { serve } from "../support/serving.js";

const world = new CommandWorld();

test("an older store is migrated by the service alone; other commands refuse it and change nothing", async () => {
  const dataDir = world.newDataDir();
  assert.equal((await world.runHere(dataDir, ["derive"])).code, 0);
  const store = openOldStore(join(dataDir, "sidereal.db"));
  await makeOldStore(store);
  for (const command of [
    "status",
    "derive",
    "events",
    "export",
    "untrack github:o/r",
    "sessions end --all",
  ]) {
    await assert.rejects(world.runHere(dataDir, command.split(" ")), {
      message: /^The database is at version 17, and this Sidereal needs version \d+\. Start the service/,
    });
    assert.equal(await currentVersion(store.db), 17, command);
  }
  const service = await serve(world, dataDir, { SIDEREAL_PORT: String(await freePort()) });
  await service.stop();
  assert.equal(await currentVersion(store.db), LATEST_VERSION);
  await store.close();
  assert.equal((await world.runHere(dataDir, ["status"])).code, 0);
});
