import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "../../../bench/synthetic/random.js";
import type { BulkRow } from "../../../src/database/dialect.js";
import { WINDOW_HOURS, WINDOWS } from "../../../src/growth/definitions.js";
import { replaceRollups } from "../../../src/growth/replace-rollups.js";
import { ROLLUPS } from "../../../src/growth/rollups.js";
import { onBothEngines } from "../../support/engines.js";

const NAMES = Object.keys(ROLLUPS.columns);
const NULLABLE = new Set([
  ...["forks_delta", "open_issues_delta", "forks_counted", "stars_growth", "forks_from", "open_issues_from"],
  ...["first_seen_at", "anomalies", "trending", "rising", "new_hot", "star_momentum"],
  ...["fork_momentum", "activity", "stars_usual"],
]);

/** A row in which each column has one of a few values, so that often the same ones are drawn again. */
function rowOf(random: Random, id: number, windowHours: number): BulkRow {
  return NAMES.map((name) => {
    if (name === "repository_id") return id;
    if (name === "window_hours") return windowHours;
    if (NULLABLE.has(name) && random.chance(0.2)) return null;
    const number = random.between(0, 2);
    return ROLLUPS.columns[name] === "text" ? `text ${number}` : number;
  });
}

onBothEngines("Rollups that are replaced", (engine) => {
  test("are the new ones in every column, and those of other repositories stay", async () => {
    const { dialect, read, write } = await engine.open();
    const random = new Random(5);
    const expected = new Map<string, BulkRow>();
    for (const [first, last] of [
      [1, 60],
      [1, 40],
      [20, 60],
      [1, 60],
    ] as const) {
      const ids = Array.from({ length: last - first + 1 }, (_, i) => first + i);
      const rows = ids.flatMap((id) =>
        WINDOWS.flatMap((window) => (random.chance(0.2) ? [] : [rowOf(random, id, WINDOW_HOURS[window])])),
      );
      for (const [key, [id]] of expected) if (ids.includes(Number(id))) expected.delete(key);
      for (const row of rows) expected.set(`${row[0]} ${row[1]}`, row);
      await write.transaction().execute((tx) => replaceRollups(tx, dialect, { ids, rows }));
      const stored = await read.selectFrom("rollups").selectAll().execute();
      const found = new Map(
        stored.map((row) => [
          `${row.repository_id} ${row.window_hours}`,
          Object.entries(row)
            .sort(([a], [b]) => NAMES.indexOf(a) - NAMES.indexOf(b))
            .map(([, value]) => value),
        ]),
      );
      assert.deepEqual(found, expected);
    }
  });
});
