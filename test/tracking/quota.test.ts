import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { openTrackingWorld, type TrackedForge } from "../support/tracking.js";
import { makeAllDue, openSqlite } from "./truth.js";

describe("The quota of a forge", () => {
  // Quota is kept in memory, so one engine is enough.
  const start = async (t: TestContext, forge: TrackedForge) => {
    const world = await openTrackingWorld(t, await openSqlite(), [forge], { idleMs: 10 * 60_000 });
    return world;
  };
  const github = { kind: "github", name: "GITHUB", catalogue: "quiet" } as const;

  test("is never exceeded without a token, and everything is still refreshed", async (t) => {
    const world = await start(t, { ...github, repositories: 80, tokens: [] });
    await world.pass(DAY_MS);
    const forge = world.forge("GITHUB");
    assert.deepEqual(forge.violations, []);
    const { byToken, requests } = forge.counters;
    assert.equal(byToken.anonymous, requests);
    const never = await world.modules.database.read
      .selectFrom("repositories")
      .select((row) => row.fn.countAll().as("total"))
      .where("next_refresh_at", "<", world.clock.now() - DAY_MS / 2)
      .executeTakeFirst();
    assert.equal(Number(never?.total), 0, "a repository was starved");
  });

  test("is respected when it is nearly used up, on a Retry-After, and after a burst", async (t) => {
    for (const kind of ["github", "gitlab"] as const) {
      const world = await start(t, { kind, name: "FORGE", repositories: 40, catalogue: "quiet" });
      const forge = world.forge("FORGE");
      await world.pass(HOUR_MS);
      forge.switches.allowances = {
        ...forge.switches.allowances,
        core: { limit: 12, anonymous: 12, windowMs: HOUR_MS },
      };
      await makeAllDue(world);
      await world.pass(4 * HOUR_MS);
      const retryAfterSeconds = 1_800;
      for (const name of ["429-retry-after", kind === "github" ? "403-secondary" : "429-bare"] as const) {
        let left = 3;
        forge.switches.fault = () => (left-- > 0 ? { name, retryAfterSeconds } : undefined);
        await makeAllDue(world);
        await world.pass(3 * HOUR_MS);
      }
      assert.deepEqual(forge.violations, [], kind);
    }
  });

  test("that ends in a ban of hours is logged as a warning once, whatever is tried, and again with the next one", async (t) => {
    const world = await start(t, { ...github, repositories: 40 });
    await world.pass(HOUR_MS);
    const bans = () =>
      world.logged
        .map((line): { level: number; label?: string; msg: string } => JSON.parse(line))
        .filter(({ level, msg }) => level >= 40 && /wait until/.test(msg));
    const fault = { name: "429-retry-after", retryAfterSeconds: 99_999_999 } as const;
    world.forge("GITHUB").switches.fault = () => fault;
    await makeAllDue(world);
    await world.pass(20 * HOUR_MS);
    assert.deepEqual(
      bans().map(({ label, msg }) => [label, msg.replace(/2026-\S+:/, "")]),
      [["#1", "the forge asked to wait until  Too Many Requests"]],
    );
    await world.pass(10 * HOUR_MS);
    assert.equal(bans().length, 2);
  });

  test("that is far too small starves no repository", async (t) => {
    const world = await start(t, { kind: "gitlab", name: "GITLAB", repositories: 100, catalogue: "quiet" });
    const forge = world.forge("GITLAB");
    await world.pass(HOUR_MS);
    forge.switches.allowances = { core: { limit: 10, anonymous: 10, windowMs: HOUR_MS } };
    const from = world.clock.now();
    await makeAllDue(world);
    await world.pass(20 * HOUR_MS);
    const rows = await world.modules.database.read
      .selectFrom("repositories")
      .select("refreshed_at")
      .execute();
    assert.equal(rows.length, 100);
    const starved = rows.filter(({ refreshed_at }) => (refreshed_at ?? 0) <= from);
    assert.equal(starved.length, 0, `${forge.counters.requests} requests`);
    assert.deepEqual(forge.violations, []);
  });
});
