import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { before, describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { DAY_MS, isoTime } from "../../src/lib/clock.js";
import { CommandWorld, type Running } from "../support/command.js";
import { rankingFile } from "../support/imports.js";

/** Two transactions' worth of rows. */
const REPOSITORIES = 1_050;
const DAYS = 100;
const FIRST_DAY = Date.UTC(2026, 0, 1);
const POLL_MS = 3;

const world = new CommandWorld();

/** One number from the database that another process writes; undefined as long as it has no such table. */
function look(dataDir: string, query: string): number | undefined {
  const path = join(dataDir, "sidereal.db");
  if (!existsSync(path)) return undefined;
  const database = new DatabaseSync(path, { readOnly: true, timeout: 1_000 });
  try {
    return Number(Object.values(database.prepare(query).get() ?? {})[0]);
  } catch {
    return undefined;
  } finally {
    database.close();
  }
}

/** Everything that is derived from the snapshots. */
function derived(dataDir: string): unknown[] {
  const database = new DatabaseSync(join(dataDir, "sidereal.db"), { readOnly: true });
  try {
    return ["rollups order by repository_id, window_hours", "outdated"].map((rows) =>
      database.prepare(`select * from ${rows}`).all(),
    );
  } finally {
    database.close();
  }
}

/** Kills the process as soon as a look into its database shows enough. */
async function killWhen({ process: child, ended }: Running, isReached: () => boolean): Promise<void> {
  while (child.exitCode === null && !isReached()) await setTimeout(POLL_MS);
  child.kill("SIGKILL");
  const { signal, code, stderr } = await ended;
  // What follows the last transaction takes so little time that it may be over.
  assert.ok(signal === "SIGKILL" || code === 0, stderr);
}

describe("An import that is killed", () => {
  let files: string[] = [];
  let cleanDir = "";
  let clean = "";

  before(async () => {
    files = Array.from({ length: DAYS }, (_, day) => {
      const name = `ranking-${isoTime(FIRST_DAY + day * DAY_MS).slice(0, 10)}.csv`;
      const rows = Array.from({ length: REPOSITORIES }, (_, i) => ({
        repo_url: `https://github.com/owner${i % 50}/${day % 2 === 0 ? "Repository" : "repository"}-${i}`,
        stars: String(i * 10 + day * (i % 7)),
        language: i % 3 === 0 ? "Go" : "Rust",
      }));
      const path = join(world.folder, name);
      writeFileSync(path, rankingFile(...rows));
      return path;
    });
    cleanDir = world.newDataDir();
    const { code, stderr } = await world.run(cleanDir, ["import", ...files]);
    assert.equal(code, 0, stderr);
    clean = (await world.runHere(cleanDir, ["export"])).stdout;
    assert.equal(clean.split('"type":"snapshot"').length - 1, REPOSITORIES * DAYS);
  });

  const snapshots = "select coalesce(sum(snapshots), 0) from snapshot_hours";
  const moments: [string, string, number][] = [
    ["as soon as there are tables", "select count(*) from revision", 1],
    ["after its first transaction", snapshots, 1],
    ["when all is recorded and growth is being worked out", snapshots, REPOSITORIES * DAYS],
  ];

  /** Runs the same import again, and holds everything against one that was not disturbed. */
  const finish = async (dataDir: string) => {
    const { code, stderr } = await world.run(dataDir, ["import", ...files]);
    assert.equal(code, 0, stderr);
    assert.ok(
      (await world.runHere(dataDir, ["export"])).stdout === clean,
      "the exports are the same, byte for byte",
    );
    assert.deepEqual(derived(dataDir), derived(cleanDir));
  };

  test(`${moments.map(([moment]) => moment).join(", ")}, one run after the other, ends like a clean one`, async () => {
    const dataDir = world.newDataDir();
    for (const [, query, least] of moments)
      await killWhen(world.start(dataDir, ["import", ...files]), () => (look(dataDir, query) ?? 0) >= least);
    await finish(dataDir);
  });

  test("while it is undone, is undone as a whole by the next run", async () => {
    const dataDir = world.newDataDir();
    const kept = files.slice(0, 30);
    for (const some of [kept, files.slice(30)])
      assert.equal((await world.run(dataDir, ["import", ...some])).code, 0);
    const [undo, all] = [["import", "--undo", "2", "--yes"], look(dataDir, snapshots) ?? 0];
    await killWhen(world.start(dataDir, undo), () => (look(dataDir, snapshots) ?? all) < all);
    const state = (await world.runHere(dataDir, ["import", "--list", "--json"])).stdout.split("\n")[0] ?? "";
    assert.match(JSON.parse(state).state, /^(partly )?undone$/);
    const { code, stderr } = await world.run(dataDir, undo);
    assert.ok(code === 0 || /Import 2 was undone/.test(stderr), stderr);
    const other = world.newDataDir();
    assert.equal((await world.run(other, ["import", ...kept])).code, 0);
    const texts = await Promise.all([dataDir, other].map((dir) => world.runHere(dir, ["export"])));
    // Facts other than counts keep the time of the import that was undone.
    const [undone, clean] = texts.map(({ stdout }) =>
      stdout.replaceAll(/"(refreshedAt|factTimes)":("[^"]*"|\{[^}]*\}),?/g, ""),
    );
    assert.equal(undone, clean);
    assert.deepEqual(derived(dataDir), derived(other));
  });
});
