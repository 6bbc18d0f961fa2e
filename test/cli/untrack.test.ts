import assert from "node:assert/strict";
import { test } from "node:test";
import { openDatabase } from "../../src/database/database.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { CommandWorld } from "../support/command.js";
import { daily, observation } from "../support/world.js";

const world = new CommandWorld();

test("sidereal untrack keeps the history unless it is told twice to delete it, and is in the log of operators", async () => {
  const dataDir = world.newDataDir();
  const log = createLog("silent");
  const database = await openDatabase({ url: undefined, dataDir, pool: 1, log });
  const modules = buildModules(database, { clock: systemClock, log });
  await modules.catalog.record([
    observation("a/one", daily(5, 6, 7)),
    observation("b/two", daily(8), { provider: "FORGE" }),
  ]);
  const { repository } = (await modules.catalog.findByName("GITHUB", "a/one")) ?? {};
  await modules.watchlists.create("Mine", [repository?.id ?? 0]);
  await database.close();
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await world.runHere(dataDir, ["untrack", ...args]);
    return [code, stdout + stderr];
  };

  const kept = "keeps 3 snapshots since 2026-04-28\n";
  assert.deepEqual(await run("https://github.com/A/One/issues/5"), [
    0,
    `github:a/one: was not read; ${kept}`,
  ]);
  const wouldBe =
    "github:a/one: would be deleted for good, with 3 snapshots since 2026-04-28 and its place on 1 watchlist\n";
  assert.deepEqual(await run("github:a/one", "--delete-history"), [
    2,
    `${wouldBe}Nothing is changed without --yes.\n`,
  ]);
  assert.deepEqual(await run("github:a/one", "--delete-history", "--dry-run"), [0, wouldBe]);
  assert.deepEqual(
    await run("github:a/one"),
    [0, `github:a/one: was not read; ${kept}`],
    "it is still there",
  );
  assert.deepEqual(await run("github:a/one", "--delete-history", "--yes", "--json", "--reason", "spam"), [
    0,
    `${JSON.stringify({
      id: String(repository?.id),
      provider: "GITHUB",
      fullName: "a/one",
      wasRead: false,
      snapshots: 3,
      watchlists: 1,
      result: "deleted",
    })}\n`,
  ]);
  assert.equal((await world.runHere(dataDir, ["check"])).code, 0, "a change that says so is no damage");
  assert.deepEqual(await run("github:a/one", "forge:b/two"), [
    1,
    "github:a/one: unknown here\nforge:b/two: was not read; keeps 1 snapshot since 2026-04-30\n",
  ]);
  assert.deepEqual(await run("--yes", "forge:b/two"), [
    2,
    "--yes and --dry-run belong to --delete-history.\n",
  ]);
  assert.deepEqual(await run("react"), [
    2,
    "react: must be forge:owner/name or the address of a repository.\n",
  ]);

  const { stdout } = await world.runHere(dataDir, ["events", "--operators", "--json"]);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const facts = events.map(({ event, detail: { target, reason, undo } }) => [event, target, reason, undo]);
  assert.deepEqual(facts, [
    ["repository_untracked", "forge:b/two", undefined, "sidereal track forge:b/two"],
    ["repository_deleted", "github:a/one", "spam", undefined],
    ["repository_untracked", "github:a/one", undefined, "sidereal track github:a/one"],
    ["repository_untracked", "github:a/one", undefined, "sidereal track github:a/one"],
  ]);
  assert.match(events[0].detail.by, /^cli /);
  const shown = await world.runHere(dataDir, ["events", "--operators"]);
  assert.match(
    shown.stdout,
    /Z {2}cli \S+ {2}Repository deleted; target: github:a\/one, reason: spam, from this machine\n/,
  );
});

test("sidereal untrack refuses to stop reading on a forge that is read as a whole", async () => {
  const dataDir = world.newDataDir();
  const log = createLog("silent");
  const database = await openDatabase({ url: undefined, dataDir, pool: 1, log });
  await buildModules(database, { clock: systemClock, log }).catalog.record([
    observation("a/one", daily(5, 6)),
  ]);
  await database.close();
  const settings = { SIDEREAL_PROVIDERS: "github", SIDEREAL_GITHUB_TOKENS: "ghp_none" };
  const refused = await world.runHere(dataDir, ["untrack", "github:a/one"], settings);
  assert.deepEqual(
    [refused.code, refused.stdout],
    [1, "github:a/one: still tracked: GITHUB is read as a whole, and would be read again\n"],
  );
});
