import assert from "node:assert/strict";
import { before, test } from "node:test";
import type { Snapshot } from "../../src/repositories/repositories.js";
import { onBothEngines } from "../support/engines.js";
import { ramp } from "../support/readings.js";
import { createWorld, observation, snapshot, type World } from "../support/world.js";

/** A snapshot a day up to now, with a fork for ten stars. */
const inDays = (...stars: number[]): Snapshot[] =>
  stars.map((count, i) =>
    snapshot(24 * (stars.length - 1 - i), count, { forks: Math.floor(count / 10), source: "OBSERVED" }),
  );

const RANKINGS = ["trending", "stars-gained", "forks-gained"];

onBothEngines("After a fall that lasted", (engine) => {
  let world: World;
  const FALLS = { zero: 9, long: 11, half: 20, fifth: 14, forgotten: 100, lasting: 190 };
  const LOW = { zero: 0, long: 11, half: 3_500, fifth: 5_600, forgotten: 11, lasting: 5_600 };
  const names = Object.keys(FALLS) as (keyof typeof FALLS)[];

  before(async () => {
    world = await createWorld(engine);
    const observations = names.map((name) =>
      observation(`fell/${name}`, inDays(...ramp(6_980, 1, 20), ...ramp(LOW[name], 0, FALLS[name]), 7_043)),
    );
    const plain = [100, 200, 300].map((gain) =>
      observation(`plain/gains-${gain}`, inDays(...ramp(5_000, gain, 29), 5_000 + 30 * gain)),
    );
    // The last reading of each arrives later than those of others, so that growth is updated and not rebuilt.
    await world.record(
      ...plain,
      ...observations.map((each) => ({ ...each, facts: {}, snapshots: [...each.snapshots].slice(0, -1) })),
    );
    await world.record(...observations);
  });

  test("repositories that gain more than usual lead every ranking", async () => {
    for (const ranking of RANKINGS)
      for (const window of ["24h", "7d"])
        for (const more of ["", "&excludeAnomalous=true"]) {
          const query = `sort=${ranking}&window=${window}${more}`;
          const { body } = await world.get(`/api/repos?${query}`);
          assert.deepEqual(
            body.data.slice(0, 3).map(({ fullName }: { fullName: string }) => fullName),
            ["plain/gains-300", "plain/gains-200", "plain/gains-100"],
            query,
          );
        }
  });

  test("what was there before is no gain, and the change is shown", async () => {
    for (const name of names) {
      const { trends } = (await world.get(`/api/repos/github/fell/${name}`)).body.data;
      for (const window of ["24h", "7d", "30d"]) {
        const trend = trends[window];
        if (trend === null) continue;
        assert.ok(trend.starsCounted <= Math.min(64, Math.max(0, trend.starsDelta)), `${name} in ${window}`);
        assert.ok(trend.confidence <= 0.3, name);
        assert.equal(trend.anomalies[0].kind, "RETURN", name);
      }
    }
    const { trends } = (await world.get("/api/repos/github/fell/long")).body.data;
    assert.equal(trends["24h"], null, "12 days ago is too long ago for a day");
    assert.deepEqual([trends["7d"].starsDelta, trends["7d"].starsCounted], [44, 44]);
  });
});
