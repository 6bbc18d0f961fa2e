import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Catalog } from "../../src/catalog/catalog.js";
import { openDatabase } from "../../src/database/database.js";
import { fillWithDemo, syntheticRepository } from "../../src/demo/demo.js";
import { createLog } from "../../src/log.js";
import { ManualClock } from "../support/manual-clock.js";
import { fc } from "../support/properties.js";
import { NOW, observation, snapshot } from "../support/world.js";

const OPTIONS = { repositories: 600, days: 20, seed: 1, end: NOW };

const openCatalog = async () => {
  const log = createLog("silent");
  const database = await openDatabase({ url: undefined, dataDir: ":memory:", pool: 1, log });
  return new Catalog(database, new ManualClock(NOW));
};

describe("The demonstration", () => {
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
              assert.ok(Number.isSafeInteger(count) && (count ?? 0) >= 0);
          assert.equal(facts.stars, [...snapshots].at(-1)?.stars);
          assert.ok((facts.createdAt ?? 0) <= (times[0] ?? 0));
        }
        assert.equal(names.size, options.repositories);
      }),
      { numRuns: 40 },
    );
  });

  test("fills a catalogue that is empty, and no other", async () => {
    const catalog = await openCatalog();
    const counts: number[] = [];
    await fillWithDemo(catalog, { ...OPTIONS, repositories: 1_200, days: 3 }, (count) => counts.push(count));
    assert.deepEqual(counts, [1_000, 1_200]);
    assert.equal((await catalog.dump(0, 5_000)).length, 1_200);
    assert.equal(await catalog.kind(), "synthetic");
    await fillWithDemo(catalog, { ...OPTIONS, repositories: 10, days: 3 });
    const real = await openCatalog();
    await real.record([observation("o/r", [snapshot(1, 1)])]);
    await assert.rejects(fillWithDemo(real, OPTIONS), { code: "CONFLICT" });
    assert.equal((await real.dump(0, 10)).length, 1);
    assert.equal(await real.kind(), "real");
  });
});
