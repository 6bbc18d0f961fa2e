import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { sql } from "kysely";
import { type Database, openDatabase } from "../../src/database/database.js";
import type { Db } from "../../src/database/dialect.js";
import { databaseFault } from "../../src/database/fault.js";
import { openSqlite } from "../../src/database/sqlite.js";
import { type Clock, systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { type Engine, onBothEngines } from "../support/engines.js";
import { temporaryFolder } from "../support/imports.js";
import { ManualClock } from "../support/manual-clock.js";
import { startRelay } from "../support/relay.js";
import { NOW } from "../support/world.js";

const log = createLog("silent");

/** The kind of fault that a query throws; fails when it throws nothing. */
async function kindOf(query: Promise<unknown>): Promise<string | undefined> {
  const error = await query.then(
    () => assert.fail("the query succeeded"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Error);
  assert.notEqual(error.message, "");
  return databaseFault(error);
}

const mark = (db: Db, value = "") => db.insertInto("marks").values({ name: "x", value }).execute();

onBothEngines("A fault of the database", (engine) => {
  if (engine.name === "sqlite") testSqlite();
  else testPostgres(engine);

  test("is neither a mistake in a query nor a row that breaks a rule", async () => {
    const { read, write } = await engine.open();
    assert.equal(await kindOf(sql`select * from nothing_of_the_kind`.execute(read)), undefined);
    await mark(write);
    assert.equal(await kindOf(mark(write)), undefined);
    const item = { watchlist_id: 1, repository_id: 1, sort_order: 1, added_at: 1 };
    assert.equal(await kindOf(write.insertInto("watchlist_items").values(item).execute()), undefined);
    assert.equal(databaseFault(new Error("database is locked: ECONNREFUSED timeout 57P01")), undefined);
  });
});

function testSqlite(): void {
  const folder = temporaryFolder();
  const open = async (clock: Clock = systemClock): Promise<{ database: Database; path: string }> => {
    const dataDir = mkdtempSync(join(folder, "data-"));
    const database = await openDatabase({ url: undefined, dataDir, pool: 1, log, clock });
    after(() => database.close());
    return { database, path: join(dataDir, "sidereal.db") };
  };

  test("in a damaged file is logged with the command that finds the damage", async () => {
    const { database, path } = await open();
    await mark(database.write);
    await database.close();
    const raw = new DatabaseSync(path);
    raw.exec("pragma wal_checkpoint(truncate)");
    raw.close();
    const bytes = readFileSync(path);
    // All pages but the first, which has the settings of the file.
    writeFileSync(path, Buffer.concat([bytes.subarray(0, 4_096), bytes.subarray(4_096).fill(0xff)]));
    assert.throws(() => openSqlite(path, { synchronous: "NORMAL" }), { hint: /run "sidereal check"/ });
  });

  test("is busy while another process writes, for requests after two seconds, and without blocking the thread", async () => {
    const clock = new ManualClock(NOW);
    const { database, path } = await open(clock);
    const other = new DatabaseSync(path);
    other.exec("begin immediate");
    // They wait for the lock, or for their turn behind the one that does.
    const background = kindOf(mark(database.write));
    const waiting = [
      kindOf(mark(database.durable)),
      kindOf(database.durable.transaction().execute((tx) => mark(tx))),
      kindOf(mark(database.durable)),
    ];
    for (let ms = 0; ms < 2_000; ms += 500) {
      await clock.whenSleeping(() => 4);
      assert.equal((await sql`select 1`.execute(database.read)).rows.length, 1);
      clock.advance(500);
    }
    assert.deepEqual(await Promise.all(waiting), ["busy", "busy", "busy"]);
    // First in the queue, so that it waits for the lock itself.
    while (clock.monotonic() < 20_000) {
      await clock.whenSleeping(() => 1);
      clock.advance(2_000);
    }
    assert.equal(await background, "busy");
    const single = mark(database.durable, "single");
    await clock.whenSleeping(() => 1);
    other.exec("rollback");
    other.close();
    clock.advance(2);
    await single;
    assert.equal((await database.read.selectFrom("marks").selectAll().execute()).length, 1);
  });

  test("is full if the disk has no room", async () => {
    const { database } = await open();
    await sql`pragma max_page_count = 1`.execute(database.write);
    assert.equal(await kindOf(mark(database.write, "x".repeat(1_000_000))), "full");
  });

  test("is unavailable if a file cannot be opened", async () => {
    const { database } = await open();
    const absent = join(folder, "absent", "file.db");
    assert.equal(await kindOf(sql`attach ${absent} as absent`.execute(database.write)), "unavailable");
  });
}

function testPostgres(engine: Engine): void {
  /** The same database through a connection that the test can cut. */
  const openThroughRelay = async () => {
    await engine.open();
    const url = new URL(engine.location().url ?? "");
    const relay = await startRelay(Number(url.port));
    url.port = String(relay.port);
    const clock = new ManualClock(NOW);
    const database = await openDatabase({ url: url.href, dataDir: "", pool: 2, log, clock });
    after(async () => {
      await database.close();
      await relay.close();
    });
    return { database, relay, clock };
  };

  test("is a session that the server ends because its process hangs in a transaction, so that others get its locks", async () => {
    const database = await engine.open();
    const limitOf = async (db: Db) => {
      const { rows } = await sql<{ limit: string }>`
        select current_setting('idle_in_transaction_session_timeout') as limit`.execute(db);
      return rows[0]?.limit;
    };
    assert.deepEqual(
      [await limitOf(database.write), await limitOf(database.durable), await limitOf(database.read)],
      ["5min", "5min", "0"],
    );
    const hanging = database.write.transaction().execute(async (tx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid,
        set_config('idle_in_transaction_session_timeout', '1ms', true)`.execute(tx);
      const sessions = () =>
        sql`select 1 from pg_stat_activity where pid = ${rows[0]?.pid}`.execute(database.read);
      while ((await sessions()).rows.length > 0);
      await mark(tx);
    });
    assert.equal(await kindOf(hanging), "unavailable");
    await mark(database.write, "after");
    const url = new URL(engine.location().url ?? "");
    url.searchParams.set("options", "-c idle_in_transaction_session_timeout=7min");
    const limited = await openDatabase({ url: url.href, dataDir: "", pool: 2, log });
    assert.equal(await limitOf(limited.write), "7min", "that of the operator stays");
    await limited.close();
  });

  test("is unavailable when the server goes away: during a query, and from then on", async () => {
    const { database, relay } = await openThroughRelay();
    const waiting = kindOf(sql`select pg_sleep(60)`.execute(database.read));
    await sql`select 1`.execute(database.read);
    relay.cut();
    assert.equal(await waiting, "unavailable");
    await relay.close();
    assert.equal(await kindOf(sql`select 1`.execute(database.read)), "unavailable");
    assert.equal(await kindOf(mark(database.durable)), "unavailable");
  });

  test("is unavailable when the server ends the connection", async () => {
    const { read, write } = await engine.open();
    const ended = read.connection().execute(async (connection) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(connection);
      const waiting = kindOf(sql`select pg_sleep(60)`.execute(connection));
      await sql`select pg_terminate_backend(${rows[0]?.pid}::int)`.execute(write);
      return waiting;
    });
    assert.equal(await ended, "unavailable");
  });

  test("is unavailable when the server refuses a connection", async () => {
    const url = new URL(engine.location().url ?? "");
    url.pathname = "/there_is_no_such_database";
    assert.equal(await kindOf(openDatabase({ url: url.href, dataDir: "", pool: 1, log })), "unavailable");
    url.port = "1";
    assert.equal(await kindOf(openDatabase({ url: url.href, dataDir: "", pool: 1, log })), "unavailable");
  });

  test("is busy when a lock or a statement takes too long", async () => {
    const { read, write } = await engine.open();
    const limitOf = async (db: Db) =>
      (await sql<{ limit: string }>`select current_setting('statement_timeout') as limit`.execute(db)).rows[0]
        ?.limit;
    assert.deepEqual([await limitOf(read), await limitOf(write)], ["10s", "0"]);
    const locked = write.transaction().execute(async (tx) => {
      await sql`lock table marks in access exclusive mode`.execute(tx);
      return kindOf(
        read.transaction().execute(async (other) => {
          await sql`set local lock_timeout = '1ms'`.execute(other);
          await other.selectFrom("marks").selectAll().execute();
        }),
      );
    });
    assert.equal(await locked, "busy");
    const slow = read.transaction().execute(async (tx) => {
      await sql`set local statement_timeout = '1ms'`.execute(tx);
      await sql`select pg_sleep(60)`.execute(tx);
    });
    assert.equal(await kindOf(slow), "busy");
  });

  test("has the kind that its code stands for", async () => {
    const { write } = await engine.open();
    for (const [code, kind] of [
      ["53100", "full"],
      ["53300", "busy"],
      ["40001", "busy"],
      ["40P01", "busy"],
      ["57P03", "unavailable"],
      ["08006", "unavailable"],
      ["58030", "unavailable"],
      ["25006", "unavailable"],
      ["XX000", undefined],
    ] as const) {
      const raised = sql`${sql.raw(`do $$ begin raise exception 'x' using errcode = '${code}'; end $$`)}`;
      assert.equal(await kindOf(raised.execute(write)), kind, code);
    }
  });
}
