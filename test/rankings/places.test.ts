import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import type { Observation } from "../../src/catalog/catalog.js";
import type { Database } from "../../src/database/database.js";
import { updateDerived } from "../../src/modules.js";
import { onBothEngines } from "../support/engines.js";
import { fc } from "../support/properties.js";
import { createWorld, NOW, observation, snapshot, type World } from "../support/world.js";

/** Names for ids, which depend on the order of recording; what the scales of the scores have no part in. */
async function dump(database: Database): Promise<Record<string, unknown[]>> {
  const rows = async (text: string) => (await sql.raw(text).execute(database.read)).rows;
  const plain = "ranking in ('stars', 'stars_gained', 'forks_gained')";
  return {
    positions: await rows(`select ranking, window_hours, scope, scope_name, position, value, r.name
      from positions p join repositories r on r.id = p.repository_id
      where ${plain} and position <= case scope when 'topic' then 50 when 'language' then 200 else 1000 end order by 1, 2, 3, 4, 5`),
    history: await rows(`select ranking, window_hours, scope, day, position, r.name from rank_history h
      join repositories r on r.id = h.repository_id where ${plain} order by 1, 2, 3, 4, 5, 6`),
    facets: await rows("select * from facets order by kind, provider, name"),
  };
}

interface Change {
  place: number;
  stars: number;
  forks: number;
  language: string | null;
  topics: string[];
  fork: boolean;
  availability: "AVAILABLE" | "GONE";
}

const change: fc.Arbitrary<Change> = fc.record({
  place: fc.integer({ min: 0, max: 79 }),
  stars: fc.integer({ min: 0, max: 40 }),
  forks: fc.integer({ min: 0, max: 5 }),
  language: fc.constantFrom("Go", "Rust", null),
  topics: fc.subarray(["web", "cli"]),
  fork: fc.boolean(),
  availability: fc.constantFrom("AVAILABLE", "AVAILABLE", "AVAILABLE", "GONE"),
});

const START = Array.from({ length: 80 }, (_, place): Change => {
  const topics = place % 7 === 0 ? ["web", "cli"] : ["web"];
  return {
    place,
    stars: place % 40,
    forks: place % 3,
    language: "Go",
    topics,
    fork: false,
    availability: "AVAILABLE",
  };
});

function told({ place, stars, forks, ...facts }: Change, minute: number): Observation {
  const counts = { stars, forks };
  const at = NOW + minute * 60_000;
  return observation(
    `o/r${place}`,
    [snapshot(24, place % 40, { forks: 1 }), snapshot(-minute / 60, stars, { forks })],
    {
      at,
      provider: place % 5 === 0 ? "CODEBERG" : "GITHUB",
      facts: { ...facts, ...counts },
    },
  );
}

/** Brings up to date only what changed. */
async function follow(world: World): Promise<void> {
  await world.modules.rankings.update();
  await world.modules.rankings.summarize();
}

onBothEngines("Places and facets", (engine) => {
  test("kept by what changed are those made anew, also where a list loses more than its reserve", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 4 }),
        async (rounds) => {
          const [bitByBit, once] = [await createWorld(engine), await createWorld(engine)];
          await bitByBit.modules.catalog.record(START.map((each) => told(each, 0)));
          await follow(bitByBit);
          for (const [i, round] of rounds.entries()) {
            await bitByBit.modules.catalog.record(round.map((each) => told(each, i + 1)));
            await follow(bitByBit);
          }
          await once.modules.catalog.record(START.map((each) => told(each, 0)));
          for (const [i, round] of rounds.entries())
            await once.modules.catalog.record(round.map((each) => told(each, i + 1)));
          await updateDerived(once.modules);
          assert.deepEqual(await dump(bitByBit.modules.database), await dump(once.modules.database));
          for (const world of [bitByBit, once]) await world.modules.database.close();
        },
      ),
      { numRuns: engine.name === "sqlite" ? 25 : 3 },
    );
  });

  test("a run over everything that was abandoned is begun anew, and one that lives is left alone", async () => {
    const world = await createWorld(engine);
    const { database } = world.modules;
    await world.modules.catalog.record(START.map((each) => told(each, 0)));
    const own = `${(await import("node:os")).hostname()} ${process.pid} 99`;
    for (const id of [1, 2])
      await database.write
        .updateTable("runs")
        .set({ owner: own, seen_at: world.clock.now() })
        .where("id", "=", id)
        .execute();
    await updateDerived(world.modules);
    assert.equal((await world.get("/api/repos?sort=stars_gained")).body.data.length > 0, true);
    assert.deepEqual((await world.get("/api/facets/languages")).body.data, []);
    world.clock.advance(61 * 60_000);
    await updateDerived(world.modules);
    assert.equal((await world.get("/api/facets/languages")).body.data[0].name, "Go");
    const rows = await database.read.selectFrom("runs").select("owner").execute();
    assert.deepEqual(
      rows.map(({ owner }) => owner),
      [null, null],
    );
  });

  test("a purge tells how many others fell on its day", async () => {
    const world = await createWorld(engine);
    const falling = (name: string, from: number, to: number) =>
      observation(name, [snapshot(48, from), snapshot(24, from), snapshot(0, to)]);
    await world.record(
      falling("o/purged", 9_000, 8_000),
      falling("o/less", 50, 49),
      falling("o/more", 50, 52),
    );
    const { anomalies } = (await world.get("/api/repos/github/o/purged")).body.data.trends["24h"];
    assert.deepEqual([anomalies[0].kind, anomalies[0].sameDay], ["PURGE", { fell: 2, compared: 3 }]);
  });
});
