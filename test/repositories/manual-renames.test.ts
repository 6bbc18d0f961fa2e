import assert from "node:assert/strict";
import { test } from "node:test";
import { dayAt, importDay } from "../support/archive.js";
import { onBothEngines } from "../support/engines.js";
import { snapshotsOf } from "../support/snapshots.js";
import { dumpRows, openCatalog } from "../support/tables.js";
import { observation, snapshotAt } from "../support/world.js";

onBothEngines("A rename that an operator states", (engine) => {
  /** o/a is there for two days, then n/b for two, then m/c. */
  const opened = async () => {
    const { catalog, database } = await openCatalog(engine);
    await importDay(catalog, 0, ["o/a", 1_000], ["o/stays", 9_000]);
    await importDay(catalog, 1, ["o/a", 1_010], ["o/stays", 9_001]);
    await importDay(catalog, 2, ["n/b", 1_020], ["o/stays", 9_002]);
    await importDay(catalog, 3, ["n/b", 1_030], ["o/stays", 9_003]);
    await importDay(catalog, 4, ["m/c", 1_040], ["o/stays", 9_004]);
    const idOf = async (fullName: string) =>
      (await catalog.findByName("GITHUB", fullName))?.repository.id ?? assert.fail(fullName);
    const starsOf = async (id: number) => (await snapshotsOf(database, id)).map(({ stars }) => stars);
    /** Everything stored, without the marks of what must be derived again. */
    const dump = async () => {
      const { outdated, ...tables } = await dumpRows(database);
      return { ...tables, renames: await database.read.selectFrom("renames").selectAll().execute() };
    };
    const join = (from: string, to: string) => catalog.joinRenamed({ provider: "GITHUB", from, to });
    const part = (from: string) => catalog.partRenamed({ provider: "GITHUB", from });
    const [a, b, c] = [await idOf("o/a"), await idOf("n/b"), await idOf("m/c")];
    return { catalog, database, idOf, starsOf, dump, join, part, a, b, c };
  };

  test("joins the history, and the old name leads to the new one", async () => {
    const { catalog, starsOf, join, a, b } = await opened();
    assert.equal(await join("O/A", "n/B"), 2);
    assert.deepEqual(await starsOf(b), [1_000, 1_010, 1_020, 1_030]);
    assert.deepEqual(await starsOf(a), [1_000, 1_010], "its own snapshots stay");
    const found = await catalog.findByName("GITHUB", "O/A");
    assert.deepEqual([found?.repository.id, found?.isPreviousName], [b, true]);
    const described = await catalog.describeById(b);
    assert.deepEqual(described?.previousNames, [{ fullName: "o/a", until: dayAt(1) }]);
    assert.equal(described?.repository.discoveredAt, dayAt(0));
    assert.equal((await catalog.get(a)).availability, "RENAMED");
    assert.deepEqual((await catalog.renamedTo([a])).get(a), {
      ...{ id: b, provider: "GITHUB", fullName: "n/b" },
      renamedFrom: "o/a",
    });
    const dumped = await catalog.dump(0, 10);
    assert.deepEqual(
      dumped.map(({ repository, snapshots }) => `${repository.fullName} ${snapshots.length}`),
      ["o/stays 5", "n/b 4", "m/c 1"],
    );
  });

  test("is taken back exactly, also with snapshots that came later", async () => {
    const { catalog, dump, join, part } = await opened();
    const before = await dump();
    await join("o/a", "n/b");
    assert.notDeepEqual(await dump(), before);
    assert.equal(await part("O/a"), 2);
    assert.deepEqual(await dump(), before);

    await join("o/a", "n/b");
    await importDay(catalog, 5, ["n/b", 1_050]);
    await part("o/a");
    const other = await opened();
    await importDay(other.catalog, 5, ["n/b", 1_050]);
    assert.deepEqual(await dump(), await other.dump());
  });

  test("keeps both histories if they overlap, also the same count at the same time", async () => {
    const { catalog, dump, starsOf, join, part, b } = await opened();
    await catalog.record([
      observation("n/b", [snapshotAt(dayAt(0), 7), snapshotAt(dayAt(1), 1_010)], { facts: {}, at: dayAt(3) }),
    ]);
    const before = await dump();
    assert.equal(await join("o/a", "n/b"), 0);
    assert.deepEqual(await starsOf(b), [7, 1_010, 1_020, 1_030]);
    await part("o/a");
    assert.deepEqual(await dump(), before);
  });

  test("restores what the old name was", async () => {
    const { catalog, dump, join, part, a } = await opened();
    await catalog.record([observation("o/a", [], { at: dayAt(2), facts: { availability: "GONE" } })]);
    const before = await dump();
    await join("o/a", "n/b");
    assert.equal((await catalog.get(a)).availability, "RENAMED");
    await part("o/a");
    assert.deepEqual(await dump(), before);
  });

  test("of several names joins all of them, and is taken back from the last one on", async () => {
    const { dump, idOf, starsOf, join, part, c } = await opened();
    const before = await dump();
    await join("o/a", "n/b");
    await join("n/b", "m/c");
    assert.deepEqual(await starsOf(c), [1_000, 1_010, 1_020, 1_030, 1_040]);
    assert.deepEqual([await idOf("o/a"), await idOf("n/b")], [c, c]);
    await assert.rejects(part("o/a"), { code: "CONFLICT", message: "First undo the rename of n/b." });
    await part("n/b");
    await part("o/a");
    assert.deepEqual(await dump(), before);

    // Both straight to the present name, the newer one first.
    await join("n/b", "m/c");
    await join("o/a", "m/c");
    assert.deepEqual(await starsOf(c), [1_000, 1_010, 1_020, 1_030, 1_040]);
    await part("o/a");
    await part("n/b");
    assert.deepEqual(await dump(), before);
  });

  test("takes files again without a change, and late ones into the joined history", async () => {
    const { catalog, dump, starsOf, join, b } = await opened();
    await join("o/a", "n/b");
    const before = await dump();
    await importDay(catalog, 1, ["o/a", 1_010], ["o/stays", 9_001]);
    assert.deepEqual(await dump(), before);
    await importDay(catalog, -1, ["o/a", 990]);
    assert.deepEqual(await starsOf(b), [990, 1_000, 1_010, 1_020, 1_030]);
  });

  test("marks what follows from it, for both names", async () => {
    const { catalog, database, join, part, a, b } = await opened();
    for (const act of [() => join("o/a", "n/b"), () => part("o/a")]) {
      await database.write.deleteFrom("outdated").execute();
      const revision = await catalog.revision();
      await act();
      const ids = (rows: { repository_id: number }[]) =>
        rows.map((row) => row.repository_id).sort((x, y) => x - y);
      const changed = database.read
        .selectFrom("changes")
        .select("repository_id")
        .where("revision", ">", revision.value);
      const marked = database.read
        .selectFrom("outdated")
        .select("repository_id")
        .where("kind", "=", "rollups");
      assert.deepEqual(
        [ids(await changed.execute()), ids(await marked.execute())],
        [
          [a, b],
          [a, b],
        ],
      );
    }
  });

  test("leaves a name to the repository that has it by now", async () => {
    const { catalog, idOf, starsOf, join, part, a, b } = await opened();
    await join("o/a", "n/b");
    await importDay(catalog, 8, ["o/a", 3]);
    const other = await idOf("o/a");
    assert.ok(![a, b].includes(other));
    await part("o/a");
    assert.equal(await idOf("o/a"), other);
    assert.deepEqual(await starsOf(a), [1_000, 1_010]);
    assert.deepEqual(await starsOf(b), [1_020, 1_030]);
    assert.equal((await catalog.get(a)).availability, "GONE");
  });

  test("is refused, without a change, if it cannot be one", async () => {
    const { catalog, dump, join, part } = await opened();
    await catalog.record([
      observation("o/id", [snapshotAt(dayAt(0), 5)], { providerId: "17", facts: { stars: 5 } }),
    ]);
    const before = await dump();
    for (const [from, to, code, message] of [
      ["n/b", "o/a", "CONFLICT", "n/b was seen after o/a: the old name comes first."],
      ["n/b", "N/B", "CONFLICT", "n/b and N/B are one repository already."],
      ["o/id", "m/c", "CONFLICT", "The forge has given o/id an id, so it reports a rename itself."],
      ["o/none", "n/b", "NOT_FOUND", "No repository here has the name o/none now."],
      ["o/a", "n/none", "NOT_FOUND", "No repository here has the name n/none now."],
    ] as const)
      await assert.rejects(join(from, to), { code, message });
    await assert.rejects(part("o/a"), { code: "NOT_FOUND", message: "o/a was joined to no other name." });
    assert.deepEqual(await dump(), before);
    await join("o/a", "n/b");
    await assert.rejects(join("o/a", "n/b"), { code: "NOT_FOUND" });
  });
});
