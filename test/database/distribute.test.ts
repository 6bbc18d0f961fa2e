import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import { openDatabase } from "../../src/database/database.js";
import { DISTRIBUTED_TABLES, distribute, isDistributed } from "../../src/database/distribute.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { updateDerived } from "../../src/modules.js";
import { CommandWorld } from "../support/command.js";
import { onBothEngines } from "../support/engines.js";
import { exportOf } from "../support/stores.js";
import { createWorld, daily, observation } from "../support/world.js";

/** The address of an empty database of a Citus cluster, whose nodes are set up as docs/OPERATIONS.md says. */
const url = process.env.TEST_CITUS_URL;

onBothEngines("A database without Citus", (engine) => {
  test("cannot be distributed, and says why", async () => {
    await (await engine.open()).close();
    const { url: address, dataDir } = engine.location();
    const world = new CommandWorld();
    const settings = address === undefined ? {} : { SIDEREAL_DATABASE_URL: address };
    const run = (...args: string[]) =>
      world.runHere(dataDir || world.newDataDir(), ["database", "distribute", ...args], settings);
    const { code, stdout, stderr } = await run();
    assert.deepEqual([code, stdout], [1, ""]);
    const reason = address === undefined ? /is one SQLite file/ : /does not have the extension citus/;
    assert.match(stderr, reason);
    for (const shards of ["0", "1.5", "many", "1025"]) {
      const refused = await run("--shards", shards);
      assert.deepEqual(
        [refused.code, refused.stderr],
        [2, "--shards: must be a whole number from 1 to 1024\n"],
      );
    }
  });
});

describe("A database on Citus", { skip: url === undefined && "TEST_CITUS_URL is not set" }, () => {
  test("is distributed without a changed row, and everything works on it as before", async () => {
    const database = await openDatabase({ url, dataDir: "", pool: 4, log: createLog("silent") });
    const world = await createWorld({ open: async () => database });
    const record = (days: number) =>
      world.record(
        ...Array.from({ length: 30 }, (_, i) =>
          observation(`o/r${i}`, daily(...Array.from({ length: days }, (__, day) => 100 + i * day))),
        ),
      );
    const pages = () =>
      Promise.all(
        ["/api/repos/1/metrics?window=30d", "/api/trending", "/repos/github/o/r7"].map(async (path) => {
          const { status, body } = await world.get(path);
          return [status, JSON.stringify(body).replaceAll(/\d+ ms/g, "")];
        }),
      );
    await record(9);
    await updateDerived(world.modules);
    const before = [await exportOf(database), await pages()];
    const moved: string[] = [];
    const move = () =>
      distribute(database, { clock: systemClock, shards: 4, onTable: (table) => moved.push(table) });
    // Interrupted by a reader whose rows cannot be removed yet.
    await database.read.transaction().execute(async (tx) => {
      await tx.selectFrom("snapshot_blocks").select("snapshots").execute();
      await assert.rejects(move(), /Somebody reads snapshot_blocks for long/);
    });
    await move();
    assert.deepEqual(moved, [...DISTRIBUTED_TABLES]);
    assert.ok(await isDistributed(database.read));
    for (const table of DISTRIBUTED_TABLES) {
      const { rows } = await sql<{
        bytes: number;
      }>`select pg_relation_size(${table}::regclass) as bytes`.execute(database.read);
      assert.deepEqual(rows, [{ bytes: 0 }], table);
    }
    assert.deepEqual([await exportOf(database), await pages()], before);
    await record(40);
    await updateDerived(world.modules);
    await database.dialect.snapshot(database.read, async (tx) => {
      const { rows } = await sql<{ n: number }>`select count(*) as n from snapshot_blocks`.execute(tx);
      assert.ok((rows[0]?.n ?? 0) > 0);
    });
    assert.ok((await database.dialect.size(database.read)) > 1e6);
    for (const [status] of await pages()) assert.equal(status, 200);
    await database.close();
  });
});
