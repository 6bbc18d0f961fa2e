import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Endings } from "../../src/repositories/renames/match.js";
import { Catalog } from "../../src/repositories/repositories.js";
import type { Facts } from "../../src/repositories/repository.js";
import { importFiles } from "../../src/transfer/import.js";
import { exportCatalogue } from "../../src/transfer/transfer.js";
import { type ArchiveFile, importArchive, recordArchive, row, storedRenames } from "../support/archive.js";
import { onBothEngines } from "../support/engines.js";
import { temporaryFolder } from "../support/imports.js";
import { ManualClock } from "../support/manual-clock.js";
import { dumpTables, openCatalog } from "../support/tables.js";
import { NOW } from "../support/world.js";

const text: Facts = { description: "A tool that does many things" };
const others = (day: number) =>
  Array.from({ length: 5 }, (_, i) => row(`other/stays-${i}`, 5_000 + i * 999 + day));

/** Files of consecutive days; `names` says for each day which rows there are beside those that stay. */
const files = (...days: ReturnType<typeof row>[][]): ArchiveFile[] =>
  days.map((rows, day) => ({ day, rows: [...others(day), ...rows] }));

onBothEngines("A suspected rename", (engine) => {
  const opened = async () => {
    const { catalog, database } = await openCatalog(engine);
    const availabilityOf = async (fullName: string) =>
      (await catalog.findByName("GITHUB", fullName))?.repository.availability;
    return { catalog, database, availabilityOf };
  };

  const suspects = (name: string, given: ArchiveFile[], expected: string[]) =>
    test(name, async () => {
      const world = await opened();
      const report = await importArchive(world, given);
      assert.deepEqual(await storedRenames(world), expected);
      assert.deepEqual(report, { suspected: expected.length, withdrawn: 0 });
      // Day by day it is the same.
      const daily = await opened();
      for (const file of given) await importArchive(daily, [file]);
      assert.deepEqual(await storedRenames(daily), expected);
    });

  suspects(
    "follows from the same description, with counts that continue",
    files([row("o/old", 1_000, text)], [row("n/other", 1_010, text)], [row("n/other", 1_020, text)]),
    ["o/old → n/other SUSPECTED"],
  );
  suspects(
    "follows from the same name under another owner",
    files([row("o/tool", 1_000)], [row("n/Tool", 1_010)], [row("n/Tool", 1_020)]),
    ["o/tool → n/Tool SUSPECTED"],
  );
  suspects(
    "follows from a similar name of the same owner",
    files([row("o/tool-macos", 1_000)], [row("o/tool", 1_010)], [row("o/tool", 1_020)]),
    ["o/tool-macos → o/tool SUSPECTED"],
  );
  suspects(
    "goes on from name to name",
    files([row("o/a-tool", 1_000, text)], [row("o/b-tool", 1_010, text)], [row("n/b-tool", 1_020, text)]),
    ["o/a-tool → o/b-tool SUSPECTED", "o/b-tool → n/b-tool SUSPECTED"],
  );
  suspects(
    "is seen in a file that has both names, as it was renamed while the lists were fetched",
    files(
      [row("o/tool", 1_000, text)],
      [row("o/tool", 1_010, text), row("n/tool", 1_011, text)],
      [row("n/tool", 1_020, text)],
    ),
    ["o/tool → n/tool SUSPECTED"],
  );
  suspects(
    "bridges a few files in which neither name is",
    files([row("o/tool", 1_000, text)], [], [], [row("n/tool", 1_010, text)]),
    ["o/tool → n/tool SUSPECTED"],
  );
  suspects(
    "does not bridge more",
    files([row("o/tool", 1_000, text)], [], [], [], [], [row("n/tool", 1_010, text)]),
    [],
  );
  suspects(
    "needs counts that continue",
    files([row("o/tool", 1_000, text)], [row("n/tool", 1_200, text)], [row("n/tool", 1_210, text)]),
    [],
  );
  suspects(
    "needs forks that continue, where both are known",
    files([row("o/tool", 1_000, text, 900)], [row("n/tool", 1_001, text, 90)], []),
    [],
  );
  suspects(
    "needs more than counts that continue",
    files([row("o/tool", 1_000)], [row("n/other", 1_000)], [row("n/other", 1_000)]),
    [],
  );
  suspects(
    "of few stars needs a description and a name alike",
    files(
      [row("o/tool", 20), row("o/small", 21, { description: "Another tool for small things" })],
      [row("n/tool", 20), row("n/small", 21, { description: "Another tool for small things" })],
      [],
    ),
    ["o/small → n/small SUSPECTED"],
  );
  suspects(
    "is none where two names fit equally well",
    files(
      [row("o/tool", 1_000, text)],
      [row("n/tool", 1_001, text), row("m/tool", 1_002, text)],
      [row("n/tool", 1_001, text), row("m/tool", 1_002, text)],
    ),
    [],
  );
  suspects(
    "is the one with most in common where several fit",
    files(
      [row("o/tool", 1_000, text), row("o/tool-2", 1_001, text)],
      [row("n/tool", 1_001, text), row("n/tool-2", 1_001, text)],
      [],
    ),
    ["o/tool → n/tool SUSPECTED", "o/tool-2 → n/tool-2 SUSPECTED"],
  );
  suspects(
    "shows as a return where a name was given up for a short time",
    files(
      [row("o/tool", 1_000, text)],
      [row("o/o-tool", 1_001, text)],
      [row("o/tool", 1_002, text)],
      [row("o/tool", 1_003, text)],
    ),
    ["o/o-tool → o/tool SUSPECTED"],
  );
  suspects(
    "is none between letter cases of one name",
    files([row("o/tool", 1_000, text)], [row("O/Tool", 1_001, text)], []),
    [],
  );

  test("takes the earlier name from all lists, and keeps both repositories apart", async () => {
    const world = await opened();
    await importArchive(world, files([row("o/tool", 1_000, text)], [row("n/tool", 1_010, text)], []));
    assert.deepEqual(
      [await world.availabilityOf("o/tool"), await world.availabilityOf("n/tool")],
      ["RENAMED", "AVAILABLE"],
    );
    const found = await world.catalog.findByName("GITHUB", "o/tool");
    assert.deepEqual([found?.isPreviousName, found?.repository.stars], [false, 1_000]);
  });

  test("is withdrawn when both names are in a newer file, and is not suspected again", async () => {
    const world = await opened();
    const given = files([row("o/tool", 1_000, text)], [row("n/tool", 1_010, text)]);
    await importArchive(world, given);
    assert.equal(await world.availabilityOf("o/tool"), "RENAMED");
    const newer = [...others(2), row("o/tool", 1_001, text), row("n/tool", 1_020, text)];
    assert.deepEqual(await importArchive(world, [{ day: 2, rows: newer }]), { suspected: 0, withdrawn: 1 });
    assert.deepEqual(await storedRenames(world), []);
    assert.equal(await world.availabilityOf("o/tool"), "AVAILABLE");
    await importArchive(world, [...given, { day: 3, rows: [...others(3), row("n/tool", 1_030, text)] }]);
    assert.deepEqual(await storedRenames(world), []);
  });

  test("is withdrawn when an older file shows that both were there together", async () => {
    const world = await opened();
    const [first, second, third, last] = files(
      [row("o/tool", 1_000, text)],
      [row("o/tool", 1_001, text), row("n/tool", 1_010, text)],
      [row("o/tool", 1_002, text), row("n/tool", 1_011, text)],
      [row("n/tool", 1_012, text)],
    ) as [ArchiveFile, ArchiveFile, ArchiveFile, ArchiveFile];
    await importArchive(world, [first, third, last]);
    assert.deepEqual(await storedRenames(world), ["o/tool → n/tool SUSPECTED"]);
    await importArchive(world, [second]);
    assert.deepEqual(await storedRenames(world), []);
    assert.equal(await world.availabilityOf("o/tool"), "AVAILABLE");
  });

  test("does not depend on the order of files, and an import of known files changes nothing", async () => {
    const given = files(
      [row("o/tool", 1_000, text), row("o/core", 300)],
      [row("o/tool", 1_005, text), row("o/core", 301)],
      [row("n/tool", 1_010, text), row("o/core-engine", 303)],
      [row("n/tool", 1_012, text), row("o/core-engine", 305)],
    );
    const expected = ["o/core → o/core-engine SUSPECTED", "o/tool → n/tool SUSPECTED"];
    for (const order of [
      [3, 0, 2, 1],
      [1, 2, 3, 0],
      [2, 1, 0, 3],
    ]) {
      const world = await opened();
      for (const index of order) await importArchive(world, [given[index] ?? { day: 0, rows: [] }]);
      assert.deepEqual(await storedRenames(world), expected, order.join());
      const before = await dumpTables(world.database);
      assert.deepEqual(await importArchive(world, given), { suspected: 0, withdrawn: 0 });
      assert.deepEqual(await dumpTables(world.database), before);
    }
  });

  test("does not follow from a file that is cut off", async () => {
    const world = await opened();
    const given = files([row("o/tool", 1_000, text)], [], [row("o/tool", 1_004, text)]);
    await importArchive(
      world,
      given.map((file) => ({ ...file, isDamaged: file.day === 1 })),
    );
    assert.deepEqual(await storedRenames(world), []);
  });

  test("is found again in an export", async () => {
    const world = await opened();
    await importArchive(
      world,
      files([row("o/tool", 1_000, text)], [row("n/tool", 1_010, text)], [row("n/tool", 1_020, text)]),
    );
    const path = join(temporaryFolder(), "export.ndjson");
    let lines = "";
    for await (const part of exportCatalogue(world.catalog)) lines += part;
    writeFileSync(path, lines);
    const other = await opened();
    await importFiles(other.catalog, [path]);
    assert.deepEqual(await other.catalog.detectRenames(), { suspected: 1, withdrawn: 0 });
    assert.deepEqual(await storedRenames(other), ["o/tool → n/tool SUSPECTED"]);
    assert.equal(await other.availabilityOf("o/tool"), "RENAMED");
  });

  test("is found by the next detection, whenever one was interrupted", async () => {
    const given = files(
      [row("o/a-tool", 1_000, text)],
      [row("o/b-tool", 1_010, text)],
      [row("n/b-tool", 1_020, text)],
    );
    for (const failing of [1, 2, 3, 4, 5]) {
      const world = await opened();
      const { dialect } = world.database;
      let calls = 0;
      const interrupted: typeof dialect = Object.create(dialect, {
        exclusively: {
          value: (...parameters: Parameters<typeof dialect.exclusively>) =>
            ++calls === failing
              ? Promise.reject(new Error("interrupted"))
              : dialect.exclusively(...parameters),
        },
      });
      const catalog = new Catalog({ ...world.database, dialect: interrupted }, new ManualClock(NOW));
      await recordArchive(world, given);
      await assert.rejects(catalog.detectRenames(), /interrupted/);
      await world.catalog.detectRenames();
      assert.deepEqual(
        await storedRenames(world),
        ["o/a-tool → o/b-tool SUSPECTED", "o/b-tool → n/b-tool SUSPECTED"],
        String(failing),
      );
    }
  });

  test("is none for a repository whose id a forge has reported", async () => {
    const world = await opened();
    const [first, ...rest] = files([row("o/tool", 1_000, text)], [row("n/tool", 1_010, text)], []);
    await importArchive(world, [first ?? { day: 0, rows: [] }]);
    await world.database.write
      .updateTable("repositories")
      .set({ provider_id: "1" })
      .where("name", "=", "tool")
      .execute();
    await importArchive(world, rest);
    assert.deepEqual(await storedRenames(world), []);
  });

  test("is none between thousands of names with the same owner, description and counts", async () => {
    const world = await opened();
    const many = (day: number) => Array.from({ length: 3_000 }, (_, i) => row(`o/x${day}-${i}`, 1_000, text));
    await importArchive(world, files(many(0), many(1), []));
    assert.deepEqual(await storedRenames(world), []);
  });
});

test("A name is compared with a bounded number of others, those with the nearest counts", () => {
  const described = { owner: "o", description: "A tool that does many things", language: "Go" };
  const endings = new Endings(
    Array.from({ length: 10_000 }, (_, i) => ({
      ...described,
      id: i + 1,
      name: `x${i}`,
      firstAt: 0,
      last: { at: 1, stars: 2 * i, forks: null },
    })),
  );
  const beginning = { ...described, id: 10_001, name: "y", first: { at: 2, stars: 5_001, forks: null } };
  const stars = endings.candidatesOf(beginning).map(({ from }) => from.last.stars);
  assert.equal(stars.length, 20);
  assert.deepEqual([Math.min(...stars), Math.max(...stars)], [4_982, 5_020]);
});
