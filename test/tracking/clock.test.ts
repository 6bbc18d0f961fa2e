import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS, WEEK_MS } from "../../src/lib/clock.js";
import { onSqliteAndLong } from "../support/engines.js";
import { allSnapshots } from "../support/snapshots.js";
import { openTrackingWorld } from "../support/tracking.js";

onSqliteAndLong("The worker", (engine) => {
  test("survives a clock that is set back or ahead, and leaves nothing unscheduled", async (t) => {
    const forge = { kind: "forgejo", name: "CODEBERG", repositories: 6, catalogue: "quiet" } as const;
    const world = await openTrackingWorld(t, await engine.open(), [forge]);
    const { clock, modules, pass } = world;
    await pass(HOUR_MS);
    for (const jump of [-HOUR_MS, HOUR_MS, 400 * DAY_MS, -400 * DAY_MS]) {
      clock.set(clock.now() + jump);
      await pass(3 * HOUR_MS);
      const rows = await modules.database.read.selectFrom("repositories").select("next_refresh_at").execute();
      assert.equal(rows.length, 6);
      const latest = clock.now() + WEEK_MS + DAY_MS;
      for (const { next_refresh_at: at } of rows) assert.ok(at !== null && at <= latest);
    }
    assert.deepEqual(
      world.logged.filter((line) => JSON.parse(line).level >= 50),
      [],
    );
  });

  test("schedules imported repositories without an id, learns it by their names and keeps their history", async (t) => {
    const forge = {
      kind: "forgejo",
      name: "CODEBERG",
      repositories: 5,
      catalogue: "quiet",
      minStars: 1e9,
    } as const;
    const world = await openTrackingWorld(t, await engine.open(), [forge]);
    const { clock, modules, pass } = world;
    const catalogue = world.forge("CODEBERG").catalogue;
    const [id = 0] = catalogue.ids();
    const { owner = "", name = "" } = catalogue.get(id, clock.now()) ?? {};
    const at = clock.now() - 3 * DAY_MS;
    const past = { capturedAt: at, stars: 7, forks: null, openIssues: null, watchers: null };
    await modules.catalog.record([
      {
        provider: "CODEBERG",
        owner,
        name,
        at,
        facts: { stars: 7 },
        snapshots: [{ ...past, source: "IMPORTED" }],
      },
    ]);
    await pass(2 * HOUR_MS);
    const { provider_id } = await modules.database.read
      .selectFrom("repositories")
      .selectAll()
      .executeTakeFirstOrThrow();
    const snapshots = await allSnapshots(modules.database);
    assert.equal(provider_id, String(id));
    assert.deepEqual(snapshots.map(({ source }) => source).slice(0, 2), ["IMPORTED", "OBSERVED"]);
  });
});
