import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fillWithSynthetic, popularityOf, syntheticRepository } from "../../bench/synthetic/synthetic.js";
import { openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/lib/log.js";
import { Catalog } from "../../src/repositories/repositories.js";
import { ManualClock } from "../support/manual-clock.js";
import { fc } from "../support/properties.js";
import { NOW, observation, snapshot } from "../support/world.js";

const OPTIONS = { repositories: 600, days: 20, seed: 1, end: NOW };

const openCatalog = async () => {
  const log = createLog("silent");
  const database = await openDatabase({ url: undefined, dataDir: ":memory:", pool: 1, log });
  return new Catalog(database, new ManualClock(NOW));
};

describe("The synthetic catalogue", () => {
  test("is the same for the same seed, and another for another", () => {
    const made = (seed: number) =>
      JSON.stringify(Array.from({ length: 50 }, (_, i) => syntheticRepository(i, { ...OPTIONS, seed })));
    assert.equal(made(1), made(1));
    assert.notEqual(made(1), made(2));
  });

  test("has no two repositories of the same name, and nothing that cannot be true", () => {
    fc.assert(
      fc.property(fc.nat({ max: 999_999_999 }), fc.integer({ min: 2, max: 60 }), (seed, days) => {
        const options = { ...OPTIONS, seed, days };
        const names = new Set<string>();
        for (let i = 0; i < options.repositories; i++) {
          const { provider, owner, name, at, facts, snapshots } = syntheticRepository(i, options);
          names.add(`${provider} ${owner}/${name}`.toLowerCase());
          const times = [...snapshots].map(({ capturedAt }) => capturedAt);
          assert.deepEqual(
            times,
            [...new Set(times)].sort((a, b) => a - b),
          );
          assert.ok(times.length > 0 && times.at(-1) === at && at <= NOW);
          for (const { stars, forks, openIssues, watchers } of snapshots)
            for (const count of [stars, forks, openIssues, watchers])
              assert.ok(count === null || (Number.isSafeInteger(count) && count >= 0));
          assert.equal(facts.stars, [...snapshots].at(-1)?.stars);
          assert.ok((facts.createdAt ?? 0) <= (times[0] ?? 0));
        }
        assert.equal(names.size, options.repositories);
      }),
      { numRuns: 40 },
    );
  });

  test("takes the names it is given, the first for the most popular repository", () => {
    const options = { ...OPTIONS, names: ["known/first", "a/group/second"] };
    const made = Array.from({ length: options.repositories }, (_, i) => syntheticRepository(i, options));
    const named = made.filter((_, i) => popularityOf(i, options) < 2);
    const byPopularity = named.map(({ owner, name }) => `${owner}/${name}`).sort();
    assert.deepEqual(byPopularity, ["a/group/second", "known/first"]);
    const most = Math.max(...made.map(({ facts }) => facts.stars ?? 0));
    assert.equal(made.find(({ name }) => name === "first")?.facts.stars, most);
  });

  test("is no kinder than the world: ties, missing facts, rare languages, and hardly any growth", () => {
    const options = { ...OPTIONS, repositories: 20_000, days: 2 };
    const made = Array.from({ length: options.repositories }, (_, i) => syntheticRepository(i, options));
    const share = (is: (one: (typeof made)[number]) => boolean) => made.filter(is).length / made.length;
    const grows = ({ snapshots }: (typeof made)[number]) => {
      const [first, last] = [[...snapshots][0], [...snapshots].at(-1)];
      return first !== undefined && last !== undefined && last.stars > first.stars;
    };
    assert.ok(share(grows) < 0.5);
    assert.ok(share(({ facts }) => (facts.stars ?? 0) < 10) > 0.1);
    assert.ok(share(({ facts }) => facts.language === null) > 0.05);
    assert.ok(share(({ facts }) => facts.archived === true && facts.fork === true) > 0.001);
    const languages = Map.groupBy(made, ({ facts }) => facts.language);
    assert.ok([...languages.values()].filter(({ length }) => length <= 5).length > 20);
    const topics = Map.groupBy(
      made.flatMap(({ facts }) => [...(facts.topics ?? [])]),
      (topic) => topic,
    );
    assert.ok(Math.max(...[...topics.values()].map(({ length }) => length)) > 0.05 * made.length);
    assert.ok([...topics.values()].filter(({ length }) => length === 1).length > 1_000);
    const stars = made.map(({ facts }) => facts.stars ?? 0);
    const inOrder = stars.filter((count, i) => i > 0 && count <= (stars[i - 1] ?? 0)).length;
    assert.ok(inOrder < 0.6 * made.length, "they are stored in the order of their stars");
  });

  test("fills a catalogue that is empty, and no other", async () => {
    const catalog = await openCatalog();
    const counts: number[] = [];
    await fillWithSynthetic(catalog, { ...OPTIONS, repositories: 1_200, days: 3 }, (count) =>
      counts.push(count),
    );
    assert.deepEqual(counts, [1_000, 1_200]);
    assert.equal((await catalog.dump(0, 5_000)).length, 1_200);
    assert.equal(await catalog.kind(), "synthetic");
    await fillWithSynthetic(catalog, { ...OPTIONS, repositories: 10, days: 3 });
    const real = await openCatalog();
    await real.record([observation("o/r", [snapshot(1, 1)])]);
    await assert.rejects(fillWithSynthetic(real, OPTIONS), { code: "CONFLICT" });
    assert.equal((await real.dump(0, 10)).length, 1);
    assert.equal(await real.kind(), "real");
  });
});
