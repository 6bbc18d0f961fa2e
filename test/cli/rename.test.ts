import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../src/database/database.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { Catalog } from "../../src/repositories/repositories.js";
import { importDay } from "../support/archive.js";
import { CommandWorld } from "../support/command.js";

const world = new CommandWorld();

test("sidereal rename joins two names and parts them, in words and as JSON", async () => {
  const dataDir = world.newDataDir();
  const database = await openDatabase({ url: undefined, dataDir, pool: 1, log: createLog("silent") });
  const catalog = new Catalog(database, systemClock);
  await importDay(catalog, 0, ["o/tool", 1_000]);
  await importDay(catalog, 1, ["n/tool", 1_010]);
  await database.close();
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await world.runHere(dataDir, ["rename", ...args]);
    return [code, stdout + stderr];
  };

  assert.deepEqual(await run("github:o/tool", "github:n/tool"), [
    0,
    "o/tool is now n/tool; 1 snapshots joined\n",
  ]);
  assert.deepEqual(await run("github:o/tool", "github:n/tool"), [
    1,
    "No repository here has the name o/tool now.\n",
  ]);
  assert.deepEqual(await run("--undo", "github:o/tool", "--json"), [
    0,
    '{"provider":"GITHUB","from":"o/tool","to":null,"snapshots":1}\n',
  ]);
  assert.deepEqual(await run("--undo", "github:o/tool"), [1, "o/tool was joined to no other name.\n"]);

  for (const args of [
    ["o/tool", "github:n/tool"],
    ["github:o/tool", "github:n"],
    ["github:o/tool", "gitlab:n/tool"],
    ["github:o/tool"],
    ["--undo", "github:o/tool", "github:n/tool"],
  ])
    assert.deepEqual(await run(...args), [
      2,
      "Give both names of one forge, such as github:owner/old github:owner/new, or with --undo the old one alone.\n",
    ]);
});
