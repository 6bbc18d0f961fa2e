import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../../src/lib/clock.js";
import { onBothEngines } from "../../support/engines.js";
import { discoveryOf } from "../../support/lists.js";
import { NOW } from "../../support/world.js";

onBothEngines("The rows of lists", (engine) => {
  test("are shared until the catalogue changes, and show a change at once", async () => {
    const { catalog, rankings, lists } = discoveryOf(await engine.open());
    const record = async (name: string, stars: number, at: number) => {
      const counts = { stars, forks: null, openIssues: null, watchers: null };
      const snapshots = [{ capturedAt: at, ...counts, source: "OBSERVED" as const }];
      await catalog.record([{ provider: "GITHUB", owner: "o", name, at, facts: { stars }, snapshots }]);
      await rankings.update();
    };
    await record("a", 10, NOW - DAY_MS);
    await record("b", 20, NOW);
    const starsOf = async (ids: number[]) =>
      (await lists.rows(ids, "24h")).map(({ repository, trend }) => [repository.stars, trend?.starsDelta]);
    const [a, b, none] = [1, 2, 999];
    assert.deepEqual(await starsOf([b, none, a, b]), [
      [20, undefined],
      [10, undefined],
      [20, undefined],
    ]);
    const [first] = await lists.rows([a], "24h");
    const [again] = await lists.rows([a], "24h");
    assert.equal(first, again);
    await record("a", 17, NOW);
    assert.deepEqual(await starsOf([a, b]), [
      [17, 7],
      [20, undefined],
    ]);
    assert.deepEqual(first?.repository.stars, 10, "a row does not change");
  });
});
