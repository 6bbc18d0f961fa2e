import assert from "node:assert/strict";
import { test } from "node:test";
import { HOUR_MS } from "../../src/lib/clock.js";
import { readPlan } from "../../src/tracking/plan.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openTrackingWorld, type TrackingWorld } from "../support/tracking.js";

const MINUTE_MS = 60_000;

async function planOf({ modules, opened, clock }: TrackingWorld, limit = 20) {
  const [first] = opened;
  assert.ok(first);
  return readPlan({ modules, provider: first.provider, now: clock.now(), limit });
}

onSqliteAndLong("The plan of a worker", (engine) => {
  test("lists what is due in the order of the requests, with the reason of each", async (t) => {
    const world = await openTrackingWorld(t, await engine.open(), [
      { kind: "github", name: "GITHUB", repositories: 6, catalogue: "quiet", tokens: ["one"] },
    ]);
    await world.pass(3 * HOUR_MS);
    await world.stop();
    const { modules, clock } = world;
    const before = await planOf(world);
    assert.equal(before.refresh.due, 0);
    assert.ok((before.refresh.nextAt ?? 0) > clock.now());

    const rows = await modules.database.read
      .selectFrom("repositories")
      .select(["id", "name"])
      .orderBy("id")
      .execute();
    const [failed, missing, unread, quiet] = rows;
    assert.ok(failed && missing && unread && quiet);
    const { write } = modules.database;
    for (const [i, { id }] of [failed, missing, unread, quiet].entries())
      await write
        .updateTable("repositories")
        .set({ next_refresh_at: clock.now() - (10 - i) * MINUTE_MS })
        .where("id", "=", id)
        .execute();
    const track = (id: number) => write.updateTable("tracking").where("repository_id", "=", id);
    await track(failed.id).set({ failures: 3 }).execute();
    await track(missing.id)
      .set({ missing_since: clock.now() - HOUR_MS })
      .execute();
    await write
      .updateTable("repositories")
      .set({ refresh_interval: null })
      .where("id", "=", unread.id)
      .execute();
    await track(quiet.id)
      .set({ recheck_at: clock.now() - 1 })
      .execute();

    const { refresh, recheck, walk } = await planOf(world);
    assert.equal(refresh.due, 4);
    assert.deepEqual(
      refresh.first.map(({ fullName }) => fullName.split("/")[1]),
      [failed, missing, unread, quiet].map(({ name }) => name),
    );
    assert.deepEqual(
      refresh.first.slice(0, 3).map(({ why }) => why),
      [
        "tried again after 3 failures",
        "its forge reports it missing, which is not confirmed",
        "never read from its forge",
      ],
    );
    assert.match(
      refresh.first[3]?.why ?? "",
      /^every [\d.]+ (h|days): (\d+ stars gained in \w+|no gain is known|its growth is not known yet)$/,
    );
    assert.deepEqual(
      recheck.first.map(({ fullName }) => fullName.split("/")[1]),
      [quiet.name],
    );
    assert.deepEqual([walk?.isDue, walk?.why], [false, "the last walk is recent"]);
    assert.equal((await planOf(world, 1)).refresh.first.length, 1, "the list is bounded");
  });

  test("lists requests to track, those of people before batches, and leaves out what is postponed", async (t) => {
    const world = await openTrackingWorld(t, await engine.open(), [
      { kind: "github", name: "GITHUB", repositories: 2, catalogue: "quiet", tokens: ["one"] },
    ]);
    await world.stop();
    const { modules, clock, opened } = world;
    assert.equal((await planOf(world)).requests.due, 0);
    const names = ["o/one", "o/two"].map((fullName) => ({ provider: "GITHUB", fullName }));
    await modules.trackRequests.add(names, { isBatch: true });
    const policy = { access: "everyone", forges: opened.map(({ provider }) => provider.settings) } as const;
    const requester = { hasAccount: false, adding: undefined };
    for (const name of ["o/read", "o/postponed"])
      await modules.trackRequests.request(`github:${name}`, { policy, requester });
    const { write } = modules.database;
    const change = (name: string) => write.updateTable("wanted").where("text", "=", name);
    await change("o/read").set({ repository_id: 1 }).execute();
    await change("o/postponed")
      .set({ retry_at: clock.now() + MINUTE_MS })
      .execute();
    const { requests } = await planOf(world);
    assert.equal(requests.due, 3);
    assert.deepEqual(
      requests.first.map(({ fullName, why, dueAt }) => [fullName, why, dueAt]),
      [
        ["o/read", "requested; the next page of its star history", clock.now()],
        ["o/one", "requested with others", clock.now()],
        ["o/two", "requested with others", clock.now()],
      ],
    );
    assert.equal((await planOf(world, 1)).requests.first.length, 1);
  });
});
