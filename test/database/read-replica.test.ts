import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { sql } from "kysely";
import pg from "pg";
import { type Database, openDatabase } from "../../src/database/database.js";
import { DatabaseFault } from "../../src/database/fault.js";
import { Client, type StatementPool } from "../../src/database/postgres-pool.js";
import { ReplicaPool } from "../../src/database/read-replica.js";
import { readSeries, readSeveralStored } from "../../src/growth/growth.js";
import { Catalog } from "../../src/repositories/repositories.js";
import { onBothEngines } from "../support/engines.js";
import { recordedLog } from "../support/logs.js";
import { ManualClock } from "../support/manual-clock.js";
import { daily, NOW, observation } from "../support/world.js";

onBothEngines("Slow reads", (engine) => {
  const clock = new ManualClock(NOW);
  const catalogOf = async (stars: number): Promise<{ catalog: Catalog; database: Database }> => {
    const database = await engine.open();
    const catalog = new Catalog(database, clock);
    await catalog.record([observation("a/one", daily(stars))]);
    return { catalog, database };
  };
  const starsOf = async ({ catalog, database }: { catalog: Catalog; database: Database }) => {
    const { readings } = await readSeries(database, 1);
    const several = await readSeveralStored(database, [1], { lengthMs: undefined, step: "all" });
    const [dumped] = await catalog.dump(0, 1);
    return [readings.snapshots(), several.of(1).points, dumped?.snapshots].map((all) => all?.[0]?.stars);
  };

  if (engine.name === "sqlite")
    test("are those of the database", async () => {
      assert.deepEqual(await starsOf(await catalogOf(5)), [5, 5, 5]);
    });
  else
    test("are those of the replica, and of the primary when the replica cannot be reached", async () => {
      await catalogOf(5);
      const { url: readUrl } = engine.location();
      await catalogOf(7);
      const { log } = recordedLog("warn");
      const open = async (address: string | undefined) => {
        const options = { ...engine.location(), pool: 2, log, readUrl: address };
        const database = await openDatabase(options);
        after(() => database.close());
        return { database, catalog: new Catalog(database, clock) };
      };
      const { catalog, database } = await open(readUrl);
      assert.deepEqual(await starsOf({ catalog, database }), [5, 5, 5]);
      assert.equal((await catalog.findMany([1]))[0]?.stars, 7, "everything else is read from the primary");
      const { rows } = await sql`select 1 as one`.execute(database.slowReads.read);
      assert.deepEqual(rows, [{ one: 1 }]);
      assert.deepEqual(await starsOf(await open("postgres://u@127.0.0.1:1/none")), [7, 7, 7]);
    });
});

describe("A statement for a replica", () => {
  const clock = new ManualClock(NOW);
  /** A pool whose statements end with the error, if there is one. */
  const fake = () => {
    const pool = {
      runs: 0,
      error: undefined as unknown,
      async run(): Promise<pg.QueryResult> {
        pool.runs++;
        if (pool.error !== undefined) throw pool.error;
        return { command: "SELECT", rowCount: 0, oid: 0, fields: [], rows: [] };
      },
      connect: async () => new Client(pool.run, () => {}),
      end: async () => {},
    };
    return pool satisfies StatementPool;
  };
  const start = () => {
    const [replica, primary] = [fake(), fake()];
    const { log, lines } = recordedLog("warn");
    const pool = new ReplicaPool({ replica, primary, clock, log });
    const runs = async () => {
      await pool.run({ text: "select" });
      return [replica.runs, primary.runs];
    };
    return { pool, replica, primary, lines, runs };
  };

  test("goes to the primary for half a minute after the replica could not be reached", async () => {
    const { replica, lines, runs } = start();
    replica.error = new DatabaseFault("unavailable", new Error("connection refused"));
    assert.deepEqual(await runs(), [1, 1]);
    clock.advance(29_999);
    assert.deepEqual(await runs(), [1, 2]);
    assert.equal(lines.length, 1);
    replica.error = undefined;
    clock.advance(1);
    assert.deepEqual(await runs(), [2, 2]);
  });

  test("goes to the primary alone when it conflicts with what the replica must replay", async () => {
    const { replica, runs } = start();
    const conflict = new pg.DatabaseError("canceling statement due to conflict with recovery", 0, "error");
    conflict.code = "40001";
    replica.error = new DatabaseFault("busy", conflict);
    assert.deepEqual(await runs(), [1, 1]);
    assert.deepEqual(await runs(), [2, 2]);
  });

  test("is not repeated when it is wrong or takes too long", async () => {
    const { pool, replica, primary } = start();
    for (const error of [new Error("syntax"), new DatabaseFault("busy", new Error("statement timeout"))]) {
      replica.error = error;
      await assert.rejects(pool.run({ text: "select" }), error);
    }
    assert.equal(primary.runs, 0);
  });
});
