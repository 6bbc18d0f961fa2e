import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createTrackingWorld } from "../support/tracking.js";
import { makeAllDue, openSqlite } from "./truth.js";

const STEP_MS = 5 * 60_000;
/** The most that the paces allow in 30 minutes, with the burst after a pause. */
const BOUNDS = { CODEBERG: 1_010, WORK: 1_810, GITLAB: 3_610 } as const;

describe("The pace of all lanes together", () => {
  // It is kept in memory, so one engine is enough.
  test("stays below the limits of a forge while everything is due, and uses what they leave", async (t) => {
    const world = await createTrackingWorld(await openSqlite(), [
      { kind: "forgejo", name: "CODEBERG", repositories: 1_500, catalogue: "quiet", tokens: [] },
      { kind: "forgejo", name: "WORK", repositories: 300, catalogue: "quiet" },
      { kind: "gitlab", name: "GITLAB", repositories: 300, catalogue: "quiet", tokens: [] },
    ]);
    t.after(() => world.close());
    await world.pass(STEP_MS);
    await makeAllDue(world);
    const steps = new Map<string, number[]>([...world.forges.keys()].map((name) => [name, []]));
    for (let step = 0; step < 12; step++) {
      const before = new Map([...world.forges].map(([name, { counters }]) => [name, counters.requests]));
      await world.pass(STEP_MS);
      for (const [name, { counters }] of world.forges)
        steps.get(name)?.push(counters.requests - (before.get(name) ?? 0));
    }
    for (const [name, bound] of Object.entries(BOUNDS)) {
      const counts = steps.get(name) ?? [];
      const halfHours = counts.slice(5).map((_, i) => sum(counts.slice(i, i + 6)));
      const most = Math.max(...halfHours);
      assert.ok(most <= bound, `${name}: ${most}`);
      if (name === "CODEBERG") assert.ok(most >= 0.9 * bound, `${name}: only ${most}`);
      const mean = Math.round(sum(halfHours) / halfHours.length);
      process.stdout.write(`# ${name}: most ${most}, mean ${mean} in 30 minutes\n`);
    }
    for (const { violations } of world.forges.values()) assert.deepEqual(violations, []);
  });
});

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
