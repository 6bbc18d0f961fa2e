import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { Facts } from "../../src/repositories/repository.js";
import { type ArchiveFile, dayAt, importArchive, row, storedRenames } from "../support/archive.js";
import { onBothEngines } from "../support/engines.js";
import { dumpTables, openCatalog } from "../support/tables.js";
import { snapshotAt } from "../support/world.js";

const text: Facts = { description: "A tool that does many things" };

/** o/a is there for two days, n/b for three, then m/c; o/stays every day. */
const chain: ArchiveFile[] = [
  ["o/a-tool", 1_000],
  ["o/a-tool", 1_010],
  ["n/b-tool", 1_020],
  ["n/b-tool", 1_030],
  ["n/b-tool", 1_040],
  ["m/c-tool", 1_050],
  ["m/c-tool", 1_060],
].map(([name, stars], day) => ({
  day,
  rows: [row("o/stays", 9_000 + day), row(String(name), Number(stars), text)],
}));

onBothEngines("A decided rename", (engine) => {
  const opened = async (files: readonly ArchiveFile[] = chain) => {
    const world = await openCatalog(engine);
    await importArchive(world, files);
    const { catalog, database } = world;
    const idOf = async (from: string) => {
      const all = await catalog.renames({ after: 0, limit: 100 });
      return all.find((rename) => rename.from.fullName === from)?.id ?? 0;
    };
    const starsOf = async (id: number) => (await catalog.series(id, 0)).points.map(({ stars }) => stars);
    const found = async (fullName: string) => {
      const result = await catalog.findByName("GITHUB", fullName);
      return result && `${result.repository.fullName}${result.isPreviousName ? " (previous)" : ""}`;
    };
    const repository = async (fullName: string) => {
      const result = await catalog.findByName("GITHUB", fullName);
      assert.ok(result);
      return result.repository;
    };
    /** Everything stored, without what only says that something must be derived again. */
    const dump = async () => {
      const { outdated, revision, ...tables } = await dumpTables(database);
      const { rows } = await sql<object>`select from_id, to_id, status, evidence, joined_before from renames
        order by from_id, to_id`.execute(database.read);
      return { ...tables, renames: rows.map((one) => ({ ...one })) };
    };
    return { ...world, idOf, starsOf, found, repository, dump };
  };

  test("that is accepted joins the history, and the earlier name leads to the later one", async () => {
    const { catalog, idOf, starsOf, found, repository } = await opened();
    const a = await repository("o/a-tool");
    const b = await repository("n/b-tool");
    assert.equal(await catalog.decideRename(await idOf("o/a-tool"), "accept"), true);
    assert.deepEqual(await starsOf(b.id), [1_000, 1_010, 1_020, 1_030, 1_040]);
    assert.deepEqual(await starsOf(a.id), [1_000, 1_010]);
    assert.equal(await found("o/A-Tool"), "n/b-tool (previous)");
    assert.equal((await catalog.get(a.id)).availability, "RENAMED");
    const described = await catalog.describe("GITHUB", "n/b-tool");
    assert.deepEqual(described?.isPreviousName === false && described.previousNames, [
      { fullName: "o/a-tool", until: dayAt(1) },
    ]);
  });

  test("marks what follows from it, for both names and those after them", async () => {
    const { catalog, database, idOf, repository } = await opened();
    const ids = await Promise.all(
      ["o/a-tool", "n/b-tool", "m/c-tool"].map(async (name) => (await repository(name)).id),
    );
    await database.write.deleteFrom("outdated").execute();
    const revision = await catalog.revision();
    await catalog.decideRename(await idOf("o/a-tool"), "reject");
    const marks = await database.read
      .selectFrom("outdated")
      .selectAll()
      .where("kind", "<>", "tails")
      .execute();
    const marked = (kind: string) =>
      marks
        .filter((mark) => mark.kind === kind)
        .map((mark) => mark.repository_id)
        .sort();
    assert.deepEqual(marked("rollups"), ids.toSorted());
    assert.deepEqual(marked("words"), [ids[0]]);
    assert.ok((await catalog.revision()) > revision);
  });

  for (const order of [
    ["o/a-tool", "n/b-tool"],
    ["n/b-tool", "o/a-tool"],
  ] as const)
    test(`of a chain joins all of it, ${order.join(" first, then ")}`, async () => {
      const { catalog, idOf, starsOf, found, repository, dump } = await opened();
      const c = await repository("m/c-tool");
      const before = await dump();
      for (const name of order) await catalog.decideRename(await idOf(name), "accept");
      assert.deepEqual(await starsOf(c.id), [1_000, 1_010, 1_020, 1_030, 1_040, 1_050, 1_060]);
      assert.equal(await found("n/b-tool"), "m/c-tool (previous)");
      assert.equal(await found("o/a-tool"), "m/c-tool (previous)");
      for (const name of order) await catalog.decideRename(await idOf(name), "undo");
      assert.deepEqual(await dump(), before);
    });

  test("that is accepted and undone leaves everything as it was, also snapshots that came later", async () => {
    const { catalog, idOf, dump, ...world } = await opened();
    const id = await idOf("o/a-tool");
    const before = await dump();
    await catalog.decideRename(id, "accept");
    assert.notDeepEqual(await dump(), before);
    await catalog.decideRename(id, "undo");
    assert.deepEqual(await dump(), before);

    const later: ArchiveFile[] = [{ day: 7, rows: [row("o/stays", 1), row("m/c-tool", 1_070, text)] }];
    await catalog.decideRename(id, "accept");
    await importArchive({ catalog, ...world }, later);
    await catalog.decideRename(id, "undo");
    const other = await opened();
    await importArchive(other, later);
    assert.deepEqual(await dump(), await other.dump());
  });

  test("that is accepted takes known files without a change, and late ones into its history", async () => {
    const [first, ...rest] = chain;
    const { catalog, database, idOf, starsOf, repository, dump } = await opened(rest);
    const b = await repository("n/b-tool");
    await catalog.decideRename(await idOf("o/a-tool"), "accept");
    const before = await dump();
    assert.deepEqual(await importArchive({ catalog, database }, rest), { suspected: 0, withdrawn: 0 });
    assert.deepEqual(await dump(), before);
    await importArchive({ catalog, database }, first === undefined ? [] : [first]);
    assert.deepEqual(await starsOf(b.id), [1_000, 1_010, 1_020, 1_030, 1_040]);
  });

  test("that is rejected lists both names, and stays rejected with newer files", async () => {
    const { catalog, database, idOf, repository, dump } = await opened();
    const before = await dump();
    const id = await idOf("o/a-tool");
    await catalog.decideRename(id, "reject");
    assert.equal((await repository("o/a-tool")).availability, "AVAILABLE");
    await importArchive({ catalog, database }, chain);
    assert.ok((await storedRenames({ database })).includes("o/a-tool → n/b-tool REJECTED"));
    await catalog.decideRename(id, "undo");
    assert.deepEqual(await dump(), before);
  });

  test("can be decided again without a change, and the other way", async () => {
    const { catalog, idOf, dump } = await opened();
    const id = await idOf("o/a-tool");
    assert.equal(await catalog.decideRename(id, "undo"), false);
    for (const decision of ["accept", "reject"] as const) {
      assert.equal(await catalog.decideRename(id, decision), true);
      const decided = await dump();
      assert.equal(await catalog.decideRename(id, decision), false);
      assert.deepEqual(await dump(), decided);
    }
    await catalog.decideRename(id, "undo");
    await assert.rejects(catalog.decideRename(999, "accept"), { code: "NOT_FOUND" });
  });

  test("is refused when the earlier name was seen again", async () => {
    const { catalog, database, idOf } = await opened();
    const id = await idOf("o/a-tool");
    await catalog.decideRename(id, "reject");
    await importArchive({ catalog, database }, [{ day: 8, rows: [row("o/a-tool", 1_011, text)] }]);
    for (const decision of ["accept", "undo"] as const)
      await assert.rejects(catalog.decideRename(id, decision), { code: "CONFLICT" });
  });

  test("that is undone leaves a name to the repository that has it by now", async () => {
    const { catalog, database, idOf, found, repository } = await opened();
    const a = await repository("o/a-tool");
    const id = await idOf("o/a-tool");
    await catalog.decideRename(id, "accept");
    await importArchive({ catalog, database }, [{ day: 8, rows: [row("o/a-tool", 3)] }]);
    const other = await repository("o/a-tool");
    assert.notEqual(other.id, a.id);
    await catalog.decideRename(id, "undo");
    assert.equal((await repository("o/a-tool")).id, other.id);
    assert.equal(await found("n/b-tool"), "n/b-tool");
  });

  test("is exported as one repository with its history and its earlier name, a suspected one as two", async () => {
    const { catalog, idOf } = await opened();
    const dumped = async () =>
      (await catalog.dump(0, 10)).map(({ repository, facts, previousNames, snapshots }) => [
        repository.fullName,
        facts.availability,
        previousNames.map(({ fullName }) => fullName),
        snapshots.length,
      ]);
    const stays = ["o/stays", "AVAILABLE", [], 7];
    assert.deepEqual(await dumped(), [
      stays,
      ["o/a-tool", "AVAILABLE", [], 2],
      ["n/b-tool", "AVAILABLE", [], 3],
      ["m/c-tool", "AVAILABLE", [], 2],
    ]);
    for (const name of ["o/a-tool", "n/b-tool"]) await catalog.decideRename(await idOf(name), "accept");
    assert.deepEqual(await dumped(), [stays, ["m/c-tool", "AVAILABLE", ["o/a-tool", "n/b-tool"], 7]]);
  });

  test("keeps an own snapshot of the later name at a time that both have", async () => {
    const { catalog, database, idOf, starsOf, repository } = await opened();
    const b = await repository("n/b-tool");
    await catalog.recordAll([
      {
        provider: "GITHUB",
        owner: "n",
        name: "b-tool",
        at: dayAt(1),
        facts: {},
        snapshots: [snapshotAt(dayAt(1), 7)],
      },
    ]);
    // Recorded by hand after the detection, so it is still held.
    await database.write
      .updateTable("repositories")
      .set({ discovered_at: dayAt(2) })
      .where("id", "=", b.id)
      .execute();
    const id = await idOf("o/a-tool");
    await catalog.decideRename(id, "accept");
    assert.deepEqual(await starsOf(b.id), [1_000, 7, 1_020, 1_030, 1_040]);
    await catalog.decideRename(id, "undo");
    assert.deepEqual(await starsOf(b.id), [7, 1_020, 1_030, 1_040]);
  });
});
