import assert from "node:assert/strict";
import { test } from "node:test";
import { followChanges, updateDerived } from "../../src/modules.js";
import { readHolding, untrack } from "../../src/tracking/tracking.js";
import { exportCatalogue } from "../../src/transfer/transfer.js";
import { onBothEngines } from "../support/engines.js";
import { createWorld, daily, NOW, observation, type World } from "../support/world.js";

const ONE = observation("a/one", daily(100, 110, 120, 150), { facts: { language: "Rust", topics: ["web"] } });
const TWO = observation("b/two", daily(7, 8, 9, 10), { facts: { language: "C", topics: ["web", "kite"] } });
const THREE = observation("c/three", daily(1, 2, 3, 4));

/** Everything that callers can read, without ids. */
async function contents(world: World): Promise<unknown> {
  const lines: unknown[] = [];
  for await (const text of exportCatalogue(world.modules.catalog))
    lines.push(
      ...text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    );
  for (const path of [
    "/api/home",
    "/api/stats/summary",
    "/api/facets/topics",
    "/api/repos?sort=stars-gained&window=24h",
    "/api/repos?q=kite",
    "/api/search/suggest?q=b",
    "/api/repos/github/b/two",
    "/api/embed/chart?repo=github:b/two",
  ])
    lines.push((await world.get(path)).body);
  const hidden = new Set(["id", "repositoryId", "requestId"]);
  return JSON.parse(JSON.stringify(lines, (key, value) => (hidden.has(key) ? undefined : value)));
}

onBothEngines("A repository that an operator untracks", (engine) => {
  const open = async (...observations: (typeof ONE)[]) => {
    const world = await createWorld(engine);
    await world.record(...observations);
    const { catalog } = world.modules;
    const of = async (fullName: string) => {
      const found = await catalog.findByName("GITHUB", fullName);
      assert.ok(found);
      return found.repository;
    };
    return { world, of };
  };

  test("with its history is as if it had never been there, and its id is not used again", async () => {
    const [{ world, of }, { world: fresh }] = [await open(ONE, TWO, THREE), await open(ONE, THREE)];
    const { modules } = world;
    await updateDerived(fresh.modules);
    const { id } = await of("b/two");
    await untrack(modules, await of("b/two"), { deletes: true });
    assert.deepEqual((await world.get(`/api/repos/${id}`)).status, 404, "before growth follows");
    await updateDerived(modules);
    assert.deepEqual(await contents(world), await contents(fresh));
    await untrack(modules, await of("c/three"), { deletes: true });
    await world.record(observation("d/four", daily(1, 2)));
    assert.ok((await of("d/four")).id > id + 1, "a new id");
  });

  test("leaves watchlists and copies of the catalogue, and takes the names that were joined to it along", async () => {
    const { world, of } = await open(
      ONE,
      TWO,
      observation(
        "b/old",
        daily(5, 6).map((one) => ({ ...one, capturedAt: one.capturedAt - 9 * 86_400_000 })),
      ),
    );
    const { modules } = world;
    await modules.catalog.joinRenamed({ provider: "GITHUB", from: "b/old", to: "b/two" });
    const ids = [(await of("a/one")).id, (await of("b/two")).id];
    const { token } = await modules.watchlists.create("Mine", ids);
    const etag = (await world.get(`/api/watchlists/${token}`)).headers.get("etag") ?? "";
    const page = { limit: 10, window: "7d" } as const;
    const { next } = await modules.changes.since(undefined, page);
    assert.equal((await readHolding(modules, await modules.catalog.get(ids[1] ?? 0))).watchlists, 1);
    await untrack(modules, await of("b/two"), { deletes: true });
    await followChanges(modules);
    const list = await world.get(`/api/watchlists/${token}`, { "If-None-Match": etag });
    assert.deepEqual([list.status, list.body.data.ids], [200, [String(ids[0])]]);
    await modules.live.current();
    world.clock.advance(2_000);
    const { changes } = await modules.changes.since(next, page);
    const deleted = changes.filter(({ kinds }) => kinds.includes("DELETED")).map(({ id }) => id);
    assert.equal(deleted.length, 2);
    assert.ok(deleted.includes(ids[1] ?? 0));
    const names = (await modules.catalog.dump(0, 10)).map(({ repository }) => repository.fullName);
    assert.deepEqual(names, ["a/one"]);
  });

  test("without its history keeps its page and snapshots, is read by nothing, and ages", async () => {
    const { world, of } = await open(ONE, TWO);
    const { modules } = world;
    const { database } = modules;
    const { id } = await of("b/two");
    await database.write
      .updateTable("repositories")
      .set({ next_refresh_at: NOW, refresh_interval: 3_600_000 })
      .where("id", "=", id)
      .execute();
    const held = await readHolding(modules, await modules.catalog.get(id));
    assert.deepEqual([held.isRead, held.snapshots, held.watchlists], [true, 4, 0]);
    for (let times = 0; times < 2; times++) {
      await untrack(modules, await of("b/two"), { deletes: false });
      await followChanges(modules);
      const after = await readHolding(modules, await modules.catalog.get(id));
      assert.deepEqual([after.isRead, after.snapshots, after.since], [false, 4, held.since]);
    }
    const { body } = await world.get(`/api/repos/${id}`);
    assert.deepEqual([body.data.stars, body.data.stale], [10, true]);
    assert.equal((await world.get("/repos/github/b/two")).status, 200);
    const gaining = await world.get("/api/repos?sort=stars-gained&window=24h");
    assert.ok(!gaining.body.data.some((one: { fullName: string }) => one.fullName === "b/two"));
  });
});
