import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../src/database/database.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { CommandWorld } from "../support/command.js";
import { daily, observation } from "../support/world.js";

const world = new CommandWorld();

test("sidereal hide says what it hides, unhide takes exactly that back, and both are logged", async () => {
  const dataDir = world.newDataDir();
  const log = createLog("silent");
  const database = await openDatabase({ url: undefined, dataDir, pool: 1, log });
  await buildModules(database, { clock: systemClock, log }).catalog.record([
    observation("evil/abuse", daily(5, 6)),
    observation("evil/other", daily(7)),
  ]);
  await database.close();
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await world.runHere(dataDir, args);
    return [code, stdout + stderr];
  };
  const hide = (...args: string[]) => run("hide", ...args);

  assert.deepEqual(await hide("github:evil"), [2, "--reason: must be given, in at most 500 characters\n"]);
  assert.deepEqual(await hide("github:*", "--reason", "spam"), [
    2,
    "github:*: must be forge:owner/name, forge:owner or forge:owner/prefix*.\n",
  ]);
  assert.deepEqual(await hide("github:evil", "--reason", "spam", "--for", "soon"), [
    2,
    "--for: must be a number of days such as 30d, at most 3650d\n",
  ]);
  const words =
    "with 2 repositories (evil/other, evil/abuse), on 0 watchlists; undo: sidereal unhide github:evil";
  assert.deepEqual(await hide("github:evil", "--reason", "spam", "--dry-run"), [
    0,
    `github:evil: would be hidden, ${words}\n`,
  ]);
  assert.deepEqual(await hide("--list"), [0, "nothing is hidden\n"]);
  assert.deepEqual(await hide("github:evil", "--reason", "spam", "--yes"), [
    0,
    `github:evil: hidden, ${words}\n`,
  ]);
  assert.deepEqual(await hide("github:Evil", "--reason", "spam", "--yes"), [
    1,
    "github:Evil is hidden already. Take that back first to change it.\n",
  ]);
  await hide("github:evil/ab*", "--reason", "a mail", "--note", "ticket 7", "--for", "30d", "--yes");
  const [, list] = await hide("--list");
  assert.match(
    String(list),
    /^github:evil\/ab\*: 1 hidden since \S+Z until \S+Z by cli \S+: a mail \(ticket 7\)\ngithub:evil: 2 hidden since \S+Z by cli \S+: spam\n$/,
  );
  assert.deepEqual(await run("untrack", "github:evil/abuse", "--delete-history", "--dry-run"), [
    0,
    "github:evil/abuse: would be deleted for good, with 2 snapshots since 2026-04-29\n",
  ]);
  assert.deepEqual(await run("unhide", "github:evil"), [
    0,
    "github:evil: taken back; shown again: 1 repository\n",
  ]);
  assert.deepEqual(await run("unhide", "github:evil/abuse"), [
    1,
    "github:evil/abuse is not hidden by that name: see sidereal hide --list\n",
  ]);
  const [, events] = await run("events", "--operators");
  assert.match(String(events), /Unhidden; target: github:evil, from this machine\n/);
  assert.match(
    String(events),
    /Hidden; target: github:evil, reason: spam, undo: sidereal unhide github:evil, from this machine\n/,
  );
});
