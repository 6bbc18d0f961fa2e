import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { startProxy } from "../support/proxy.js";
import { createTrackingWorld } from "../support/tracking.js";
import { checkTruth, makeAllDue, openSqlite } from "./truth.js";

describe("Behind a proxy that drops every tenth connection", () => {
  test("everything is refreshed, and nothing is lost or marked as gone", async (t) => {
    const proxy = await startProxy(10);
    const settings = { http: proxy.url, https: null, except: "" };
    const world = await createTrackingWorld(
      await openSqlite(),
      [
        { kind: "github", name: "GITHUB", repositories: 20, catalogue: "quiet", proxy: settings },
        { kind: "gitlab", name: "GITLAB", repositories: 20, catalogue: "quiet", proxy: settings },
        { kind: "forgejo", name: "CODEBERG", repositories: 20, catalogue: "quiet", proxy: settings },
      ],
      { idleMs: 10 * 60_000 },
    );
    t.after(async () => {
      await world.close();
      await proxy.close();
    });
    await world.pass(2 * HOUR_MS);
    for (let round = 0; round < 4; round++) {
      const from = world.clock.now();
      await makeAllDue(world);
      await world.pass(6 * HOUR_MS);
      const rows = await world.modules.database.read
        .selectFrom("repositories")
        .select(["provider", "name", "availability", "refreshed_at"])
        .execute();
      assert.equal(rows.length, 60);
      for (const { provider, name, availability, refreshed_at } of rows) {
        assert.equal(availability, "AVAILABLE", `${provider} ${name}`);
        assert.ok((refreshed_at ?? 0) > from, `${provider} ${name} was not refreshed`);
      }
    }
    assert.ok(proxy.dropped >= 10, `${proxy.dropped} of ${proxy.connections} were dropped`);
    assert.ok((await checkTruth(world, { from: 0, to: world.clock.now() + DAY_MS })) > 100);
    for (const { violations } of world.forges.values()) assert.deepEqual(violations, []);
    process.stdout.write(`# dropped ${proxy.dropped} of ${proxy.connections} connections\n`);
  });
});
