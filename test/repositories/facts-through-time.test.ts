import assert from "node:assert/strict";
import { before, test } from "node:test";
import { HOUR_MS } from "../../src/lib/clock.js";
import { onBothEngines } from "../support/engines.js";
import { createWorld, NOW, observation, snapshot, type World } from "../support/world.js";

/** All orders of some values. */
function permutations<T>(values: readonly T[]): T[][] {
  if (values.length <= 1) return [[...values]];
  return values.flatMap((value, i) => permutations(values.toSpliced(i, 1)).map((rest) => [value, ...rest]));
}

onBothEngines("facts through time", (engine) => {
  let world: World;
  const get = async (name: string) => (await world.get(`/api/repos/github/${name}`)).body.data;

  before(async () => {
    world = await createWorld(engine);
  });

  test("counts are those of the newest source that reports them, even if a newer one reports none", async () => {
    const { modules } = world;
    await modules.catalog.record([
      observation("a/reported", [], { facts: { description: "newer", language: null } }),
    ]);
    await modules.catalog.record([
      observation("a/reported", [snapshot(48, 20)], { facts: { description: "older" } }),
    ]);
    await modules.catalog.record([observation("a/reported", [snapshot(24, 31)])]);
    await modules.catalog.record([observation("a/reported", [snapshot(36, 25)])]);
    const { stars, description, refreshedAt } = await get("a/reported");
    assert.deepEqual([stars, description, refreshedAt], [31, "newer", "2026-04-30T12:00:00.000Z"]);
  });

  test("each fact is that of the newest source that reports it, in whatever order sources come", async () => {
    const reports = [
      { hours: 72, facts: { stars: 10, language: "Go", description: "first", watchers: 4, license: "MIT" } },
      { hours: 48, facts: { language: "Rust", description: null, pushedAt: NOW - 50 * HOUR_MS } },
      { hours: 36, facts: { forks: 7, license: null } },
      { hours: 24, facts: { stars: 30 } },
    ];
    const { catalog } = world.modules;
    const orders = permutations(reports);
    const reported = (name: string, { hours, facts }: (typeof reports)[number]) => ({
      ...observation(name, []),
      ...{ at: NOW - hours * HOUR_MS, facts },
    });
    for (const [i, order] of orders.entries()) {
      for (const report of order) await catalog.record([reported(`order/apart-${i}`, report)]);
      await catalog.record(order.map((report) => reported(`order/together-${i}`, report)));
    }
    for (const name of orders.flatMap((_, i) => [`order/apart-${i}`, `order/together-${i}`])) {
      const { stars, forks, watchers, language, license, description, pushedAt, refreshedAt } =
        await get(name);
      assert.deepEqual(
        { stars, forks, watchers, language, license, description, pushedAt, refreshedAt },
        {
          ...{ stars: 30, forks: 7, watchers: 4, language: "Rust", license: null, description: null },
          ...{ pushedAt: "2026-04-28T10:00:00.000Z", refreshedAt: "2026-04-29T12:00:00.000Z" },
        },
        name,
      );
    }
    const revision = await catalog.revision();
    for (const report of reports) await catalog.record([reported("order/apart-0", report)]);
    assert.equal(await catalog.revision(), revision, "known ones change nothing");
  });

  test("counts without a fact are those of the newest snapshot, which stars still held are not", async () => {
    const snapshots = [
      snapshot(72, 20, { forks: 4 }),
      snapshot(48, 30, { forks: 5 }),
      snapshot(24, 31),
      snapshot(12, 29, { source: "BACKFILLED" }),
    ];
    const untold = { ...observation("a/untold", snapshots), facts: { language: "Go" } };
    await world.record(untold);
    const { stars, forks, language } = await get("a/untold");
    assert.deepEqual([stars, forks, language], [31, 5, "Go"]);
    const { body } = await world.get("/api/repos?sort=stars&minStars=31&maxStars=31&language=Go");
    assert.equal(body.data[0].fullName, "a/untold");
    const revision = await world.modules.catalog.revision();
    await world.record(untold);
    assert.equal(await world.modules.catalog.revision(), revision);
  });

  test("a row found by a previous name does not rename the repository back", async () => {
    const previousNames = [{ fullName: "old/name", until: Date.UTC(2026, 3, 20) }];
    await world.modules.catalog.record([observation("new/name", [], { at: null, previousNames })]);
    await world.modules.catalog.record([observation("old/name", [snapshot(500, 7)])]);
    const found = await get("new/name");
    assert.deepEqual([found.fullName, found.stars, found.previousFullNames], ["new/name", 7, ["old/name"]]);
  });

  test("a rename changes the address if it was the default one", async () => {
    await world.modules.catalog.record([observation("b/before", [snapshot(48, 5)], { providerId: "77" })]);
    await world.modules.catalog.record([observation("b/after", [snapshot(24, 5)], { providerId: "77" })]);
    assert.equal((await get("b/after")).url, "https://github.com/b/after");
  });

  test("topics are stored in lower case", async () => {
    await world.record(
      observation("c/topics", [snapshot(1, 3)], { facts: { topics: ["API", "api", "Web"] } }),
    );
    assert.deepEqual((await get("c/topics")).topics, ["api", "web"]);
    const { body } = await world.get("/api/repos?sort=stars&topic=Web");
    assert.deepEqual(
      body.data.map((repository: { fullName: string }) => repository.fullName),
      ["c/topics"],
    );
  });
});
