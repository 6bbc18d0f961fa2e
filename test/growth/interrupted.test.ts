import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { createLog } from "../../src/lib/log.js";
import { updateDerived } from "../../src/modules.js";
import { LeaseLost, WorkerLease } from "../../src/tracking/lease.js";
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

  test("a full day changes nothing for readers if growth stays the same", async () => {
    const world = await createWorld(engine);
    const { catalog, rankings, database } = world.modules;
    const growth = () => database.read.selectFrom("rollups").selectAll().orderBy("repository_id").execute();
    await catalog.record([observation("o/a", daily(100, 110, 120)), observation("o/b", daily(5, 6, 7))]);
    await rankings.update();
    const [before, revision] = [await growth(), await catalog.revision()];
    await sql`delete from status_documents where name = 'growth_sweep'`.execute(database.write);
    assert.equal(await rankings.isUpdateDue(), true);
    assert.equal(await rankings.update(), 2, "all are computed again");
    assert.deepEqual(await growth(), before);
    assert.equal(await catalog.revision(), revision);
    assert.equal(await rankings.isUpdateDue(), false);
  });

  test("a sweep that was killed continues with the repositories after those done, and with changes since", async () => {
    const world = await createWorld(engine);
    const { catalog, rankings, database } = world.modules;
    const names = Array.from({ length: 300 }, (_, i) => `o/r${i}`);
    await catalog.record(names.map((name) => observation(name, daily(100, 110))));
    const killed = rankings.update({
      onProgress: () => {
        throw new Error("killed");
      },
    });
    await assert.rejects(killed, /killed/);
    const done = await database.read.selectFrom("rollups").select("repository_id").distinct().execute();
    await catalog.record([observation("o/r0", [snapshot(-1, 500)])]);
    assert.equal(await rankings.update(), names.length - done.length + 1);
    assert.equal((await rankings.trendsOf(1))["24h"]?.starsDelta, 400);
    assert.equal((await rankings.trendsOf(300))["24h"]?.starsDelta, 10);
  });

  test("a worker that has lost its lease writes no growth", async () => {
    const world = await createWorld(engine);
    const { catalog, rankings, database } = world.modules;
    await catalog.record([observation("o/a", daily(100, 110))]);
    const lease = new WorkerLease(database, { clock: world.clock, log: createLog("silent") });
    await assert.rejects(rankings.update({ transact: (work) => lease.write(work) }), LeaseLost);
    assert.equal((await rankings.trendsOf(1))["24h"], null);
    await lease.take();
    await rankings.update({ transact: (work) => lease.write(work) });
    assert.equal((await rankings.trendsOf(1))["24h"]?.starsDelta, 10);
  });

  test("a change of the facts that scores depend on changes the scores without a new snapshot", async () => {
    const world = await createWorld(engine);
    await world.record(observation("o/young", daily(50_000, 50_200)));
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
