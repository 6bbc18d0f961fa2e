import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { databaseFault } from "../../src/database/fault.js";
import { openPool } from "../../src/database/postgres.js";
import { FaultPool } from "../../src/database/postgres-pool.js";
import { ServerWatch } from "../../src/database/postgres-watch.js";
import { FailoverPool } from "../../src/database/replicas/failover-pool.js";
import type { ServerFacts } from "../../src/database/replicas/probe.js";
import { Sources } from "../../src/database/replicas/sources.js";
import { systemClock } from "../../src/lib/clock.js";
import { connectToServer } from "../support/engines.js";
import { recordedLog } from "../support/logs.js";
import { ManualClock } from "../support/manual-clock.js";
import { createTestDatabase } from "../support/postgres.js";
import { NOW } from "../support/world.js";

const FACTS: ServerFacts = {
  isReplica: false,
  position: 1,
  system: "7000",
  timeline: 1,
  database: "sidereal",
  schema: "public",
};

/** A message of the protocol: its type, its length, its content. */
function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

const errorOf = (code: string) => message("E", Buffer.from(`SERROR\0C${code}\0Mit refuses\0\0`));
const READY = message("Z", Buffer.from("I"));
const DONE = Buffer.concat([message("C", Buffer.from("SET\0")), READY]);
const WELCOME = Buffer.concat([message("R", Buffer.alloc(4)), READY]);

/** A replica that never goes away, before a real primary. */
describe("Reads that a replica refuses", () => {
  const { log } = recordedLog("warn");
  const closing: (() => unknown)[] = [];
  let primaryUrl = "";
  before(async () => {
    const server = await connectToServer();
    closing.push(() => server.stop());
    primaryUrl = await createTestDatabase(server.port);
  });
  after(async () => {
    for (const close of closing.reverse()) await close();
  });

  /** A server that does this with each connection. Returns its address. */
  const listen = async (serve: (socket: Socket) => void): Promise<string> => {
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
      serve(socket);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    closing.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const address = server.address();
    assert.ok(address !== null && typeof address === "object");
    return `postgres://someone@127.0.0.1:${address.port}/sidereal`;
  };
  const watchOf = (url: string): ServerWatch => {
    const watch = new ServerWatch({ url, clock: systemClock, log });
    closing.push(() => watch.close());
    return watch;
  };
  const open = (url: string): FaultPool => {
    const pool = openPool(url, { pool: 2, reads: true, watch: watchOf(url), log });
    closing.push(() => pool.end());
    return pool;
  };
  /** Reads in both ways that the program has, from a replica that answers every probe. */
  const readThrough = async (replica: FaultPool) => {
    const sources = new Sources({
      primary: { name: "primary", url: "primary", pool: open(primaryUrl) },
      replicas: [{ name: "replica", url: "replica", pool: replica }],
      maxLagMs: 10_000,
      clock: new ManualClock(NOW),
      log,
      probe: (url) => ({ facts: async () => ({ ...FACTS, isReplica: url === "replica" }), close: () => {} }),
    });
    closing.push(() => sources.close());
    await sources.start();
    const pool = new FailoverPool(sources);
    const { rows } = await pool.rows<[number]>({ name: "one", text: "select 1", values: [] });
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
    const other = await sql<{ two: number }>`select 2 as two`.execute(db);
    return { values: [rows[0]?.[0], other.rows[0]?.two], used: sources.current.name };
  };

  test("one without a free connection: the primary runs them, and the replica is not given up", async () => {
    const url = await listen((socket) => socket.once("data", () => socket.end(errorOf("53300"))));
    assert.deepEqual(await readThrough(open(url)), { values: [1, 2], used: "replica" });
  });

  for (const [code, what] of [
    ["53100", "a full disk"],
    ["XX001", "a damaged page"],
  ] as const) {
    test(`one with ${what}: the primary runs them, and the replica is not given up`, async () => {
      const url = await listen((socket) => {
        socket.once("data", () => {
          socket.write(WELCOME);
          // A statement with a name is several messages, each of which may arrive alone; the last is Sync.
          socket.on("data", (bytes) => {
            // What the pool sets for each connection succeeds.
            if (bytes.includes("statement_timeout")) socket.write(DONE);
            else if (bytes[0] === 0x51 || bytes.at(-5) === 0x53)
              socket.write(Buffer.concat([errorOf(code), READY]));
          });
        });
      });
      assert.deepEqual(await readThrough(open(url)), { values: [1, 2], used: "replica" });
    });
  }

  test("one whose connection is dead: it is closed in time, and the next statement has another one", async () => {
    let connections = 0;
    const url = await listen((socket) => {
      const isDead = ++connections === 1;
      socket.once("data", () => {
        socket.write(WELCOME);
        if (!isDead) socket.on("data", () => socket.write(DONE));
      });
    });
    const pool = new FaultPool(new pg.Pool({ connectionString: url, max: 1 }), {
      // The server responds to others.
      watch: watchOf(primaryUrl),
      timeoutMs: 20,
    });
    closing.push(() => pool.end());
    const read = async () => {
      const client = await pool.connect();
      try {
        await client.query("select 1", []);
      } finally {
        client.release();
      }
    };
    await assert.rejects(read(), (error: Error) => databaseFault(error) === "unavailable");
    await read();
    assert.equal(connections, 2);
  });

  test("one that accepts connections and then is silent: a read fails in time, and takes no connection for good", async (context) => {
    let connections = 0;
    const url = await listen((socket) => {
      connections += 1;
      socket.once("data", () => socket.write(WELCOME));
    });
    const pool = openPool(url, { pool: 1, reads: true, watch: watchOf(primaryUrl), log });
    closing.push(() => pool.end());
    context.mock.timers.enable({ apis: ["setTimeout"] });
    for (const count of [1, 2]) {
      const read = assert.rejects(pool.connect(), (error: Error) => databaseFault(error) === "unavailable");
      while (connections < count) await setImmediate();
      for (let turn = 0; turn < 50; turn++) await setImmediate();
      context.mock.timers.tick(12_000);
      await read;
    }
  });

  test("all connections of this process are in use: the primary runs them, and the replica is not given up", async () => {
    const url = await listen((socket) => socket.once("data", () => socket.write(WELCOME)));
    const pool = new pg.Pool({ connectionString: url, max: 1, connectionTimeoutMillis: 100 });
    const replica = new FaultPool(pool, { watch: watchOf(url) });
    const inUse = await replica.connect();
    closing.push(
      () => replica.end(),
      () => inUse.release(),
    );
    assert.deepEqual(await readThrough(replica), { values: [1, 2], used: "replica" });
  });
});
