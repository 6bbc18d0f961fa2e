import assert from "node:assert/strict";
import { test } from "node:test";
import { DISTRIBUTED_TABLES } from "../../src/database/distribution/citus.js";
import { CommandWorld } from "../support/command.js";
import { type Engine, onCitus, onSqlite } from "../support/engines.js";

/** Runs `database` with arguments on the database that the engine opened last. */
async function run(engine: Engine, ...args: string[]) {
  const { url, dataDir } = engine.location();
  const settings = url === undefined ? {} : { SIDEREAL_DATABASE_URL: url };
  const world = new CommandWorld();
  return world.runHere(dataDir === "" ? world.newDataDir() : dataDir, ["database", ...args], settings);
}

onCitus("The command `database`", (engine) => {
  test("brings tables back, distributes them again, and says what it did", async () => {
    await (await engine.open()).close();
    const back = await run(engine, "undistribute", "--json");
    assert.equal(back.code, 0, back.stderr);
    const undone: { tables: { table: string }[] } = JSON.parse(back.stdout);
    assert.deepEqual(
      undone.tables.map(({ table }) => table),
      DISTRIBUTED_TABLES.toReversed(),
    );
    const local = JSON.parse((await run(engine, "status", "--json")).stdout);
    assert.deepEqual([local.distributed, local.local], [[], [...DISTRIBUTED_TABLES]]);

    const { code, stdout, stderr } = await run(engine, "distribute", "--shards", "2");
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /^moving snapshot_blocks, snapshots, rank_blocks, rank_history: repositories cannot be/,
    );
    const paused = DISTRIBUTED_TABLES.map((table) => `${table}: writes paused for \\d+\\.\\d s\\n`);
    assert.match(stdout, new RegExp(`^${paused.join("")}done in [\\d.]+ s\\n$`));
    assert.match((await run(engine, "distribute")).stdout, /^nothing to do\n$/);

    const status = await run(engine, "status");
    assert.match(status.stdout, /^Citus \d+\./);
    assert.match(
      status.stdout,
      /\n {2}coordinator 127\.0\.0\.1:\d+ {2}active, 0 shards, 0\.0 MB, about 0 rows\n/,
    );
    assert.equal(status.stdout.match(/\n {2}worker 127\.0\.0\.1:\d+ {2}active, 4 shards, /g)?.length, 2);
    assert.match(status.stdout, /\nbalance +the nodes have the same number of shards\n$/);
  });

  test("refuses a number of shards that cannot be", async () => {
    await (await engine.open()).close();
    for (const shards of ["0", "1.5", "many", "1025"]) {
      const { code, stderr } = await run(engine, "distribute", "--shards", shards);
      assert.deepEqual([code, stderr], [2, "--shards: must be a whole number from 1 to 1024\n"]);
    }
  });
});

onSqlite("The command `database` on SQLite", (engine) => {
  test("says why it cannot be distributed", async () => {
    await (await engine.open()).close();
    for (const args of [["distribute"], ["undistribute"], ["status"]]) {
      const { code, stdout, stderr } = await run(engine, ...args);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, /^This database is one SQLite file, which cannot be distributed\. /);
    }
    const { stderr } = await run(engine, "status", "--json");
    assert.match(JSON.parse(stderr).error, /one SQLite file/);
  });
});
