import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { test } from "node:test";
import { followChanges } from "../../src/modules.js";
import { Catalog } from "../../src/repositories/repositories.js";
import { importFiles } from "../../src/transfer/import.js";
import { exportCatalogue } from "../../src/transfer/transfer.js";
import { type ArchiveRow, dayAt, importDay } from "../support/archive.js";
import { type Engine, onBothEngines } from "../support/engines.js";
import { temporaryFolder } from "../support/imports.js";
import { ManualClock } from "../support/manual-clock.js";
import { open, textOf } from "../support/page.js";
import { allSnapshots, snapshotsOf } from "../support/snapshots.js";
import { countStatements } from "../support/statements.js";
import { dumpRows, openCatalog } from "../support/tables.js";
import { createWorld, NOW, observation } from "../support/world.js";

/** A repository that stays, which gives every file a row. */
const stays = (day: number): ArchiveRow => ["o/stays", 9_000 + day, { description: "Stays" }];
const day = (catalog: Catalog, number: number, ...rows: ArchiveRow[]) =>
  importDay(catalog, number, ...rows, stays(number));

async function openArchive(engine: Engine) {
  const { catalog, database } = await openCatalog(engine);
  const idOf = async (name: string) => (await catalog.findByName("GITHUB", name))?.repository.id ?? 0;
  const starsOf = async (name: string) =>
    (await snapshotsOf(database, await idOf(name))).map(({ stars }) => stars);
  const renames = () => database.read.selectFrom("renames").select(["from_id", "to_id"]).execute();
  const dump = async () => {
    const { outdated, ...tables } = await dumpRows(database);
    return { ...tables, renames: await database.read.selectFrom("renames").selectAll().execute() };
  };
  return { catalog, database, idOf, starsOf, renames, dump, join: () => catalog.joinContinuedNames() };
}

/** old/tool is there for two days, then new/tool for two. */
async function openRenamed(engine: Engine) {
  const archive = await openArchive(engine);
  await day(archive.catalog, 0, ["old/tool", 1_000]);
  await day(archive.catalog, 1, ["old/tool", 1_002]);
  await day(archive.catalog, 2, ["new/tool", 1_004]);
  await day(archive.catalog, 3, ["new/tool", 1_006]);
  return archive;
}

onBothEngines("Names of an archive without ids", (engine) => {
  test("are one repository if one ends where the other begins: one history, and the old name leads to it", async () => {
    const { catalog, join, idOf, starsOf } = await openRenamed(engine);
    const present = await idOf("new/tool");
    assert.equal(await join(), 1);
    assert.deepEqual(await starsOf("new/tool"), [1_000, 1_002, 1_004, 1_006]);
    assert.equal(await idOf("old/tool"), present);
    assert.deepEqual(await starsOf("o/stays"), [9_000, 9_001, 9_002, 9_003]);
    assert.deepEqual((await catalog.describeById(present))?.previousNames, [
      { fullName: "old/tool", until: dayAt(1) },
    ]);
  });

  test("are compared once after each new file, and joined once", async () => {
    const { catalog, database, join, dump } = await openRenamed(engine);
    assert.equal(await join(), 1);
    const [before, revision] = [await dump(), await catalog.revision()];
    const counted = countStatements(database);
    assert.equal(await new Catalog(counted.database, new ManualClock(NOW)).joinContinuedNames(), 0);
    assert.equal(counted.statements(), 2);
    assert.deepEqual(await dump(), before);
    assert.equal(await catalog.revision(), revision);
    await day(catalog, 4, ["new/tool", 1_008]);
    assert.equal(await join(), 0);
    assert.notDeepEqual(await dump(), before, "the new file is there");
  });

  test("are joined the same however often the work is killed", async () => {
    const build = async () => {
      const archive = await openRenamed(engine);
      await day(archive.catalog, 4, ["last/tool", 1_008], ["x/other", 50, { description: "Other" }]);
      await day(archive.catalog, 5, ["last/tool", 1_010], ["y/other", 50, { description: "Another" }]);
      return archive;
    };
    const whole = await build();
    assert.equal(await whole.join(), 3);
    const killed = await build();
    for (let most = 0; ; most++) {
      let left = most;
      const ended = await killed.catalog
        .joinContinuedNames((work) =>
          killed.database.dialect.exclusively(killed.database.write, "catalogue", async (tx) => {
            const result = await work(tx);
            if (left-- === 0) throw new Error("killed");
            return result;
          }),
        )
        .then(() => true)
        .catch(() => false);
      if (ended) break;
    }
    assert.deepEqual(await killed.dump(), await whole.dump());
    assert.deepEqual(await killed.starsOf("old/tool"), [1_000, 1_002, 1_004, 1_006, 1_008, 1_010]);
  });

  test("that are joined day by day or after a long import are the same", async () => {
    const files: ArchiveRow[][] = [
      [["old/tool", 1_000]],
      [["old/tool", 1_001]],
      [["new/tool", 1_002]],
      [["new/tool", 1_003]],
      // The old name again.
      [["old/tool", 1_004]],
      [["old/tool", 1_005]],
    ];
    for (const isDaily of [true, false]) {
      const { catalog, join, starsOf } = await openArchive(engine);
      for (const [number, rows] of files.entries()) {
        await day(catalog, number, ...rows);
        if (isDaily) await join();
      }
      await join();
      for (const name of ["old/tool", "new/tool"])
        assert.deepEqual(
          await starsOf(name),
          [1_000, 1_001, 1_002, 1_003, 1_004, 1_005],
          `${name} ${isDaily}`,
        );
    }
  });

  test("that an operator has parted have their own readings again, and are never joined again", async () => {
    const { catalog, database, join, dump, starsOf } = await openRenamed(engine);
    const before = await dump();
    const snapshots = await allSnapshots(database);
    await join();
    assert.equal(await catalog.partRenamed({ provider: "GITHUB", from: "old/tool" }), 2);
    assert.deepEqual(await dump(), before);
    assert.deepEqual(await allSnapshots(database), snapshots);
    await day(catalog, 4, ["new/tool", 1_008]);
    assert.equal(await join(), 0);
    assert.deepEqual(
      [await starsOf("old/tool"), await starsOf("new/tool")],
      [
        [1_000, 1_002],
        [1_004, 1_006, 1_008],
      ],
    );
    // An import of their export keeps them apart.
    const copy = await openArchive(engine);
    const file = `${temporaryFolder()}/all.ndjson`;
    for await (const lines of exportCatalogue(catalog)) appendFileSync(file, lines);
    assert.equal((await importFiles(copy.catalog, [file])).refused, 0);
    assert.equal(await copy.join(), 0);
    assert.deepEqual(await copy.starsOf("old/tool"), [1_000, 1_002]);
    // But for the operator.
    assert.equal(await catalog.joinRenamed({ provider: "GITHUB", from: "old/tool", to: "new/tool" }), 2);
  });

  test("stay apart if there are two candidates, or if the forge has given the old one an id", async () => {
    const { catalog, join, renames } = await openArchive(engine);
    await day(catalog, 0, ["a/tool", 1_000], ["b/id", 500, { providerId: "7", description: "" }]);
    await day(catalog, 1, ["c/tool", 1_000], ["d/tool", 1_001], ["c/id", 500, { description: "" }]);
    assert.equal(await join(), 0);
    assert.deepEqual(await renames(), []);
  });

  test("are still joined when the new one is tracked and has an id", async () => {
    const { catalog, join, starsOf } = await openArchive(engine);
    await day(catalog, 0, ["old/tool", 1_000]);
    await day(catalog, 1, ["new/tool", 1_000, { providerId: "7" }]);
    assert.equal(await join(), 1);
    assert.deepEqual(await starsOf("old/tool"), [1_000, 1_000]);
  });

  test("are not new: neither those that are joined nor those that are unsure", async () => {
    const world = await createWorld(engine);
    const { catalog } = world.modules;
    const names = async () => {
      const { body } = await world.get("/api/repos?sort=new-hot&window=24h");
      return body.data.map(({ fullName }: { fullName: string }) => fullName).toSorted();
    };
    const facts = (description: string) => ({ description });
    for (let number = -10; number <= 5; number++)
      await day(catalog, number, ["old/one", 1_000], ["old/two", 1_000, facts("Two")]);
    for (let number = 6; number <= 8; number++) {
      const gained = 40 * (number - 6);
      await day(
        catalog,
        number,
        ["new/one", 1_000 + gained],
        ["new/two", 1_100 + gained, facts("Two")],
        ["new/three", 900 + gained, facts("Three")],
      );
    }
    await followChanges(world.modules);
    assert.deepEqual(await names(), ["new/three"]);
    const { data } = (await world.get("/api/repos/github/new/two")).body;
    assert.deepEqual(data.previousFullNames, []);
    const known = { facts: { createdAt: dayAt(5) } };
    await world.record(...["one", "two", "three"].map((name) => observation(`new/${name}`, [], known)));
    assert.deepEqual(await names(), ["new/three"], "nor where their creation is known");

    // A file that shows that the old name goes on.
    await day(catalog, 9, ["new/two", 1_220, facts("Two")], ["old/two", 1_001, facts("Two")]);
    await followChanges(world.modules);
    assert.ok((await names()).includes("new/two"));
  });

  test("are shown as one, with the old name as a mark and a redirect", async () => {
    const world = await createWorld(engine);
    const { catalog } = world.modules;
    await day(catalog, 8, ["old/tool", 1_000]);
    await day(catalog, 9, ["new/tool", 1_001]);
    await followChanges(world.modules);
    const { body } = await world.get("/api/repos/github/new/tool");
    assert.deepEqual([body.data.previousFullNames, body.data.trends["24h"].starsDelta], [["old/tool"], 1]);
    const moved = await world.get("/api/repos/github/old/tool");
    assert.deepEqual([moved.status, moved.headers.get("location")], [301, "/api/repos/GITHUB/new/tool"]);
    const page = await open(world, "/repos/github/new/tool");
    assert.match(page.html, /<span class="badge">was old\/tool<\/span>/);
    assert.equal((await open(world, "/repos/github/old/tool")).status, 301);
    assert.ok(!textOf((await open(world, "/explore")).html).includes("old/tool"));
  });
});
