import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openTrackingWorld } from "../support/tracking.js";
import { makeAllDue } from "./truth.js";

onSqliteAndLong("A Gogs without lookup by id", (engine) => {
  test("a renamed repository is back with its history after the next walk; one whose name was reused is not mixed up", async (t) => {
    const world = await openTrackingWorld(
      t,
      await engine.open(),
      [{ kind: "gogs", name: "WORK", repositories: 12, catalogue: "quiet" }],
      { idleMs: 10 * 60_000 },
    );
    await world.pass(HOUR_MS);
    const { forge, clock, get } = world;
    const { catalogue } = forge("WORK");
    const detail = async (fullName: string) =>
      (await get(`/api/repos/WORK/by-full-name?fullName=${encodeURIComponent(fullName)}`)).body.data;
    const [renamed, reused, other] = [...catalogue.truth(clock.now())].filter(
      ({ visibility }) => visibility === "public",
    );
    assert.ok(renamed !== undefined && reused !== undefined && other !== undefined);
    const before = await detail(renamed.fullName);
    const moved = `${renamed.owner}/moved`;
    const at = clock.now();
    catalogue.add({ at, kind: "renamed", id: renamed.id, to: moved });
    catalogue.add({ at, kind: "renamed", id: reused.id, to: `${reused.owner}/elsewhere` });
    catalogue.add({ at, kind: "renamed", id: other.id, to: reused.fullName });
    await makeAllDue(world);
    await world.pass(3 * DAY_MS);
    const after = await detail(moved);
    assert.deepEqual(
      [after.id, after.availability, after.discoveredAt],
      [before.id, "AVAILABLE", before.discoveredAt],
    );
    assert.equal((await detail(reused.fullName)).createdAt, new Date(other.createdAt).toISOString());
    assert.equal(
      (await detail(`${reused.owner}/elsewhere`)).createdAt,
      new Date(reused.createdAt).toISOString(),
    );
  });
});
