import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../src/lib/clock.js";
import { relayNode } from "../support/citus.js";
import { onCitus } from "../support/engines.js";
import { createWorld, NOW, observation, snapshotAt } from "../support/world.js";

onCitus("While a node of the database is away", (engine) => {
  test("its repositories get a 503 or a stale response, the others and the lists are served, and it comes back by itself", async () => {
    const world = await createWorld(engine, { SIDEREAL_CACHE_MB: "4" });
    const ids = Array.from({ length: 12 }, (_, i) => i + 1);
    const pathOf = (id: number) => `/api/repos/${id}/metrics?window=30d`;
    const record = (day: number) =>
      world.record(
        ...ids.map((id) => observation(`o/r${id}`, [snapshotAt(NOW - day * DAY_MS, 50 + id - day)])),
      );
    for (const day of [9, 8, 7]) await record(day);
    const relay = await relayNode(world.modules.database);
    const kept = new Map<number, unknown>();
    for (const id of ids.slice(0, 6)) kept.set(id, (await world.get(pathOf(id))).body);
    // Whatever is cached is outdated from now on.
    await record(6);
    world.clock.advance(60_000);
    await relay.close();

    const statuses = new Map<number, number>();
    for (const id of ids) {
      const { status, headers, body } = await world.get(pathOf(id));
      const isStale = headers.get("cache-status") === "sidereal; hit; detail=stale";
      if (isStale) assert.deepEqual(body, kept.get(id));
      if (status === 503) {
        assert.equal(body.error.code, "UNAVAILABLE");
        assert.ok(Number(headers.get("retry-after")) > 0);
      }
      statuses.set(id, isStale ? 299 : status);
    }
    const first = new Set(ids.slice(0, 6).map((id) => statuses.get(id)));
    const others = new Set(ids.slice(6).map((id) => statuses.get(id)));
    assert.deepEqual([first, others], [new Set([200, 299]), new Set([200, 503])]);
    assert.equal((await world.get("/api/repos?sort=stars")).body.data.length, ids.length);

    await relay.open();
    for (const id of ids) {
      const { status, headers } = await world.get(pathOf(id));
      assert.deepEqual([id, status, headers.get("cache-status")], [id, 200, null]);
    }
    await world.modules.database.close();
    await relay.close();
  });
});
