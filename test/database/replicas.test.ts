import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import pg from "pg";
import { type Database, openBackgroundReader, openDatabase } from "../../src/database/database.js";
import { databaseFault } from "../../src/database/fault.js";
import type { Prepared } from "../../src/database/prepared.js";
import { ServerProbe } from "../../src/database/replicas/probe.js";
import { ReplicaRefused } from "../../src/database/replicas/status.js";
import { systemClock } from "../../src/lib/clock.js";
import { updateDerived } from "../../src/modules.js";
import { serveMetrics } from "../../src/tracking/metrics.js";
import { CommandWorld } from "../support/command.js";
import { connectToServer } from "../support/engines.js";
import { recordedLog } from "../support/logs.js";
import { createTestDatabase, type ReplicatedServers, startReplicated } from "../support/postgres.js";
import { until } from "../support/until.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

/** Real servers: a primary and two streaming replicas. Each test leaves them as it found them; the last one promotes one. */
describe("Replicas of PostgreSQL", () => {
  let servers: ReplicatedServers;
  const closing: (() => Promise<void>)[] = [];
  before(async () => {
    servers = await startReplicated(2);
  });
  after(async () => {
    for (const close of closing.reverse()) await close();
    await servers.stop();
  });

  const portOf = (server: number) => (server === 0 ? servers.port : (servers.replicas[server - 1] ?? 0));
  /** The address of a database on another of the servers. */
  const on = (server: number, url: string): string => {
    const address = new URL(url);
    address.port = String(portOf(server));
    return address.href;
  };
  /** Runs a statement on a server. */
  const run = async (server: number, text: string): Promise<Record<string, unknown>[]> => {
    const connection = { host: "127.0.0.1", port: portOf(server), user: "postgres", database: "postgres" };
    const client = new pg.Client(connection);
    await client.connect();
    try {
      return (await client.query(text)).rows;
    } finally {
      await client.end();
    }
  };
  const newDatabase = async (): Promise<string> => {
    const url = await createTestDatabase(servers.port);
    const name = new URL(url).pathname.slice(1);
    for (const server of [1, 2])
      await until("the replicas have the database", async () => {
        const found = await run(server, `select 1 from pg_database where datname = '${name}'`);
        return found.length > 0;
      });
    return url;
  };
  const open = async (replicas: readonly number[], maxLagMs = 60_000, url?: string) => {
    const address = url ?? (await newDatabase());
    const { log, lines } = recordedLog("info");
    const database = await openDatabase({
      url: address,
      dataDir: "",
      pool: 4,
      log,
      replicas: { urls: replicas.map((server) => on(server, address)), maxLagMs, first: 0 },
    });
    closing.push(() => database.close());
    return { database, lines, url: address };
  };
  const reads = ({ publicReads }: Database) => {
    assert.ok(publicReads);
    return publicReads;
  };
  const isUsed = (database: Database, at = 0) => reads(database).status()[at]?.isUsed === true;
  const mark = ({ durable }: Database, name: string) =>
    durable.insertInto("marks").values({ name, value: "" }).execute();
  const marks = async ({ read }: Pick<Database, "read">): Promise<string[]> =>
    (await read.selectFrom("marks").select("name").orderBy("name").execute()).map(({ name }) => name);
  const pause = (server: number) => run(server, "select pg_wal_replay_pause()");
  const resume = (server: number) => run(server, "select pg_wal_replay_resume()");

  const worldOver = (database: Database, env: Record<string, string> = {}): Promise<World> =>
    createWorld({ open: async () => database }, env);

  /** Reads in both ways, without a pause, until it is stopped; which returns how many reads there were and their errors. */
  const load = (database: Database): (() => Promise<{ reads: number; errors: unknown[] }>) => {
    const { read, prepare } = reads(database).database;
    const prepared: Prepared<null, [number]> = prepare(() => sql`select value from revision where id = 1`);
    const errors: unknown[] = [];
    let [count, isOver] = [0, false];
    const one = async (work: () => Promise<unknown>) => {
      while (!isOver) {
        await work().catch((error: unknown) => errors.push(error));
        count++;
      }
    };
    const all = Promise.all([
      one(() => prepared(null)),
      one(() => prepared(null)),
      one(() => read.selectFrom("marks").select("name").execute()),
      one(() => sql`select pg_sleep(0.05)`.execute(read)),
    ]);
    return async () => {
      isOver = true;
      await all;
      return { reads: count, errors };
    };
  };

  test("public reads see what a replica has, and everything else what was committed", async () => {
    const { database } = await open([1]);
    await until("the replica is used", () => isUsed(database));
    await pause(1);
    try {
      await mark(database, "later");
      assert.deepEqual(await marks(reads(database).database), []);
      assert.deepEqual(await marks(database), ["later"]);
      const { url, dataDir } = reads(database).location();
      assert.equal(new URL(url ?? "").port, String(portOf(1)));
      const reader = openBackgroundReader({ url, dataDir, log: recordedLog("warn").log });
      assert.deepEqual(await marks(reader), []);
      await reader.close();
    } finally {
      await resume(1);
    }
    await until("it is replayed", async () => (await marks(reads(database).database)).length === 1);
  });

  test("a role without special rights can examine a server", async () => {
    await run(0, "create role plain login");
    for (const server of [0, 1]) {
      await until(
        "it has the role",
        async () => (await run(server, "select 1 from pg_roles where rolname = 'plain'")).length > 0,
      );
      const probe = new ServerProbe(`postgres://plain@127.0.0.1:${portOf(server)}/postgres`, systemClock);
      const { system, ...facts } = await probe.facts();
      probe.close();
      assert.match(system, /^\d{15,}$/);
      assert.ok(facts.position > 0);
      assert.deepEqual(
        { ...facts, position: 0 },
        { isReplica: server > 0, position: 0, timeline: 1, database: "postgres", schema: "public" },
      );
    }
  });

  test("public connections cannot write", async () => {
    const { database } = await open([1]);
    const { database: read } = reads(database);
    assert.throws(() => read.write, /only reads/);
    assert.throws(() => read.durable, /only reads/);
  });

  test("a replica that is too far behind is left, and used again when it has caught up", async () => {
    const { database, lines } = await open([1], 2_000);
    const before = reads(database).generation();
    await pause(1);
    let written = 0;
    try {
      await until("the replica is left", async () => {
        await mark(database, `m${String(written++).padStart(4, "0")}`);
        return !isUsed(database);
      });
      assert.equal(reads(database).status()[0]?.state, "lagging");
      assert.ok((reads(database).status()[0]?.lagMs ?? 0) > 2_000);
      assert.equal((await marks(reads(database).database)).length, written);
      assert.ok(reads(database).generation() > before);
    } finally {
      await resume(1);
    }
    await until("the replica is used again", () => isUsed(database));
    assert.equal((await marks(reads(database).database)).length, written);
    assert.ok(lines.some(({ msg }) => msg === "the replica is too far behind and is not read from"));
  });

  for (const [what, action, undo] of [
    ["is killed", "kill", "start"],
    ["hangs", "freeze", "thaw"],
  ] as const) {
    test(`no read fails when a replica ${what}; it is used again when it is back`, async () => {
      const { database } = await open([1, 2]);
      const stop = load(database);
      await servers.command({ server: 1, action });
      await until("the next replica is used", () => isUsed(database, 1));
      assert.equal(reads(database).status()[0]?.state, "away");
      await servers.command({ server: 1, action: undo });
      await until("the first replica is used again", () => isUsed(database));
      const { reads: count, errors } = await stop();
      assert.deepEqual(errors, []);
      assert.ok(count > 100, `${count} reads`);
    });
  }

  test("no read fails when all replicas are killed: the primary does it", async () => {
    const { database } = await open([1, 2]);
    const stop = load(database);
    for (const server of [1, 2]) await servers.command({ server, action: "kill" });
    await until("the primary is used", () => !isUsed(database) && !isUsed(database, 1));
    await mark(database, "now");
    assert.deepEqual(await marks(reads(database).database), ["now"]);
    for (const server of [1, 2]) await servers.command({ server, action: "start" });
    await until("the first replica is used again", () => isUsed(database));
    const { errors } = await stop();
    assert.deepEqual(errors, []);
  });

  test("a transaction on a replica that is killed fails as unavailable, and the next one does not", async () => {
    const { database } = await open([1, 2]);
    const { read, dialect } = reads(database).database;
    const failed = dialect.snapshot(read, async (tx) => {
      await sql`select 1`.execute(tx);
      await servers.command({ server: 1, action: "kill" });
      return sql`select 2`.execute(tx);
    });
    await assert.rejects(failed, (error) => databaseFault(error) === "unavailable");
    assert.equal(await dialect.snapshot(read, async (tx) => (await marks({ read: tx })).length), 0);
    await servers.command({ server: 1, action: "start" });
    await until("the first replica is used again", () => isUsed(database));
  });

  test("a read that conflicts with what the replica replays is run by the primary", async () => {
    const { database, lines } = await open([1]);
    await mark(database, "a");
    await until("it is replayed", async () => (await marks(reads(database).database)).length === 1);
    await run(1, "alter system set max_standby_streaming_delay = 0");
    await run(1, "select pg_reload_conf()");
    try {
      const { read } = reads(database).database;
      const reading = sql<{ isReplica: boolean }>`
        select pg_is_in_recovery() as "isReplica", pg_sleep(case when pg_is_in_recovery() then 60 else 0 end)
        from marks right join (select 1) as one on true`.execute(read);
      await until("the statement runs", async () => {
        const text =
          "select 1 from pg_stat_activity where query like '%pg_sleep(case%' and pid <> pg_backend_pid()";
        return (await run(1, text)).length > 0;
      });
      // A replica cannot replay this while somebody reads the table.
      await sql`truncate marks`.execute(database.write);
      assert.deepEqual(
        (await reading).rows.map(({ isReplica }) => isReplica),
        [false],
      );
      await until("the replica is used", () => isUsed(database));
      assert.ok(!lines.some(({ msg }) => msg.startsWith("public reads go to the primary")));
    } finally {
      await run(1, "alter system reset max_standby_streaming_delay");
      await run(1, "select pg_reload_conf()");
    }
  });

  test("while the primary does not respond, a replica goes on serving reads", async () => {
    const { database } = await open([1], 2_000);
    await mark(database, "before");
    await until("it is replayed", async () => (await marks(reads(database).database)).length === 1);
    const world = await worldOver(database);
    // Beside the sample, the first pages show the progress of tracking, which is read from the primary.
    await world.modules.catalog.recordSample([observation("a/one", daily(1, 5))]);
    await updateDerived(world.modules);
    await until("the replica has it", async () => (await world.get("/api/repos/1")).status === 200);
    await until("it has derived data", async () =>
      /Track what you care about/.test((await world.get("/")).body),
    );
    await servers.command({ server: 0, action: "freeze" });
    try {
      // Nothing is cached here.
      for (const path of [
        "/",
        "/explore",
        "/repos/github/a/one",
        "/api/repos",
        "/api/repos?q=one",
        "/api/home",
        "/readyz",
      ])
        assert.equal((await world.get(path)).status, 200, path);
      assert.equal((await world.send("POST", "/api/watchlists", { name: "mine" })).status, 503);
      const failed = await mark(database, "never").then(
        () => undefined,
        (error: unknown) => databaseFault(error),
      );
      assert.equal(failed, "unavailable");
      await until("the replica is used", () => isUsed(database));
      assert.ok((await marks(reads(database).database)).includes("before"));
    } finally {
      await servers.command({ server: 0, action: "thaw" });
    }
  });

  test("status and the metrics of a worker show the lag of each replica", async () => {
    const { database, url } = await open([1, 2]);
    await until("both are usable", () =>
      reads(database)
        .status()
        .every(({ state }) => state === "ready"),
    );
    const metrics = await serveMetrics({ database, clock: systemClock }, new Map(), {
      host: "127.0.0.1",
      port: 0,
    });
    const response = await fetch(`http://127.0.0.1:${metrics.port}/metrics`, {
      headers: { connection: "close" },
    });
    const text = await response.text();
    await metrics.close();
    for (const server of [1, 2]) {
      assert.match(
        text,
        new RegExp(`sidereal_replica_lag_seconds\\{replica="127.0.0.1:${portOf(server)}"\\} \\d`),
      );
      assert.match(text, new RegExp(`sidereal_replica_usable\\{replica="127.0.0.1:${portOf(server)}"\\} 1`));
    }
    const settings = {
      SIDEREAL_DATABASE_URL: url,
      SIDEREAL_DATABASE_READ_URL: `${on(1, url)},postgres://u:secret@127.0.0.1:1/x`,
    };
    const { code, stdout } = await new CommandWorld().runHere("", ["status", "--json"], settings);
    assert.equal(code, 0);
    const { replicas } = JSON.parse(stdout);
    const own = replicas.find(({ name }: { name: string }) => name === `127.0.0.1:${portOf(1)}`);
    assert.equal(own.state, "ready");
    assert.ok(own.lagMs < 10_000);
    const plain = await new CommandWorld().runHere("", ["status"], settings);
    assert.match(plain.stdout, /^replica {9}127\.0\.0\.1:\d+: usable, \d s behind$/m);
    assert.match(plain.stdout, /^replica {9}127\.0\.0\.1:1: does not respond$/m);
    assert.doesNotMatch(plain.stdout + stdout, /secret/);
    const foreign = { ...settings, SIDEREAL_DATABASE_READ_URL: on(1, await newDatabase()) };
    await assert.rejects(
      new CommandWorld().runHere("", ["status"], foreign),
      /is not a replica of the database/,
    );
  });

  test("a server of another cluster or database is refused at the start, and a replica that is away is not", async () => {
    const url = await newDatabase();
    const other = await connectToServer();
    closing.push(() => other.stop());
    const foreign = await createTestDatabase(other.port);
    const { log } = recordedLog("warn");
    const opening = (address: string) =>
      openDatabase({ url, dataDir: "", pool: 2, log, replicas: { urls: [address], maxLagMs: 10_000 } });
    await assert.rejects(opening(foreign), ReplicaRefused);
    await assert.rejects(opening(on(1, await newDatabase())), ReplicaRefused);
    const database = await opening("postgres://postgres@127.0.0.1:1/nothing");
    assert.equal(reads(database).status()[0]?.state, "away");
    assert.deepEqual(await marks(reads(database).database), []);
    await database.close();
  });

  test("responses of one replica are not served as those of another", async () => {
    const { database } = await open([1, 2], 3_600_000);
    const world = await worldOver(database, { SIDEREAL_CACHE_MB: "8" });
    const names = async (from: World = world): Promise<string[]> => {
      from.clock.advance(3_000);
      const { status, body } = await from.get("/api/repos?sort=stars");
      assert.equal(status, 200);
      return body.data.map(({ fullName }: { fullName: string }) => fullName);
    };
    await world.record(observation("a/one", daily(1, 5)));
    await until("both have it", async () => (await names()).length === 1);
    await pause(2);
    try {
      await world.record(observation("b/two", daily(3, 9)));
      await until("the first replica has it", async () => (await names()).length === 2);
      await servers.command({ server: 1, action: "kill" });
      // The second replica has an older revision. Nothing of the first is mixed into its lists.
      await until("the list of the second", async () => (await names()).length === 1);
      assert.deepEqual(await names(), ["a/one"]);
      await resume(2);
      // It reaches the revision under which the lists of both replicas have been cached.
      await until("it has caught up", async () => (await names()).length === 2);
      assert.deepEqual(await names(), ["b/two", "a/one"]);
    } finally {
      await resume(2);
      await servers.command({ server: 1, action: "start" });
    }
    await until("the first replica is used again", () => isUsed(database));
    assert.deepEqual(await names(), ["b/two", "a/one"]);
  });

  test("a replica that was promoted is not read from, and what it is given does not show", async () => {
    const { database, url } = await open([1]);
    await run(1, "select pg_promote()");
    await until("it is left", () => reads(database).status()[0]?.state === "promoted");
    const own = await openDatabase({ url: on(1, url), dataDir: "", pool: 2, log: recordedLog("warn").log });
    await mark(own, "elsewhere");
    await own.close();
    assert.deepEqual(await marks(reads(database).database), []);
  });
});
