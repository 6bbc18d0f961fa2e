import assert from "node:assert/strict";
import { test } from "node:test";
import { HOUR_MS } from "../../src/lib/clock.js";
import type { Observation, Repository, Snapshot } from "../../src/repositories/repository.js";
import { onBothEngines } from "../support/engines.js";
import { discoveryOf, listOf } from "../support/lists.js";
import { dumpRows, dumpTables, openCatalog } from "../support/tables.js";
import { daily, NOW, observation, snapshot } from "../support/world.js";

/** An observation of `o/r`, `hoursAgo` hours before NOW. */
const observed = (hoursAgo: number | null, facts: Observation["facts"], more: Partial<Observation> = {}) =>
  observation("o/r", [], { at: hoursAgo === null ? null : NOW - hoursAgo * HOUR_MS, facts, ...more });

onBothEngines("Recording", (engine) => {
  /** The only repository after the observations, each recorded by itself. */
  const after = async (...observations: Observation[]): Promise<Repository> => {
    const { catalog } = await openCatalog(engine);
    for (const each of observations) await catalog.record([each]);
    return catalog.get(1);
  };

  test("a newer fact replaces an older one", async () => {
    const repository = await after(
      observed(5, { description: "old", language: "C", stars: 1 }),
      observed(4, { description: "new", stars: 2 }),
    );
    assert.equal(repository.description, "new");
    assert.equal(repository.stars, 2);
    assert.equal(repository.language, "C");
    assert.equal(repository.refreshedAt, NOW - 4 * HOUR_MS);
  });

  test("an older fact only fills one that no source has reported", async () => {
    const repository = await after(
      observed(4, { description: "new", stars: 2 }),
      observed(5, { description: "old", license: "MIT", stars: 1 }),
      observed(6, { license: "GPL-3.0", homepage: "https://r.example" }),
    );
    assert.equal(repository.description, "new");
    assert.equal(repository.stars, 2);
    assert.equal(repository.license, "MIT");
    assert.equal(repository.homepage, "https://r.example");
    assert.equal(repository.refreshedAt, NOW - 4 * HOUR_MS);
  });

  test("of two facts of the same time the first stays", async () => {
    const repository = await after(
      observed(4, { description: "first" }),
      observed(4, { description: "second", forks: 3 }),
    );
    assert.equal(repository.description, "first");
    assert.equal(repository.forks, 3);
  });

  test("a fact reported as null is kept against an older value, and replaced by a newer one", async () => {
    const kept = await after(
      observed(4, { description: null, archived: null }),
      observed(5, { description: "old", archived: true }),
    );
    assert.equal(kept.description, null);
    assert.equal(kept.archived, null);
    const replaced = await after(observed(5, { description: null }), observed(4, { description: "new" }));
    assert.equal(replaced.description, "new");
    const emptied = await after(observed(5, { description: "old" }), observed(4, { description: null }));
    assert.equal(emptied.description, null);
  });

  test("a fact without a time never replaces another, and is replaced by any with a time", async () => {
    const filled = await after(
      observed(5, { description: "known" }),
      observed(null, { description: "undated", forks: 7 }),
    );
    assert.equal(filled.description, "known");
    assert.equal(filled.forks, 7);
    const replaced = await after(
      observed(null, { description: "undated" }),
      observed(900, { description: "dated" }),
    );
    assert.equal(replaced.description, "dated");
    assert.equal(replaced.refreshedAt, NOW - 900 * HOUR_MS);
  });

  test("a snapshot never changes, and of two with the same time the first stays", async () => {
    const { catalog } = await openCatalog(engine);
    const first = snapshot(2, 10, { forks: 1 });
    const second = { ...first, stars: 99, forks: null };
    const recorded = await catalog.record([observation("o/r", [first]), observation("o/r", [second])]);
    assert.equal(recorded.snapshotsAdded, 1);
    assert.equal((await catalog.record([observation("o/r", [second])])).snapshotsAdded, 0);
    assert.deepEqual((await catalog.dump(0, 1))[0]?.snapshots, [first]);
  });

  test("of snapshots with the same time in one observation the first stays", async () => {
    const { catalog } = await openCatalog(engine);
    const hours = Array.from({ length: 6_000 }, (_, i) => snapshot(6_000 - i, i));
    const repeated = hours.map((each) => ({ ...each, stars: each.stars + 1 }));
    const recorded = await catalog.record([
      observation(
        "o/r",
        [...hours, ...repeated].sort((a, b) => a.capturedAt - b.capturedAt),
      ),
    ]);
    assert.equal(recorded.snapshotsAdded, 6_000);
    const [dumped] = await catalog.dump(0, 1);
    assert.deepEqual(dumped?.snapshots, hours);
  });

  test("snapshots are the same in any order and any batches", async () => {
    const days = daily(10, 12, 11, 15, 15);
    const snapshotsOf = async (...batches: Snapshot[][][]) => {
      const { catalog, database } = await openCatalog(engine);
      for (const batch of batches) await catalog.record(batch.map((list) => observation("o/r", list)));
      const { snapshots, snapshot_hours } = await dumpTables(database);
      return { snapshots, snapshot_hours };
    };
    const expected = await snapshotsOf([days]);
    const [a = [], b = [], c = []] = [days.slice(0, 2), days.slice(2, 4), days.slice(4)];
    assert.deepEqual(await snapshotsOf([a, b, c]), expected);
    assert.deepEqual(await snapshotsOf([c], [a], [b]), expected);
    assert.deepEqual(await snapshotsOf([c, a], [a, b], [b, c]), expected);
  });

  test("a count that a source does not report is null, never 0", async () => {
    const { catalog } = await openCatalog(engine);
    await catalog.record([observation("o/r", [snapshot(1, 5)])]);
    const repository = await catalog.get(1);
    assert.deepEqual(
      [repository.forks, repository.watchers, repository.fork, repository.createdAt, repository.language],
      [null, null, null, null, null],
    );
    assert.deepEqual((await catalog.dump(0, 1))[0]?.snapshots, [snapshot(1, 5)]);
  });

  test("topics are replaced as a whole, sorted and each once", async () => {
    const { catalog } = await openCatalog(engine);
    await catalog.record([observed(3, { topics: ["web", "api", "web"] })]);
    assert.deepEqual((await catalog.get(1)).topics, ["api", "web"]);
    await catalog.record([observed(2, { topics: ["web", "cli"] })]);
    assert.deepEqual((await catalog.get(1)).topics, ["cli", "web"]);
    await catalog.record([observed(1, { topics: [] })]);
    assert.deepEqual((await catalog.get(1)).topics, []);
  });

  test("only available repositories are listed; one that returns is listed again", async () => {
    const { catalog, database } = await openCatalog(engine);
    const { lists } = discoveryOf(database);
    const listed = async () => {
      const page = await lists.read(listOf());
      assert.equal(page.total, page.rows.length);
      return page.total;
    };
    await catalog.record([observed(9, { stars: 1 })]);
    assert.equal(await listed(), 1);
    for (const [i, availability] of (["GONE", "PRIVATE", "BLOCKED"] as const).entries()) {
      await catalog.record([observed(8 - i, { availability })]);
      assert.equal(await listed(), 0);
      assert.equal((await catalog.findByName("GITHUB", "o/r"))?.repository.availability, availability);
    }
    await catalog.record([observed(1, { availability: "AVAILABLE" })]);
    assert.equal(await listed(), 1);
  });

  test("a repository is discovered at the earliest time that anything is known of it", async () => {
    const { catalog } = await openCatalog(engine);
    await catalog.record([observation("o/r", [snapshot(5, 1)])]);
    assert.equal((await catalog.get(1)).discoveredAt, NOW - 5 * HOUR_MS);
    await catalog.record([observation("o/r", [snapshot(9, 1), snapshot(3, 1)])]);
    assert.equal((await catalog.get(1)).discoveredAt, NOW - 9 * HOUR_MS);
    await catalog.record([observed(1, {}, { discoveredAt: NOW - 20 * HOUR_MS })]);
    assert.equal((await catalog.get(1)).discoveredAt, NOW - 20 * HOUR_MS);
    await catalog.record([observed(0, {}, { discoveredAt: NOW })]);
    assert.equal((await catalog.get(1)).discoveredAt, NOW - 20 * HOUR_MS);
  });

  test("recording the same twice changes nothing, not even the revision", async () => {
    const { catalog, database } = await openCatalog(engine);
    const batch = [
      observation("o/r", [snapshot(48, 1), snapshot(24, 2), snapshot(1, 3)], {
        providerId: "7",
        facts: { topics: ["a"], description: null },
      }),
      observation("o/new", [snapshot(0, 4)], { providerId: "7" }),
      observation("p/q", [snapshot(1, 4)], {
        facts: { language: "Go" },
        previousNames: [{ fullName: "p/old", until: NOW - 50 * HOUR_MS }],
      }),
      observation("P/Q", [snapshot(0, 5)]),
      observation("g/h/i", [snapshot(3, 0)], { provider: "GITLAB", at: null }),
    ];
    const recorded = await catalog.record(batch);
    assert.deepEqual(recorded, { repositoriesAdded: 3, repositoriesChanged: 0, snapshotsAdded: 7 });
    const before = await dumpTables(database);
    assert.deepEqual(await catalog.record(batch), {
      repositoriesAdded: 0,
      repositoriesChanged: 0,
      snapshotsAdded: 0,
    });
    for (const each of batch.toReversed()) await catalog.record([each]);
    assert.deepEqual(await dumpTables(database), before);
  });

  test("the revision grows with every change that a reader can see", async () => {
    const { catalog } = await openCatalog(engine);
    let last = await catalog.revision();
    for (const change of [
      observed(9, { stars: 1 }),
      observed(8, { stars: 1 }),
      observation("o/r", [snapshot(12, 1)], { at: null, facts: {} }),
      observed(null, { homepage: "https://r.example" }),
      observed(null, {}, { previousNames: [{ fullName: "o/before", until: NOW - 99 * HOUR_MS }] }),
      observed(7, {}, { owner: "O" }),
    ]) {
      await catalog.record([change]);
      const revision = await catalog.revision();
      assert.ok(revision.value > last.value, JSON.stringify(change));
      last = revision;
    }
  });

  test("ids follow the order of the batch; a preferred id is used if it is free", async () => {
    const { catalog } = await openCatalog(engine);
    const wanted = (fullName: string, preferredId?: number) =>
      observation(fullName, [], preferredId === undefined ? {} : { preferredId });
    await catalog.record([wanted("a/1"), wanted("a/2"), wanted("a/1")]);
    await catalog.record([
      wanted("b/1", 40),
      wanted("b/2"),
      wanted("b/3", 2),
      wanted("b/4", 40),
      wanted("b/5", 12),
    ]);
    await catalog.record([wanted("c/1"), wanted("a/1", 90)]);
    const idOf = async (name: string) => (await catalog.findByName("GITHUB", name))?.repository.id;
    const ids = await Promise.all(["a/1", "a/2", "b/1", "b/5", "b/2", "b/3", "b/4", "c/1"].map(idOf));
    assert.deepEqual(ids, [1, 2, 40, 12, 41, 42, 43, 44]);
  });

  test("a batch that fails leaves nothing behind", async () => {
    const { catalog, database } = await openCatalog(engine);
    await catalog.record([observed(3, { stars: 1 })]);
    const before = await dumpRows(database);
    const broken = observation("x/y", [
      { ...snapshot(1, 1), stars: "many" as never },
      snapshot(0, Number.NaN),
    ]);
    await assert.rejects(catalog.record([observed(2, { stars: 2 }), broken]));
    assert.deepEqual(await dumpRows(database), before);
  });
});
