import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { sql } from "kysely";
import type { Database } from "../../src/database/database.js";
import { DAY_MS, isoTime } from "../../src/lib/clock.js";
import type { Differing } from "../../src/repositories/repositories.js";
import { type ImportOptions, importFiles } from "../../src/transfer/import.js";
import { CommandWorld } from "../support/command.js";
import { onBothEngines, onSqlite } from "../support/engines.js";
import { csvRow, rankingFile, temporaryFolder } from "../support/imports.js";
import { allSnapshots } from "../support/snapshots.js";
import { createWorld, daily, NOW, observation, snapshotAt, type World } from "../support/world.js";

const folder = temporaryFolder();
let written = 0;

/** Imports a file as an operator does. */
async function importText(world: World, text: string, options: ImportOptions & { name?: string } = {}) {
  const { name = "lines.ndjson", ...others } = options;
  const path = join(folder, `${++written}-${name}`);
  writeFileSync(path, text);
  const { updateDerived } = await import("../../src/modules.js");
  const differing: Differing[] = [];
  const onDiffering = (one: Differing) => differing.push(one);
  const report = await importFiles(world.modules.catalog, [path], { by: "cli ann", onDiffering, ...others });
  await updateDerived(world.modules);
  return { report, differing };
}

async function undo(world: World, id: number | null) {
  const { catalog } = world.modules;
  const plan = await catalog.planUndo(id ?? 0);
  await catalog.undoImport(id ?? 0);
  await world.record();
  const { readings, kept, repositories } = plan;
  return { readings, kept, repositories };
}

const line = (fullName: string, capturedAt: number, stars: number, more: object = {}): string =>
  `${JSON.stringify({ type: "snapshot", provider: "GITHUB", fullName, capturedAt: isoTime(capturedAt), stars, ...more })}\n`;

/** Counts, growth and histories: what people see. */
async function contents(database: Database): Promise<unknown> {
  const rows = async (text: string) => (await sql.raw(text).execute(database.read)).rows;
  return {
    repositories: await rows(
      "select id, stars, forks, counted_at, import_source, availability, refreshed_at, fact_times from repositories order by id",
    ),
    rollups: await rows("select * from rollups order by repository_id, window_hours"),
    hours: await rows("select provider, hour, snapshots from snapshot_hours order by provider, hour"),
    files: await rows("select * from import_files order by source, captured_at, file"),
    snapshots: await allSnapshots(database),
  };
}

async function starsOf(world: World, fullName: string): Promise<number | null | undefined> {
  const dumped = await world.modules.catalog.dump(0, 10_000);
  return dumped.find(({ repository }) => repository.fullName === fullName)?.repository.stars;
}

const AT = NOW - DAY_MS / 2;
const day = Date.UTC(2026, 3, 29);

onBothEngines("Undoing an import", (engine) => {
  test("of one wrong line gives the old numbers everywhere", async () => {
    const world = await createWorld(engine);
    await world.record(observation("facebook/react", daily(100, 110, 120)));
    const before = await contents(world.modules.database);
    const { report } = await importText(world, line("facebook/react", NOW + DAY_MS, 1));
    assert.equal(await starsOf(world, "facebook/react"), 1);
    assert.notDeepEqual(await contents(world.modules.database), before);
    assert.deepEqual(await undo(world, report.importId), { readings: 1, kept: 0, repositories: 0 });
    assert.deepEqual(await contents(world.modules.database), before);
    const { body } = await world.get("/api/repos/1");
    assert.equal(body.data.stars, 120);
  });

  test("takes back counts that a line had without a reading, and repositories that have nothing else", async () => {
    const world = await createWorld(engine);
    await world.record(observation("facebook/react", daily(100, 110, 120)));
    const before = await contents(world.modules.database);
    const refreshedAt = isoTime(NOW + 1_000);
    const repository = (fullName: string) =>
      `${JSON.stringify({ type: "repository", provider: "GITHUB", fullName, refreshedAt, stars: 7, importSource: "github-ranking" })}\n`;
    const { report } = await importText(
      world,
      repository("facebook/react") + repository("new/one") + line("new/two", AT, 3),
    );
    assert.equal(await starsOf(world, "facebook/react"), 7);
    assert.deepEqual(await undo(world, report.importId), { readings: 1, kept: 0, repositories: 2 });
    assert.deepEqual(await contents(world.modules.database), before);
  });

  test("of a day leaves what a later file of that time confirmed, until that is undone too", async () => {
    const world = await createWorld(engine);
    const ranking = rankingFile(
      ...["o/a", "o/b", "o/only"].map((name) => ({ repo_url: `https://github.com/${name}` })),
    );
    const first = await importText(world, ranking, { name: "ranking-2026-04-29.csv" });
    const go = [
      "repo,stars,new-stars-last-24H,language,archived",
      ...["o/a", "o/b"].map((name) => csvRow([name, 100, 1, "Go", "False"])),
      "",
    ].join("\n");
    const second = await importText(world, go, { name: "go-2026-04-29.csv" });
    assert.deepEqual([second.report.snapshotsAdded, second.report.differing], [0, 0]);
    assert.deepEqual(await undo(world, first.report.importId), { readings: 1, kept: 2, repositories: 1 });
    const files = await world.modules.catalog.dumpFiles();
    assert.deepEqual(
      [await starsOf(world, "o/a"), await starsOf(world, "o/only"), files.map(({ source }) => source)],
      [100, undefined, ["awesome-go"]],
    );
    const list = await world.send("POST", "/api/watchlists", { name: "kept", ids: ["1"] });
    assert.equal(list.status, 201);
    assert.deepEqual(await undo(world, second.report.importId), { readings: 2, kept: 0, repositories: 1 });
    assert.equal((await allSnapshots(world.modules.database)).length, 0);
    // It is on a list, so it stays without counts.
    assert.deepEqual([await starsOf(world, "o/a"), await starsOf(world, "o/b")], [null, undefined]);
    await importText(world, ranking, { name: "ranking-2026-04-29.csv" });
    assert.equal(await starsOf(world, "o/a"), 100);
  });

  test("of the first of two that are the same leaves everything, and of both nothing", async () => {
    const world = await createWorld(engine);
    const lines = line("o/a", AT, 5) + line("o/a", AT - DAY_MS, 4);
    const first = await importText(world, lines);
    const again = await importText(world, lines);
    assert.deepEqual(await undo(world, again.report.importId), { readings: 0, kept: 0, repositories: 0 });
    assert.equal(await starsOf(world, "o/a"), 5);
    assert.deepEqual(await undo(world, first.report.importId), { readings: 2, kept: 0, repositories: 1 });
    assert.equal(await starsOf(world, "o/a"), undefined);
    await assert.rejects(
      world.modules.catalog.planUndo(first.report.importId ?? 0),
      /Import 1 was undone at/,
    );
  });

  test("removes the copies of its readings under a later name", async () => {
    const world = await createWorld(engine);
    await importText(world, line("new/tool", AT, 50));
    const wrong = await importText(world, line("old/tool", AT - DAY_MS, 40));
    await world.modules.catalog.joinRenamed({ provider: "GITHUB", from: "old/tool", to: "new/tool" });
    await undo(world, wrong.report.importId);
    const left = await world.modules.catalog.dump(0, 10);
    assert.deepEqual(
      left.flatMap(({ snapshots }) => snapshots.map(({ stars }) => stars)),
      [50],
    );
  });

  test("continues when it was interrupted, and other commands cannot go on with the import", async () => {
    const world = await createWorld(engine);
    const { database, catalog } = world.modules;
    const { id } = await catalog.beginImport("cli ann", ["x"]);
    const run = { id, replaces: false };
    const batch = (at: number) => [observation("o/a", [snapshotAt(at, 1), snapshotAt(at + 1, 2)])];
    for (const at of [day, day + 10, day + 20]) await catalog.recordAll(batch(at), run);
    const { beginUndo, undoPart } = await import("../../src/repositories/undo.js");
    const { dialect, write } = database;
    await dialect.exclusively(write, "catalogue", (tx) => beginUndo(tx, dialect, id, NOW));
    await dialect.exclusively(write, "catalogue", (tx) =>
      undoPart(tx, dialect, { id, before: Number.MAX_SAFE_INTEGER, now: NOW }),
    );
    assert.equal((await allSnapshots(database)).length, 4);
    await assert.rejects(catalog.recordAll(batch(day + 30), run), /being undone by another command/);
    assert.deepEqual(await undo(world, id), { readings: 4, kept: 0, repositories: 1 });
    assert.equal((await allSnapshots(database)).length, 0);
  });
});

onBothEngines("An import of another value for the same time", (engine) => {
  test("is reported and kept out, takes effect with --replace, and never replaces a reading of a forge", async () => {
    const world = await createWorld(engine);
    await world.record(observation("o/b", [snapshotAt(AT, 9, { source: "OBSERVED" })]));
    await importText(world, line("o/a", AT - DAY_MS, 240) + line("o/a", AT, 1));
    const right = line("o/a", AT - DAY_MS, 240) + line("o/a", AT, 250) + line("o/b", AT, 10);
    const kept = await importText(world, right);
    const facts = ({ fullName, stars, storedStars, isOfForge, isReplaced }: Differing) =>
      [fullName, stars, storedStars, isOfForge, isReplaced] as const;
    assert.deepEqual(kept.differing.map(facts), [
      ["o/a", 250, 1, false, false],
      ["o/b", 10, 9, true, false],
    ]);
    assert.equal(await starsOf(world, "o/a"), 1);
    const replaced = await importText(world, right, { replaces: true });
    assert.deepEqual(replaced.differing.map(facts), [
      ["o/a", 250, 1, false, true],
      ["o/b", 10, 9, true, false],
    ]);
    assert.deepEqual([replaced.report.differing, replaced.report.replaced], [2, 1]);
    assert.deepEqual([await starsOf(world, "o/a"), await starsOf(world, "o/b")], [250, 9]);
    assert.deepEqual(
      (await allSnapshots(world.modules.database)).map(({ stars }) => stars),
      [9, 240, 250],
    );
    // What it replaced is not what it added.
    assert.deepEqual(await undo(world, replaced.report.importId), { readings: 0, kept: 0, repositories: 0 });
    assert.equal(await starsOf(world, "o/a"), 250);
  });
});

onBothEngines("A dry run", (engine) => {
  test("imports into a copy of the store, which it leaves as it is", async () => {
    const world = await createWorld(engine);
    await world.record(observation("o/a", [snapshotAt(AT, 9)]));
    const { database } = world.modules;
    const before = await contents(database);
    const path = join(folder, "dry.ndjson");
    writeFileSync(path, line("o/a", AT, 10) + line("o/b", AT, 1));
    const { url, dataDir } = engine.location();
    const commands = new CommandWorld();
    const settings: Record<string, string> = url === undefined ? {} : { SIDEREAL_DATABASE_URL: url };
    const args = ["import", "--dry-run", "--json", "--replace", path];
    const { code, stdout } = await commands.runHere(dataDir, args, settings);
    const { snapshotsAdded, repositoriesAdded, differing, replaced } = JSON.parse(stdout);
    assert.deepEqual([code, snapshotsAdded, repositoriesAdded, differing, replaced], [0, 1, 1, 1, 1]);
    assert.deepEqual(await contents(database), before);
    assert.deepEqual(await world.modules.catalog.listImports(), []);
  });
});

onSqlite("A long import", (engine) => {
  test("of more than 100,000 readings is undone as a whole, by a list of two bytes a reading", async () => {
    const world = await createWorld(engine);
    const names = Array.from({ length: 1_010 }, (_, i) => `o/r${i}`);
    const lines = Array.from({ length: 100 }, (_, i) => {
      const entries = names.map((name, j) => [name, null, 100 * j + i, null, null, null]);
      const capturedAt = isoTime(day - i * DAY_MS);
      return `${JSON.stringify({ type: "readings", provider: "GITHUB", source: "IMPORTED", capturedAt, entries })}\n`;
    });
    const { report } = await importText(world, lines.join(""));
    const { rows } = await sql<{
      bytes: number;
    }>`select sum(length(data)) as bytes from import_lists`.execute(world.modules.database.read);
    assert.ok(Number(rows[0]?.bytes) < 202_000, `${rows[0]?.bytes} bytes`);
    assert.deepEqual(await undo(world, report.importId), { readings: 101_000, kept: 0, repositories: 1_010 });
    assert.deepEqual(await world.modules.catalog.dump(0, 1), []);
  });

  test("is too old to be undone after 30 days, and says so before anything is done", async () => {
    const world = await createWorld(engine);
    const { report } = await importText(world, line("o/a", AT, 5));
    world.clock.advance(30 * DAY_MS);
    await assert.rejects(
      world.modules.catalog.planUndo(report.importId ?? 0),
      /kept for 30 days: restore a backup from before 2026-04-30/,
    );
    const { pruneImportLists } = await import("../../src/repositories/repositories.js");
    assert.equal(await pruneImportLists(world.modules.database, world.clock.now()), 1);
    assert.equal((await world.modules.catalog.listImports()).length, 1);
  });
});

describe("The list of an import", () => {
  test("is read back as it was written", async () => {
    const { addListed, partOf } = await import("../../src/repositories/imports.js");
    const list = new Map([
      [7, new Map([[day, 1]])],
      [
        3,
        new Map([
          [day + 1, 4],
          [day, 0],
        ]),
      ],
    ]);
    const read = new Map();
    addListed(read, partOf(list));
    assert.deepEqual(read, list);
  });
});
