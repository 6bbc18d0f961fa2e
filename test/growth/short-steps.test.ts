import assert from "node:assert/strict";
import { test } from "node:test";
import { syntheticRepository } from "../../bench/synthetic/synthetic.js";
import type { Database } from "../../src/database/database.js";
import type { Dialect } from "../../src/database/dialect.js";
import { Slot } from "../../src/database/prepared.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { onBothEngines } from "../support/engines.js";
import { ManualClock } from "../support/manual-clock.js";
import { NOW } from "../support/world.js";

const REPOSITORIES = 6_000;
/** Most rows that one statement or several write while others wait. */
const MOST = 5_000;

/** Counts the rows that are written in each transaction under the lock of the catalogue. */
function counting(database: Database): { counted: Database; rows: number[] } {
  const rows: number[] = [];
  const { dialect } = database;
  const add = (count: number) => rows.push((rows.pop() ?? 0) + count);
  const watched: Dialect = {
    ...dialect,
    exclusively(db, purpose, work) {
      return dialect.exclusively(db, purpose, (tx) => {
        rows.push(0);
        return work(tx);
      });
    },
    insertNew(tx, target, given) {
      add(given.length);
      return dialect.insertNew(tx, target, given);
    },
    upsert(tx, target, given) {
      add(given.length);
      return dialect.upsert(tx, target, given);
    },
    updateRows(tx, target, given) {
      add(given.length);
      return dialect.updateRows(tx, target, given);
    },
    rowsOf(columns, given) {
      if (!(given instanceof Slot)) add(given.length);
      return dialect.rowsOf(columns, given);
    },
  };
  return { counted: { ...database, dialect: watched }, rows };
}

onBothEngines("Derived data", (engine) => {
  test("are written a few thousand rows at a time, however much has changed", async () => {
    const { counted, rows } = counting(await engine.open());
    const { catalog, rankings } = buildModules(counted, {
      clock: new ManualClock(NOW),
      log: createLog("silent"),
    });
    const options = { repositories: REPOSITORIES, days: 3, seed: 4, end: NOW };
    const all = Array.from({ length: REPOSITORIES }, (_, i) => syntheticRepository(i, options));
    await catalog.recordAll(all);
    const written = async (update: () => Promise<unknown>) => {
      rows.length = 0;
      await update();
      return { most: Math.max(...rows), total: rows.reduce((sum, count) => sum + count, 0) };
    };
    const rebuilt = await written(() => rankings.update());
    assert.ok(rebuilt.total > MOST, `${rebuilt.total} rows`);
    assert.ok(rebuilt.most <= MOST, `a rebuild wrote ${rebuilt.most} rows in a transaction`);

    const at = NOW + 60_000;
    await catalog.recordAll(
      all.map((each, i) => {
        const [last] = [...each.snapshots].slice(-1);
        const stars = (last?.stars ?? 0) + 1 + (i % 50);
        const snapshots = last === undefined ? [] : [{ ...last, capturedAt: at, stars }];
        return { ...each, at, facts: { ...each.facts, stars }, snapshots };
      }),
    );
    const updated = await written(() => rankings.update());
    assert.ok(updated.total > MOST, `${updated.total} rows`);
    assert.ok(updated.most <= MOST, `an update wrote ${updated.most} rows in a transaction`);
  });
});
