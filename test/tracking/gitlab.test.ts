import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openTrackingWorld } from "../support/tracking.js";
import { checkTruth } from "./truth.js";

onSqliteAndLong("A GitLab", (engine) => {
  test("has languages and few requests over GraphQL, and loses nothing while that is switched off, which its status says", async (t) => {
    const world = await openTrackingWorld(
      t,
      await engine.open(),
      [{ kind: "gitlab", name: "GITLAB", repositories: 150, catalogue: "quiet", minStars: 1 }],
      { idleMs: 10 * 60_000 },
    );
    const { forge, clock, modules } = world;
    const { catalogue, counters, switches } = forge("GITLAB");
    const rows = () =>
      modules.database.read
        .selectFrom("repositories")
        .select(["id", "provider_id", "owner", "name", "language", "availability"])
        .orderBy("id")
        .execute();
    await world.pass(DAY_MS);
    const before = await rows();
    assert.equal(before.length, 150);
    for (const { provider_id, language } of before)
      assert.equal(language, catalogue.get(Number(provider_id), clock.now())?.language);
    assert.deepEqual(Object.keys(counters.byKind), ["graphql"]);
    assert.ok(counters.requests < 150, `${counters.requests} requests`);

    switches.gitlabGraphql = { offered: "none", lacks: [] };
    await world.pass(2 * DAY_MS);
    assert.deepEqual(await rows(), before, "nothing is lost, and languages stay");
    const { failing } = world.worker.reporters.get("GITLAB")?.report ?? {};
    assert.match(failing?.message ?? "", /does not offer us GraphQL/);
    switches.gitlabGraphql = { offered: "all", lacks: [] };
    await world.pass(DAY_MS + HOUR_MS);
    assert.deepEqual(await rows(), before);
    await checkTruth(world);
  });
});
