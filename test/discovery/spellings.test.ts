import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../src/lib/clock.js";
import { onSqliteAndLong } from "../support/engines.js";
import { createWorld, NOW, observation, snapshotAt } from "../support/world.js";

onSqliteAndLong("A language spelled in several cases", (engine) => {
  test("is one in facets, suggestions, filters and ranks, in its newest spelling", async () => {
    const world = await createWorld(engine);
    const spellings = ["JavaScript", "javascript", "Javascript", "C++", "c++"];
    await world.record(
      ...spellings.map((language, i) => {
        const at = NOW - (spellings.length - i) * DAY_MS;
        const topics = [i % 2 === 0 ? "web" : "Web"];
        return observation(`o/c${i}`, [snapshotAt(at, 100 + i)], { at, facts: { language, topics } });
      }),
    );
    const facets = async (kind: string) =>
      (await world.get(`/api/facets/${kind}`)).body.data.map(
        ({ name, repositoryCount }: { name: string; repositoryCount: number }) => [name, repositoryCount],
      );
    assert.deepEqual(await facets("languages"), [
      ["Javascript", 3],
      ["c++", 2],
    ]);
    assert.deepEqual(await facets("topics"), [["web", 5]]);
    for (const language of ["JavaScript", "javascript", "JAVASCRIPT"])
      assert.equal((await world.get(`/api/repos?language=${language}`)).body.meta.total, 3);
  });
});
