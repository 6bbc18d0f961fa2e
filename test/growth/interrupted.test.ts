import assert from "node:assert/strict";
import { test } from "node:test";
import { updateDerived } from "../../src/modules.js";
import { onBothEngines } from "../support/engines.js";
import { createWorld, daily, NOW, observation, snapshot } from "../support/world.js";

onBothEngines("deriving", (engine) => {
  test("stale growth is deleted even if the update that should have done it was killed", async () => {
    const world = await createWorld(engine);
    const { catalog } = world.modules;
    await world.record(observation("o/old", daily(100, 900)));
    await catalog.record([observation("o/new", [snapshot(-24 * 9, 10), snapshot(-24 * 10, 11)])]);
    const interrupted = updateDerived(world.modules, () => {
      throw new Error("killed");
    });
    await assert.rejects(interrupted, /killed/);
    await updateDerived(world.modules);
    const { body } = await world.get("/api/repos?sort=stars-gained");
    assert.deepEqual(
      body.data.map((repository: { fullName: string }) => repository.fullName),
      ["o/new"],
    );
  });

  test("a change of the facts that scores depend on changes the scores without a new snapshot", async () => {
    const world = await createWorld(engine);
    await world.record(observation("o/young", daily(100, 300)));
    assert.deepEqual((await world.get("/api/new-hot")).body.data, []);
    const facts = { createdAt: NOW - 86_400_000, pushedAt: NOW };
    await world.record(observation("o/young", [], { at: NOW + 1, facts }));
    const { data } = (await world.get("/api/repos/github/o/young?explain=true")).body;
    assert.ok(data.trends["24h"].scores.newHot > 0);
    assert.equal(data.trends["24h"].scores.newHot, data.explanation.windows["24h"].newHot.score);
    assert.equal((await world.get("/api/new-hot")).body.data.length, 1);
    await world.record(observation("o/young", [], { at: NOW + 2, facts: { availability: "GONE" } }));
    const gone = (await world.get("/api/repos/github/o/young")).body.data.trends["24h"];
    assert.deepEqual([gone.confidence, gone.reliable], [0, false]);
  });

  test("a list of reliable trends is the same with other filters and sorts", async () => {
    const world = await createWorld(engine);
    await world.record(
      observation("o/sure", daily(100, 120), { facts: { language: "Go" } }),
      observation("o/late", [snapshot(50, 100), snapshot(5, 160)], { facts: { language: "Go" } }),
      observation("o/once", daily(70), { facts: { language: "Go" } }),
    );
    for (const query of [
      "sort=stars",
      "sort=stars&order=asc",
      "sort=stars-gained",
      "sort=stars&language=go",
      "q=sure",
    ]) {
      const { body } = await world.get(`/api/repos?${query}&reliableOnly=true`);
      assert.deepEqual([body.data.length, body.data[0]?.fullName, body.meta.total], [1, "o/sure", 1], query);
    }
  });
});
