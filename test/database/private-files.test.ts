import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { readSecret } from "../../src/accounts/secret.js";
import { type Database, openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/lib/log.js";
import { CommandWorld } from "../support/command.js";
import { temporaryFolder } from "../support/imports.js";

describe("With a umask of zero", () => {
  const folder = temporaryFolder();
  const commands = new CommandWorld();
  let umask = 0;
  before(() => {
    umask = process.umask(0);
  });
  after(() => process.umask(umask));
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
  const open = (dataDir: string) =>
    openDatabase({ url: undefined, dataDir, pool: 1, log: createLog("silent") });
  const settings = (dataDir: string) => ({ authSecret: undefined, databaseUrl: undefined, dataDir });
  /** The modes of the files of a running service. */
  const modes = async (dataDir: string, database: Database) => {
    await readSecret({ config: settings(dataDir), database });
    await database.durable.deleteFrom("marks").execute();
    return Object.fromEntries(readdirSync(dataDir).map((name) => [name, modeOf(join(dataDir, name))]));
  };
  const PRIVATE = {
    "auth-secret": "600",
    "sidereal.db": "600",
    "sidereal.db-shm": "600",
    "sidereal.db-wal": "600",
  };

  test("a new data folder and all files in it are the owner's alone", async () => {
    const dataDir = join(folder, "new", "data");
    const database = await open(dataDir);
    assert.deepEqual(await modes(dataDir, database), PRIVATE);
    assert.equal(modeOf(dataDir), "700");
    await database.close();
  });

  test("files in an existing folder that others may read are, too, and it stays as it is", async () => {
    const dataDir = join(folder, "readable");
    mkdirSync(dataDir, { mode: 0o755 });
    const database = await open(dataDir);
    assert.deepEqual(await modes(dataDir, database), PRIVATE);
    assert.equal(modeOf(dataDir), "755");
    await database.close();
  });

  test("files that others could read before lose that", async () => {
    const dataDir = join(folder, "before");
    const earlier = await open(dataDir);
    for (const name of Object.keys(await modes(dataDir, earlier))) chmodSync(join(dataDir, name), 0o644);
    // Another process finds them while the first one has them open.
    const database = await open(dataDir);
    assert.deepEqual(await modes(dataDir, database), PRIVATE);
    await database.close();
    await earlier.close();
  });

  test("a folder in which everybody may write is refused", async () => {
    const dataDir = join(folder, "open");
    mkdirSync(dataDir, { mode: 0o777 });
    await assert.rejects(open(dataDir), /Everybody on this machine may write to the data folder .*open/);
    assert.deepEqual(readdirSync(dataDir), []);
    chmodSync(dataDir, 0o775);
    await (await open(dataDir)).close();
  });

  test("an export is the owner's alone", async () => {
    const file = join(folder, "export.ndjson");
    writeFileSync(`${file}.partial`, "left by a kill", { mode: 0o644 });
    const dataDir = join(folder, "exporting");
    await commands.runHere(dataDir, ["derive"]);
    const { code } = await commands.runHere(dataDir, ["export", file]);
    assert.equal(code, 0);
    assert.equal(modeOf(file), "600");
  });
});
