import assert from "node:assert/strict";
import { test } from "node:test";
import { fillWithSynthetic } from "../../bench/synthetic/synthetic.js";
import { readGains, WINDOW_HOURS, WINDOWS } from "../../src/growth/growth.js";
import { updateDerived } from "../../src/modules.js";
import { onBothEngines } from "../support/engines.js";
import { createWorld, NOW } from "../support/world.js";

onBothEngines("Gains, from which repositories are due,", (engine) => {
  test("are those of the trends, of shorter windows first", async () => {
    const { modules } = await createWorld(engine);
    await fillWithSynthetic(modules.catalog, { repositories: 1_000, days: 12, seed: 7, end: NOW });
    await updateDerived(modules);
    const ids = (await modules.catalog.dump(0, 1_000)).map(({ repository }) => repository.id);
    const expected = new Map<number, object[]>();
    for (const window of WINDOWS)
      for (const [id, { from, to, starsDelta, forksDelta }] of await modules.rankings.trends(ids, window))
        expected.set(id, [
          ...(expected.get(id) ?? []),
          { windowHours: WINDOW_HOURS[window], from, to, starsDelta, forksDelta },
        ]);
    assert.ok(expected.size > 900, `${expected.size} repositories grow`);
    const { read, dialect } = modules.database;
    const byId = (gains: ReadonlyMap<number, unknown>) => [...gains].sort(([a], [b]) => a - b);
    assert.deepEqual(byId(await readGains(read, dialect, ids)), byId(expected));
  });
});
