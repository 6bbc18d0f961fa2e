import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { startService } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import { type Database, DeletionClock, openDatabase, type TableName } from "../../src/database/database.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { Worker } from "../../src/tracking/tracking.js";
import { addAccount } from "../support/accounts.js";
import { onBothEngines, onSqlite } from "../support/engines.js";
import { recordedLog } from "../support/logs.js";
import { ManualClock } from "../support/manual-clock.js";
import { allSnapshots } from "../support/snapshots.js";
import { heldLease } from "../support/tracking.js";
import { createWorld, NOW, observation, snapshot, type World } from "../support/world.js";

const YEARS_MS = 3 * 365 * DAY_MS;
/** Rows of each table. */
const ROWS = 60;

/** What is deleted, or ends, because it is old: rows number `i` at `NOW`, when none is old. */
const OLD: Partial<Record<TableName, (i: number, account: string) => Record<string, unknown>>> = {
  watchlists: (i) => ({
    token_hash: `token ${i}`,
    share_token_hash: `share ${i}`,
    name: "",
    version: 1,
    created_at: NOW,
    updated_at: NOW,
    opened_at: NOW,
  }),
  account_events: () => ({ at: NOW, event: "signed_in", network: "", detail: "{}" }),
  api_keys: (i, account_id) => ({
    account_id,
    name: "",
    hash: `key ${i}`,
    hint: "",
    created_at: NOW,
    // The first one has the usage below.
    revoked_at: i === 0 ? null : NOW,
  }),
  usage_routes: (i) => ({
    ...sumOf(i),
    method: "GET",
    route: "/",
    outcome: "ok",
    requests: 1,
    bytes: 1,
    micros: 1,
  }),
  usage_allowances: (i) => ({ ...sumOf(i), bucket: "default", allowance: 1, lowest: 1, lowest_at: NOW }),
  usage_callers: (i) => ({ ...sumOf(i), kind: "agent", name: "curl", requests: 1, last_at: NOW }),
  usage_events: () => ({ key_id: 1, at: NOW, method: "GET", route: "/", status: 404 }),
  wanted: (i) => ({ ...requestOf(i), provider: "GITHUB", text: "a/b", text_key: `a/b${i}` }),
  avatars: (i) => ({
    provider: "GITHUB",
    owner_key: `owner ${i}`,
    owner: `owner ${i}`,
    next_at: NOW,
    wanted_at: NOW,
  }),
  walks: (i) => ({
    provider: `FORGE ${i}`,
    next_at: NOW,
    started_at: NOW,
    found: 0,
    walks: 1,
  }),
  worker_reports: (i) => ({ provider: `FORGE ${i}`, at: NOW, body: "{}" }),
  rank_blocks: (i) => ({
    repository_id: 1,
    from_day: TODAY - 5 * (i + 1),
    to_day: TODAY - 5 * i - 1,
    data: Buffer.from([0]),
  }),
};
const TODAY = Math.floor(NOW / DAY_MS);
const sumOf = (i: number) => ({ key_id: 1, from_at: (TODAY - i) * DAY_MS });
const requestOf = (i: number) => ({
  public_id: `request ${i}`,
  kind: "repository",
  is_batch: 0,
  requested_at: NOW,
  retry_at: 0,
  attempts: 0,
  pages: 0,
  finished_at: NOW,
});
/** Those of which a run may delete all: there are few, or they come back by themselves. */
const UNBOUNDED: readonly string[] = ["usage_events", "avatars", "walks", "worker_reports"];

/** A store with a year of daily snapshots and all the above. */
async function fill(world: World): Promise<void> {
  const { durable } = world.modules.database;
  const daily = Array.from({ length: 365 }, (_, i) => snapshot((364 - i) * 24, i));
  await world.record(observation("old/one", daily), observation("old/two", daily));
  const account = await addAccount(world.modules.database, "ann@example.org");
  for (const [table, rowOf] of Object.entries(OLD)) {
    const rows = Array.from({ length: ROWS }, (_, i) => rowOf(i, account));
    const names = Object.keys(rows[0] ?? {}).map((name) => sql.ref(name));
    const values = rows.map((row) => sql`(${sql.join(Object.values(row))})`);
    await sql`insert into ${sql.table(table)} (${sql.join(names)}) values ${sql.join(values)}`.execute(
      durable,
    );
  }
}

async function countAll(database: Database): Promise<Record<string, number> & { snapshots: number }> {
  const counts: Record<string, number> & { snapshots: number } = {
    snapshots: (await allSnapshots(database)).length,
  };
  for (const table of Object.keys(OLD)) {
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(
      database.read,
    );
    counts[table] = Number(rows[0]?.n);
  }
  return counts;
}

onBothEngines("A clock that is years ahead", (engine) => {
  test("deletes nothing, neither in a worker nor in a service, until it is forced, and then a share in each run", async (t) => {
    const world = await createWorld(engine);
    const { clock, modules } = world;
    const { database } = modules;
    await fill(world);
    // A run with the right clock.
    assert.equal(await modules.deletionClock.now(), 0);
    const before = await countAll(database);
    for (const [table, count] of Object.entries(before)) assert.ok(count >= ROWS, table);
    clock.set(NOW + YEARS_MS);

    const { log, lines } = recordedLog("info");
    const watched = { ...modules, deletionClock: new DeletionClock({ database, clock, log }) };
    const settings = { SIDEREAL_PORT: "0", SIDEREAL_DATA_DIR: ":memory:" };
    const service = await startService({ config: loadConfig(settings), clock, log }, watched);
    // Its loops: usage, changes of the catalogue, and what has expired. One more sleep ends: then it loads what signing in needs.
    const serving = 3;
    const stopping = new AbortController();
    const lease = await heldLease(database, clock);
    const { signal } = stopping;
    const worker = new Worker({
      modules: watched,
      lease,
      signal,
      providers: [],
      clock,
      log,
      derive: async () => {},
    });
    const working = worker.run();
    t.after(async () => {
      stopping.abort();
      await Promise.all([working, service.stop()]);
    });
    await clock.whenSleeping(() => serving + 1 + worker.loops);
    const pass = async () => {
      clock.advance(HOUR_MS);
      await clock.whenSleeping(() => serving + worker.loops);
    };
    await database.durable
      .insertInto("sign_in_requests")
      .values({
        token_hash: "a",
        browser_hash: "b",
        code_hash: "c",
        email: "",
        next: "",
        requested_at: NOW,
        tries: 0,
      })
      .execute();
    for (let hour = 0; hour < 3; hour++) await pass();
    // The days of ranks pass with snapshots.
    const later = -(YEARS_MS / HOUR_MS);
    await world.record(observation("old/one", [snapshot(later, 1)]));
    assert.deepEqual(await countAll(database), { ...before, snapshots: before.snapshots + 1 });
    const codes = await database.read.selectFrom("sign_in_requests").selectAll().execute();
    assert.deepEqual(codes, [], "codes expire nevertheless");
    const reasons = lines.filter(({ msg }) => /old data is kept/.test(msg)).map(({ reason }) => reason);
    assert.match(reasons[0] ?? "", /the clock is 26280 h ahead of the last run/);
    assert.equal(new Set(reasons).size, reasons.length, "each doubt is logged once");

    await modules.deletionClock.force();
    await pass();
    await world.record(observation("old/one", [snapshot(later - 24, 1)]));
    const after = await countAll(database);
    for (const [table, count] of Object.entries(before)) {
      const left = after[table] ?? 0;
      assert.ok(left < count, `${table} has ${left} of ${count} rows`);
      if (!UNBOUNDED.includes(table))
        assert.ok(left >= count * 0.9 - 2, `${table} has only ${left} of ${count} rows`);
    }
  });
});

onBothEngines("Old data is deleted", (engine) => {
  const start = async (change: (database: Database) => Database = (database) => database) => {
    const clock = new ManualClock(NOW);
    const database = change(await engine.open());
    const { log, lines } = recordedLog("info");
    const open = (own = clock) => new DeletionClock({ database, clock: own, log });
    const deletion = open();
    /** Whether something is old enough at the end of some hours with a run in each. */
    const afterHours = async (hours: number) => {
      for (let hour = 0; hour < hours; hour++) {
        assert.equal(await deletion.now(), 0, `after ${hour} hours`);
        clock.advance(HOUR_MS);
      }
      return (await deletion.now()) === clock.now();
    };
    return { clock, database, open, deletion, afterHours, lines };
  };

  test("after a week of runs without a jump, also of other processes", async () => {
    const { clock, deletion, open, afterHours } = await start();
    assert.equal(await afterHours(7 * 24), true);
    assert.equal(await open().now(), clock.now());
    clock.advance(2.6 * DAY_MS);
    assert.equal(await deletion.now(), clock.now(), "a weekend is no jump");
  });

  test("again after a week when the machine was off for months", async () => {
    const { clock, deletion, afterHours, lines } = await start();
    await afterHours(7 * 24);
    clock.advance(90 * DAY_MS);
    assert.equal(await afterHours(7 * 24), true);
    assert.match(
      lines.map(({ reason = "" }) => reason).join(),
      /2160 h ahead of the last run.*until|2160 h ahead/,
    );
    assert.equal(await deletion.now(), clock.now());
  });

  test("never by runs of two clocks that differ", async () => {
    const { clock, deletion, open } = await start();
    const ahead = new ManualClock(NOW + YEARS_MS);
    const other = open(ahead);
    for (let hour = 0; hour < 8 * 24; hour += 6) {
      assert.deepEqual([await deletion.now(), await other.now()], [0, 0]);
      clock.advance(6 * HOUR_MS);
      ahead.advance(6 * HOUR_MS);
    }
  });

  test("while a forge has said within a day that it is this time, and never against a forge", async () => {
    const { clock, deletion, open, lines } = await start();
    deletion.noteForge("GITHUB", NOW - HOUR_MS);
    assert.equal(await deletion.now(), NOW);
    assert.equal(await open().now(), NOW, "to other processes too");
    clock.set(NOW + YEARS_MS);
    assert.equal(await deletion.now(), 0);
    deletion.noteForge("GITHUB", NOW);
    deletion.noteForge("MINE", clock.now());
    for (let day = 0; day < 9; day++, clock.advance(DAY_MS / 2)) {
      deletion.noteForge("GITHUB", NOW + (day * DAY_MS) / 2);
      assert.equal(await deletion.now(), 0);
    }
    assert.match(lines.at(-1)?.reason ?? "", /^the clock is 26280 h ahead of the clock of GITHUB$/);
    clock.set(NOW + 4 * DAY_MS);
    assert.equal(await deletion.now(), clock.now());
    assert.match(lines.at(-1)?.msg ?? "", /the clock is confirmed/);
  });

  test("while a database server on another machine agrees", async () => {
    let server: number | undefined = NOW + HOUR_MS;
    const { clock, deletion } = await start((database) => ({
      ...database,
      dialect: {
        ...database.dialect,
        serverTime: async () => (server === undefined ? undefined : { ms: server, isRemote: true }),
      },
    }));
    assert.equal(await deletion.now(), NOW);
    clock.set(NOW + YEARS_MS);
    assert.equal(await deletion.now(), 0);
    server = undefined;
    assert.equal(await deletion.now(), 0);
    server = NOW + YEARS_MS;
    assert.equal(await deletion.now(), clock.now());
  });

  test("not because of a database server on the same machine, which has the same clock", async () => {
    const { database } = await start();
    assert.equal((await database.dialect.serverTime(database.read))?.isRemote ?? false, false);
    const { url, dataDir } = engine.location();
    if (url === undefined) return;
    // Another address of this machine, which the server takes for another one.
    const options = {
      url: url.replace("127.0.0.1", "127.0.0.2"),
      dataDir,
      pool: 1,
      log: createLog("silent"),
    };
    const other = await openDatabase(options);
    const time = await other.dialect.serverTime(other.read);
    assert.ok(time?.isRemote && Math.abs(time.ms - Date.now()) < DAY_MS, String(time?.ms));
    await other.close();
  });

  test("when an operator forces it, whatever a forge says, until the clock jumps", async () => {
    const { clock, deletion } = await start();
    deletion.noteForge("GITHUB", NOW - YEARS_MS);
    assert.equal(await deletion.now(), 0);
    await deletion.force();
    assert.equal(await deletion.now(), NOW);
    clock.advance(DAY_MS);
    assert.equal(await deletion.now(), clock.now());
    clock.set(NOW + YEARS_MS);
    assert.equal(await deletion.now(), 0);
  });
});

onSqlite("A service that stops", (engine) => {
  test("closes the database after what it is deleting", async () => {
    const world = await createWorld(engine);
    const { clock, modules } = world;
    const order: string[] = [];
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    modules.watchlists.removeExpired = async () => {
      begun.resolve();
      await ended.promise;
      order.push("deleted");
      return 0;
    };
    const database = { ...modules.database, close: async () => void order.push("closed") };
    const config = loadConfig({ SIDEREAL_PORT: "0", SIDEREAL_DATA_DIR: ":memory:" });
    const service = await startService({ config, clock, log: createLog("silent") }, { ...modules, database });
    await clock.whenSleeping(() => 3);
    clock.advance(HOUR_MS);
    await begun.promise;
    const stopped = service.stop();
    for (let turn = 0; turn < 1_000; turn++) await setImmediate();
    ended.resolve();
    await stopped;
    assert.deepEqual(order, ["deleted", "closed"]);
  });
});
