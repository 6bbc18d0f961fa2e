import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../../bench/synthetic/random.js";
import { syntheticRepository } from "../../../bench/synthetic/synthetic.js";
import { createLog } from "../../../src/lib/log.js";
import { buildModules, updateDerived } from "../../../src/modules.js";
import type { Observation } from "../../../src/repositories/repository.js";
import { type Engine, onBothEngines } from "../../support/engines.js";
import { listOf } from "../../support/lists.js";
import { ManualClock } from "../../support/manual-clock.js";
import { NOW } from "../../support/world.js";

const OPTIONS = { repositories: 80, days: 40, seed: 7, end: NOW };
const histories = Array.from({ length: OPTIONS.repositories }, (_, i) => syntheticRepository(i, OPTIONS));

/** The same histories as one observation a day, as an archive has them. */
const byDay: Observation[] = histories.flatMap((history) =>
  [...history.snapshots].map((snapshot): Observation => {
    const { stars, forks, openIssues, watchers, capturedAt } = snapshot;
    return {
      ...history,
      at: capturedAt,
      facts: { ...history.facts, stars, forks, openIssues, watchers },
      snapshots: [snapshot],
    };
  }),
);

function shuffled<T>(values: readonly T[], seed: number): T[] {
  const random = new Random(seed);
  const rest = [...values];
  return Array.from({ length: rest.length }, () => rest.splice(random.between(0, rest.length - 1), 1)).flat();
}

/** Everything that rankings derive, with names instead of ids, as ids depend on the order of recording. */
async function derived(engine: Engine, batches: readonly (readonly Observation[])[]): Promise<string> {
  const modules = buildModules(await engine.open(), {
    clock: new ManualClock(NOW),
    log: createLog("silent"),
  });
  for (const batch of batches) {
    await modules.catalog.record(batch);
    await updateDerived(modules);
  }
  const { read } = modules.database;
  const names = await read.selectFrom("repositories").select(["id", "provider", "name_key"]).execute();
  const nameOf = new Map(names.map((row) => [row.id, `${row.provider} ${row.name_key}`]));
  const rollups = await read.selectFrom("rollups").selectAll().execute();
  const facets = await Promise.all(
    (["language", "topic"] as const).map((kind) =>
      modules.rankings.facets({ kind, window: "30d", sort: "repository-count", limit: 1_000, offset: 0 }),
    ),
  );
  const named = rollups.map(({ repository_id, ...row }) => JSON.stringify([nameOf.get(repository_id), row]));
  return JSON.stringify([named.sort(), facets]);
}

/** The result on the first engine, to compare with the second. */
let first: string | undefined;

onBothEngines("derived rankings", (engine) => {
  test("do not depend on the order of recording, and are the same on both engines", async () => {
    const whole = await derived(engine, [histories]);
    assert.ok(whole.length > 20_000, "too little to compare");
    const mixed = shuffled(byDay, 3);
    const half = Math.floor(mixed.length / 2);
    assert.equal(await derived(engine, [mixed.slice(0, half), mixed.slice(half)]), whole);
    assert.equal(await derived(engine, [[...histories].reverse()]), whole);
    first ??= whole;
    assert.equal(whole, first);
  });

  test("a ranking is complete, and ties go to the greater id", async () => {
    const modules = buildModules(await engine.open(), {
      clock: new ManualClock(NOW),
      log: createLog("silent"),
    });
    await modules.catalog.record(histories);
    await updateDerived(modules);
    const filters = { archived: false, fork: false };
    const page = await modules.lists.read(
      listOf({ filters, sort: "stars-gained", page: { limit: 100, offset: 0 } }),
    );
    const pairs = page.rows.map(({ repository, trend }) => [trend?.starsDelta ?? 0, repository.id] as const);
    assert.deepEqual(
      pairs,
      pairs.toSorted(([a, idA], [b, idB]) => b - a || idB - idA),
    );
    const ids = await modules.database.read.selectFrom("repositories").select("id").execute();
    const ranks = await Promise.all(
      ids.map(async ({ id }) =>
        (await modules.rankings.ranks(id)).map((rank) => ({ ...rank, repository_id: id })),
      ),
    );
    const ranked = ranks
      .flat()
      .filter(
        ({ ranking, window, scope }) => ranking === "stars-gained" && window === "24h" && scope === "overall",
      )
      .sort((a, b) => a.position - b.position);
    const gained = pairs.filter(([key]) => key > 0).map(([, id]) => id);
    assert.deepEqual(
      ranked.map((row) => row.repository_id),
      gained,
    );
    assert.deepEqual(
      ranked.map((row) => row.position),
      gained.map((_, i) => i + 1),
    );
  });
});
