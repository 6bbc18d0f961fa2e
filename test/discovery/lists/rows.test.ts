import assert from "node:assert/strict";
import { test } from "node:test";
import { listPage, listQuery } from "../../../src/discovery/discovery.js";
import { DAY_MS } from "../../../src/lib/clock.js";
import { onBothEngines } from "../../support/engines.js";
import { discoveryOf } from "../../support/lists.js";
import { daily, NOW, observation, snapshot } from "../../support/world.js";

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

onBothEngines("A list that asks for no order", (engine) => {
  test("loses nothing: by trending score, then all others by stars, archived ones and forks included", async () => {
    const { catalog, rankings, lists } = discoveryOf(await engine.open());
    await catalog.record([
      observation("o/rising", daily(10, 12, 40)),
      observation("o/still", daily(900, 900, 900)),
      observation("o/once", [snapshot(0, 50)]),
      observation("o/archived", daily(30, 50, 70), { facts: { archived: true } }),
      observation("o/fork", daily(3, 3, 3), { facts: { fork: true } }),
      observation("o/uncounted", []),
      observation("o/gone", daily(5, 9, 99), { facts: { availability: "GONE" } }),
    ]);
    await rankings.update();
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const query = listQuery.parse({ limit: "2", ...(cursor === undefined ? {} : { cursor }) });
      const page = await listPage({ lists }, query);
      assert.deepEqual([page.total, page.sort], [6, "trending"]);
      names.push(...page.rows.map(({ repository }) => repository.name));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    assert.deepEqual(names, ["rising", "still", "archived", "once", "fork", "uncounted"]);
  });
});
