import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { DAY_MS } from "../../../src/lib/clock.js";
import { updateDerived } from "../../../src/modules.js";
import type { Observation } from "../../../src/repositories/repository.js";
import { onBothEngines } from "../../support/engines.js";
import { fc } from "../../support/properties.js";
import { createWorld, NOW, observation, snapshot, type World } from "../../support/world.js";

const PLAIN = ["stars", "stars-gained", "forks-gained"];

/**
 * Ranks and facets with names instead of ids, as ids depend on the order of recording. Only rankings by counts, as score
 * scales are measured once a day. Histories of some repositories only, to save time.
 */
async function dump({ modules }: World): Promise<Record<string, unknown[]>> {
  const repositories = await modules.database.read
    .selectFrom("repositories")
    .select(["id", "name"])
    .execute();
  const ranks = await Promise.all(
    repositories.map(async ({ id, name }) =>
      (await modules.rankings.ranks(id))
        .filter(({ ranking }) => PLAIN.includes(ranking))
        .map((rank) => ({ repository: name, ...rank })),
    ),
  );
  const some = repositories.filter(({ name }) => ["r0", "r7", "r39", "r40", "r79"].includes(name));
  const histories = await Promise.all(
    some.map(async ({ id, name }) => {
      const history = await modules.rankings.rankHistory(id, 0, 1_000);
      return { name, history: history.filter(({ ranking }) => PLAIN.includes(ranking)) };
    }),
  );
  return {
    ranks: ranks.flat().sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    histories: histories.sort((a, b) => (a.name < b.name ? -1 : 1)),
    facets: await Promise.all(
      (["language", "topic"] as const).map((kind) =>
        modules.rankings.facets({ kind, window: "24h", sort: "repository-count", limit: 100, offset: 0 }),
      ),
    ),
  };
}

interface Change {
  repository: number;
  stars: number;
  forks: number;
  language: string | null;
  topics: string[];
  fork: boolean;
  availability: "AVAILABLE" | "GONE";
}

const change: fc.Arbitrary<Change> = fc.record({
  repository: fc.integer({ min: 0, max: 79 }),
  stars: fc.integer({ min: 0, max: 40 }),
  forks: fc.integer({ min: 0, max: 5 }),
  language: fc.constantFrom("Go", "Rust", null),
  topics: fc.subarray(["web", "cli"]),
  fork: fc.boolean(),
  availability: fc.constantFrom("AVAILABLE", "AVAILABLE", "AVAILABLE", "GONE"),
});

const START = Array.from(
  { length: 80 },
  (_, repository): Change => ({
    repository,
    stars: repository % 40,
    forks: repository % 3,
    language: "Go",
    topics: repository % 7 === 0 ? ["web", "cli"] : ["web"],
    fork: false,
    availability: "AVAILABLE",
  }),
);

function observed({ repository, stars, forks, ...facts }: Change, minute: number): Observation {
  const counts = { stars, forks };
  return observation(
    `o/r${repository}`,
    [snapshot(24, repository % 40, { forks: 1 }), snapshot(-minute / 60, stars, { forks })],
    {
      at: NOW + minute * 60_000,
      provider: repository % 5 === 0 ? "CODEBERG" : "GITHUB",
      facts: { ...facts, ...counts },
    },
  );
}

onBothEngines("Ranks and facets", (engine) => {
  test("updated change by change equal those of one update", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(change, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 4 }),
        async (rounds) => {
          const [stepwise, once] = [await createWorld(engine), await createWorld(engine)];
          await stepwise.modules.catalog.record(START.map((each) => observed(each, 0)));
          await stepwise.modules.rankings.update();
          for (const [i, round] of rounds.entries()) {
            await stepwise.modules.catalog.record(round.map((each) => observed(each, i + 1)));
            await stepwise.modules.rankings.update();
          }
          await once.modules.catalog.record(START.map((each) => observed(each, 0)));
          for (const [i, round] of rounds.entries())
            await once.modules.catalog.record(round.map((each) => observed(each, i + 1)));
          await updateDerived(once.modules);
          assert.deepEqual(await dump(stepwise), await dump(once));
          for (const world of [stepwise, once]) await world.modules.database.close();
        },
      ),
      { numRuns: engine.name === "sqlite" ? 25 : 3 },
    );
  });

  test("the rank history holds the last ranks of each day, and the present ranks for the present day", async () => {
    const world = await createWorld(engine);
    const { catalog, rankings, database } = world.modules;
    const record = async (day: number, hour: number, counts: Record<string, number>) => {
      const at = NOW + day * DAY_MS + hour * 3_600_000;
      await catalog.record(
        Object.entries(counts).map(([name, stars]) =>
          observation(
            `o/${name}`,
            [snapshot(-day * 24 - hour + 24, stars - 1), snapshot(-day * 24 - hour, stars)],
            {
              at,
              facts: { language: "Go" },
            },
          ),
        ),
      );
      await rankings.update();
    };
    const historyOf = async (name: string) => {
      const { id } = (await catalog.findByName("GITHUB", `o/${name}`))?.repository ?? { id: 0 };
      return (await rankings.rankHistory(id, 0, 100))
        .filter(({ ranking }) => ranking === "stars")
        .map(({ day, window, scope, position }) => [(day - TODAY) / DAY_MS, window, scope, position]);
    };
    const TODAY = Math.floor(NOW / DAY_MS) * DAY_MS;
    const archived = async () =>
      (await database.read.selectFrom("rank_history").select(["repository_id", "day"]).execute()).length;

    await record(0, 0, { a: 100, b: 90 });
    await record(0, 1, { b: 110 });
    assert.equal(await archived(), 0, "the present day is not archived");
    await record(1, 0, { a: 120 });
    assert.equal(await archived(), 2, "one row per ranked repository and day");
    await record(1, 1, { a: 125 });
    assert.equal(await archived(), 2, "archived once a day");
    await record(3, 0, { a: 126 });
    assert.deepEqual(await historyOf("a"), [
      [0, null, "overall", 2],
      [0, null, "language", 2],
      [1, null, "overall", 1],
      [1, null, "language", 1],
      [3, null, "overall", 1],
      [3, null, "language", 1],
    ]);
    const [a = 0, b = 0] = (
      await database.read.selectFrom("repositories").select("id").orderBy("id").execute()
    ).map(({ id: own }) => own);
    assert.deepEqual(
      [...(await rankings.moves([b, a], { ranking: "stars", window: null }))],
      [
        [b, 1],
        [a, -1],
      ],
      "compared with the last stored day",
    );
    await catalog.record([
      observation("o/b", [], { at: NOW + 3 * DAY_MS + 60_000, facts: { availability: "GONE" } }),
    ]);
    await rankings.update();
    assert.deepEqual(
      (await historyOf("b")).map(([day]) => day),
      [0, 0, 1, 1],
      "it left the ranking on the present day",
    );
    const { id = 0 } = (await catalog.findByName("GITHUB", "o/b"))?.repository ?? {};
    assert.equal((await rankings.rankHistory(id, 0, 1)).length, 1, "only the latest");
    await record(402, 0, { a: 130 });
    assert.deepEqual(
      (await historyOf("a")).map(([day]) => day),
      [3, 3, 402, 402],
      "400 days are stored",
    );
  });

  test("past ranks are the same after they are packed, and 400 days are stored", async () => {
    const world = await createWorld(engine);
    const { catalog, rankings, database, deletionClock } = world.modules;
    const DAYS = 45;
    for (let day = 0; day < DAYS; day++) {
      const at = NOW + day * DAY_MS;
      // Each is absent on some days.
      const names = ["a", "b", "c", "d", "e"].filter((_, i) => (day + i) % 7 > 0);
      await catalog.record(
        names.map((name, i) =>
          observation(`o/${name}`, [snapshot(-24 * day, 1_000 + ((i * day) % 37))], {
            at,
            facts: { language: "Go" },
          }),
        ),
      );
      await rankings.update();
    }
    const ids = (await database.read.selectFrom("repositories").select("id").execute()).map(({ id }) => id);
    const read = () => Promise.all(ids.map((id) => rankings.rankHistory(id, 0, 10_000)));
    const histories = await read();
    assert.ok((histories[0]?.length ?? 0) > DAYS);
    await sql`update rank_history set ranks = ranks || ',r24o1'`.execute(database.write);
    assert.deepEqual(await read(), histories, "rising had ranks once");
    for (const packed of [1, ids.length - 1, 0]) {
      assert.equal(await rankings.pack(packed || ids.length), packed);
      assert.deepEqual(await read(), histories);
    }
    assert.deepEqual(await database.read.selectFrom("rank_history").selectAll().execute(), []);
    const since = NOW + 40 * DAY_MS;
    const late = (await rankings.rankHistory(ids[0] ?? 0, since, 10_000)).map(({ day }) => day);
    assert.equal(Math.min(...late), Math.floor(since / DAY_MS) * DAY_MS);
    const newer = async (day: number) => {
      const at = NOW + day * DAY_MS;
      world.clock.set(at);
      await deletionClock.force();
      await catalog.record([observation("o/a", [snapshot(-24 * day, 5_000)], { at })]);
      await rankings.update();
      const all = await rankings.rankHistory(ids[0] ?? 0, 0, 10_000);
      return [Math.min(...all.map((rank) => rank.day)), Math.floor(at / DAY_MS) * DAY_MS - 399 * DAY_MS];
    };
    const [oldest = 0, limit = 0] = await newer(410);
    assert.ok(oldest >= limit && oldest < limit + 5 * DAY_MS, "days of a block are dropped one by one");
    // Each run deletes twenty days.
    for (const day of [900, 901, 902]) await newer(day);
    assert.deepEqual(await database.read.selectFrom("rank_blocks").selectAll().execute(), []);
  });

  test("an update without changes leaves cached responses valid", async () => {
    const world = await createWorld(engine);
    const { rankings, catalog } = world.modules;
    await catalog.record(START.map((each) => observed(each, 0)));
    await rankings.update();
    const revision = await catalog.revision();
    world.clock.advance(60_000);
    await rankings.update();
    assert.equal(await catalog.revision(), revision);
    await catalog.record([observed({ ...(START[3] as Change), stars: 900 }, 2)]);
    await rankings.update();
    assert.notEqual(await catalog.revision(), revision);
  });
});
