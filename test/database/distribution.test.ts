import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import pg from "pg";
import { type Database, openDatabase } from "../../src/database/database.js";
import { DISTRIBUTED_TABLES } from "../../src/database/distribution/citus.js";
import {
  DistributionRefused,
  distribute,
  readDistribution,
  undistribute,
} from "../../src/database/distribution/distribution.js";
import { databaseFault } from "../../src/database/fault.js";
import { readReference } from "../../src/database/inspect/schema-check.js";
import { MIGRATIONS, migrate } from "../../src/database/migrate.js";
import type { Migration } from "../../src/database/migration.js";
import { type Clock, DAY_MS, systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { Catalog } from "../../src/repositories/repositories.js";
import { awkward } from "../support/awkward.js";
import { type CitusCluster, createCitusDatabase, dropCitusDatabase, relayNode } from "../support/citus.js";
import { connectToCitus, onBothEngines, onCitus } from "../support/engines.js";
import { ManualClock } from "../support/manual-clock.js";
import { exportOf } from "../support/stores.js";
import { NOW, observation, snapshotAt } from "../support/world.js";

/** The clock of the system, but nobody sleeps. */
const hurried: Clock = { ...systemClock, monotonic: () => systemClock.monotonic(), sleep: async () => {} };

onCitus("Distribution", (engine) => {
  let cluster: CitusCluster | undefined;
  const urls: string[] = [];
  before(async () => {
    cluster = await connectToCitus();
  });
  after(async () => {
    for (const url of urls) await dropCitusDatabase(cluster?.ports ?? [], url);
    await cluster?.stop();
  });

  /** A database with history that is not distributed yet. */
  const openLocal = async (): Promise<{ database: Database; url: string }> => {
    const url = await createCitusDatabase(cluster?.ports ?? [], { isLocal: true });
    urls.push(url);
    const database = await openDatabase({ url, dataDir: "", pool: 4, log: createLog("silent") });
    after(() => database.close());
    const catalog = new Catalog(database, new ManualClock(NOW));
    await catalog.record(awkward);
    await catalog.record(
      Array.from({ length: 50 }, (_, i) =>
        observation(
          `many/r${i}`,
          Array.from({ length: 1 + (i % 9) }, (__, day) => snapshotAt(NOW - (9 - day) * DAY_MS, i + day)),
        ),
      ),
    );
    await database.write
      .insertInto("rank_history")
      .values([1, 2, 3].map((id) => ({ repository_id: id, day: 20_000, ranks: "t24o1" })))
      .execute();
    return { database, url };
  };
  const countsOf = async ({ read }: Database) => {
    const counts: number[] = [];
    for (const table of DISTRIBUTED_TABLES) {
      const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(read);
      counts.push(rows[0]?.n ?? 0);
    }
    return counts;
  };

  test("changes no row, in either direction, and leaves keys and indexes as they were", async () => {
    const { database } = await openLocal();
    const [exported, counts] = [await exportOf(database), await countsOf(database)];
    assert.ok(counts.every((count, i) => count > 0 || DISTRIBUTED_TABLES[i] === "rank_blocks"));
    const indexes = await database.dialect.indexes(database.read);
    const moved: string[] = [];
    await distribute(database, { clock: hurried, onTable: ({ table }) => moved.push(table) });
    assert.deepEqual(moved, [...DISTRIBUTED_TABLES]);
    assert.equal(await exportOf(database), exported);
    assert.deepEqual(await countsOf(database), counts);
    const status = await readDistribution(database);
    assert.deepEqual([status.distributed, status.local, status.leftOver], [[...DISTRIBUTED_TABLES], [], []]);
    assert.equal(status.isBalanced, true);
    const workers = status.nodes.filter(({ isCoordinator }) => !isCoordinator);
    assert.equal(workers.length, 2);
    assert.ok(
      workers.every(({ isReachable, shards, bytes }) => isReachable && shards === 8 && bytes !== null),
    );
    assert.equal(
      workers.reduce((sum, { rows }) => sum + (rows ?? 0), 0),
      counts.reduce((sum, count) => sum + count, 0),
    );

    moved.length = 0;
    await distribute(database, { clock: hurried, onTable: ({ table }) => moved.push(table) });
    assert.equal(moved.length, 0);

    await undistribute(database, { clock: hurried, onTable: ({ table }) => moved.push(table) });
    assert.deepEqual(moved, DISTRIBUTED_TABLES.toReversed());
    assert.equal(await exportOf(database), exported);
    assert.deepEqual(await countsOf(database), counts);
    assert.deepEqual((await readDistribution(database)).local, [...DISTRIBUTED_TABLES]);
    assert.deepEqual(await database.dialect.indexes(database.read), indexes);
    for (const name of (await readReference(hurried)).indexes.keys())
      if (name.startsWith("rank_")) assert.ok(indexes.has(name), name);
  });

  test("that is killed while it copies a table leaves it local, and the next call continues", async () => {
    const { database, url } = await openLocal();
    const exported = await exportOf(database);
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    // A writer of the third table lets the first two pass.
    await other.query("begin");
    await other.query("lock table rank_blocks in row exclusive mode");
    const failing = distribute(database, { clock: hurried }).then(
      () => assert.fail("it was not interrupted"),
      (error: unknown) => databaseFault(error),
    );
    for (let waiting = 0; waiting === 0; ) {
      const { rowCount } = await other.query(
        "select pg_terminate_backend(pid) from pg_locks where not granted and relation = 'rank_blocks'::regclass",
      );
      waiting = rowCount ?? 0;
    }
    assert.equal(await failing, "unavailable");
    await other.query("commit");
    await other.end();
    assert.deepEqual((await readDistribution(database)).distributed, DISTRIBUTED_TABLES.slice(0, 2));
    assert.equal(await exportOf(database), exported);
    const moved: string[] = [];
    await distribute(database, { clock: hurried, onTable: ({ table }) => moved.push(table) });
    assert.deepEqual(moved, DISTRIBUTED_TABLES.slice(2));
    assert.equal(await exportOf(database), exported);
  });

  test("does not wait for readers, nor they for it; what they keep from being removed is removed by the next call", async () => {
    const { database } = await openLocal();
    await database.read.transaction().execute(async (tx) => {
      const before = await tx.selectFrom("snapshots").select("stars").execute();
      await distribute(database, { clock: hurried });
      assert.deepEqual((await readDistribution(database)).leftOver, ["snapshots"]);
      const after = await tx.selectFrom("snapshots").select("stars").execute();
      assert.equal(after.length, before.length);
    });
    const moved: object[] = [];
    await distribute(database, {
      clock: hurried,
      onTable: ({ table, isLeftOver }) => moved.push({ table, isLeftOver }),
    });
    assert.deepEqual(moved, [{ table: "snapshots", isLeftOver: false }]);
    assert.deepEqual((await readDistribution(database)).leftOver, []);
  });

  test("waits for a rebuild of growth, and changes nothing", async () => {
    const { database } = await openLocal();
    const seen = systemClock.now();
    await database.write
      .updateTable("runs")
      .set({ owner: "a b c 1", seen_at: seen })
      .where("id", "=", 1)
      .execute();
    await assert.rejects(distribute(database, { clock: hurried }), /are being rebuilt/);
    assert.deepEqual((await readDistribution(database)).distributed, []);
  });

  test("of a database whose node is away is refused by the name of the node", async () => {
    const { database } = await openLocal();
    const relay = await relayNode(database);
    await relay.close();
    await assert.rejects(distribute(database, { clock: hurried }), (error: unknown) => {
      assert.ok(error instanceof DistributionRefused);
      assert.match(error.message, new RegExp(`127\\.0\\.0\\.1:${relay.port} cannot be reached`));
      return true;
    });
    const { nodes } = await readDistribution(database);
    assert.deepEqual(
      nodes.map(({ isReachable }) => isReachable),
      [true, true, false],
    );
    await relay.open();
    await distribute(database, { clock: hurried });
    await database.close();
    await relay.close();
  });

  test("the status names a node that hangs, without the time limit of a request ending it", async () => {
    const { database } = await openLocal();
    const relay = await relayNode(database);
    relay.stall();
    const { nodes } = await readDistribution(database);
    assert.deepEqual(
      nodes.map(({ isReachable, bytes, rows, preparedTransactions }) => [
        isReachable,
        bytes,
        rows,
        preparedTransactions,
      ]),
      [
        [true, 0, 0, 0],
        [true, 0, 0, 0],
        [false, null, null, null],
      ],
    );
    relay.resume();
    await database.close();
    await relay.close();
  });

  test("a node that goes away makes the database unavailable, until it is back", async () => {
    const database = await engine.open();
    const catalog = new Catalog(database, new ManualClock(NOW));
    const days = [1, 2, 3].map((day) => snapshotAt(NOW - day * DAY_MS, day));
    await catalog.record(Array.from({ length: 20 }, (_, i) => observation(`o/r${i}`, days)));
    const relay = await relayNode(database);
    const readAll = () => sql`select count(*) from snapshots`.execute(database.read);
    const faultOf = (work: Promise<unknown>) =>
      work.then(
        () => "none",
        (error: unknown) => databaseFault(error) ?? error,
      );
    await readAll();
    // In the middle of a statement.
    const running = sql`select repository_id, pg_sleep(60) from snapshots`.execute(database.read);
    const outcome = faultOf(running);
    const sleeping = sql<{
      nodes: number;
    }>`select count(*) filter (where result = 't') as nodes from run_command_on_all_nodes(
      'select count(*) > 0 from pg_stat_activity where wait_event = ''PgSleep''')`;
    while ((await sleeping.execute(database.write)).rows[0]?.nodes !== 2) await setImmediate();
    relay.cut();
    assert.equal(await outcome, "unavailable");
    await relay.close();
    assert.equal(await faultOf(readAll()), "unavailable");
    const more = Array.from({ length: 20 }, (_, i) => observation(`o/r${i}`, [snapshotAt(NOW, 9)]));
    assert.equal(await faultOf(catalog.record(more)), "unavailable");
    // What is on the coordinator is still there.
    assert.equal((await catalog.findMany([1, 2, 3])).length, 3);
    await relay.open();
    await readAll();
    await catalog.record(more);
    await database.close();
    await relay.close();
  });

  test("later migrations change distributed tables", async () => {
    const database = await engine.open();
    const catalog = new Catalog(database, new ManualClock(NOW));
    await catalog.record([observation("o/r", [snapshotAt(NOW, 9)])]);
    const madeUp: Migration = {
      name: "made-up",
      async up(tx, { types: { integer } }) {
        for (const table of DISTRIBUTED_TABLES)
          await sql`alter table ${sql.table(table)} add column extra ${integer} not null default 7`.execute(
            tx,
          );
        await sql`create index snapshots_extra on snapshots (extra)`.execute(tx);
        await sql`alter table repositories add column extra ${integer}`.execute(tx);
        await sql`update snapshots set extra = 8 where stars = 9`.execute(tx);
        await sql`insert into outdated (kind, repository_id) select 'tails', repository_id from snapshots
          group by repository_id on conflict do nothing`.execute(tx);
      },
    };
    const options = { clock: new ManualClock(NOW), migrations: [...MIGRATIONS, madeUp] };
    await migrate(database.durable, database.dialect, options);
    const { rows } = await sql<{ extra: number }>`select extra from snapshots`.execute(database.read);
    assert.deepEqual(
      rows.map(({ extra }) => extra),
      [8],
    );
    assert.deepEqual((await readDistribution(database)).local, []);
  });
});

onBothEngines("A database without Citus", (engine) => {
  test("cannot be distributed, and says why", async () => {
    if (engine.label === "Citus") return;
    const database = await engine.open();
    const expected = engine.name === "sqlite" ? /is one SQLite file/ : /does not have the extension citus/;
    await assert.rejects(distribute(database, { clock: hurried }), expected);
    await assert.rejects(undistribute(database, { clock: hurried }), expected);
    if (engine.name === "sqlite") await assert.rejects(readDistribution(database), expected);
    else assert.equal((await readDistribution(database)).citusVersion, null);
  });
});
