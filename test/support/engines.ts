import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe } from "node:test";
import { type Database, openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/lib/log.js";
import { IS_LONG } from "./long.js";
import { createTestDatabase, dropTestDatabase, type PostgresServer, startPostgres } from "./postgres.js";
import type { PostgresReport } from "./postgres-process.js";

/** Opens fresh databases of one engine. */
export interface Engine {
  name: "sqlite" | "postgres";
  /** An empty, migrated database, closed when the tests of this file end. */
  open(): Promise<Database>;
  /** What `openDatabase` needs to reach the database that `open` gave last, from another connection or process. */
  location(): { url: string | undefined; dataDir: string };
}

/** The engine of a suite, which ends what it opened. */
export interface SuiteEngine extends Engine {
  /**
   * Opens copies of a database that `fill` opened here, filled and left open, which is faster than to fill each.
   */
  copiesOf(fill: () => Promise<Database>): () => Promise<Database>;
}

const log = createLog("silent");

/** Runs the same tests on SQLite and on PostgreSQL. */
export function onBothEngines(name: string, define: (engine: SuiteEngine) => void): void {
  defineSuite(`${name} on SQLite`, sqliteEngine, define);
  defineSuite(`${name} on PostgreSQL`, postgresEngine, define);
}

/**
 * Runs on SQLite, and on PostgreSQL with `npm run test:long` only: what builds on modules whose own tests run on both engines always,
 * such as pages and most of the API.
 */
export function onSqliteAndLong(name: string, define: (engine: SuiteEngine) => void): void {
  if (IS_LONG) onBothEngines(name, define);
  else onSqlite(`${name} on SQLite`, define);
}

/** Runs tests whose outcome cannot depend on the engine, such as how a page looks, once. */
export function onSqlite(name: string, define: (engine: SuiteEngine) => void): void {
  defineSuite(name, sqliteEngine, define);
}

/** Suites whose tests have not ended. */
const unfinished = new Set<{ name: string }>();

// The test runner takes a process that exits early with status 0 for a file of passing tests.
process.on("exit", () => {
  for (const { name } of unfinished)
    process.stderr.write(`the process exited before the end of the tests "${name}"\n`);
  if (unfinished.size > 0) process.exitCode = 1;
});

function defineSuite(
  name: string,
  newEngine: () => SuiteEngine,
  define: (engine: SuiteEngine) => void,
): void {
  const suite = { name };
  unfinished.add(suite);
  describe(name, () => {
    after(() => void unfinished.delete(suite));
    define(newEngine());
  });
}

function sqliteEngine(): SuiteEngine {
  const directories: string[] = [];
  const opened: Database[] = [];
  after(async () => {
    for (const database of opened) await database.close().catch(() => {});
    for (const directory of directories) rmSync(directory, { recursive: true, force: true });
  });
  const openCopy = async (folder: string | undefined) => {
    const dataDir = mkdtempSync(join(tmpdir(), "sidereal-test-"));
    directories.push(dataDir);
    if (folder !== undefined) copyFolder(folder, dataDir);
    const database = await openDatabase({ url: undefined, dataDir, pool: 4, log });
    opened.push(database);
    return database;
  };
  return {
    name: "sqlite",
    open: () => openCopy(process.env.TEST_SQLITE),
    copiesOf(fill) {
      const filled = once(async () => {
        await (await fill()).close();
        return directories.at(-1);
      });
      return async () => openCopy(await filled());
    },
    location: () => ({ url: undefined, dataDir: directories.at(-1) ?? "" }),
  };
}

/** The same promise in all calls. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Makes a SQLite database with all tables. Test files copy it, which is five times faster; a file that is run alone makes its own. */
export async function makeMigrated(folder: string): Promise<void> {
  mkdirSync(folder);
  const database = await openDatabase({ url: undefined, dataDir: folder, pool: 1, log });
  await database.close();
  process.env.TEST_SQLITE = folder;
}

function copyFolder(from: string, to: string): void {
  for (const name of readdirSync(from)) copyFileSync(join(from, name), join(to, name));
}

/** The server of the run; in a file that is run alone, a server for that file. */
export async function connectToServer(): Promise<PostgresServer> {
  const given = process.env.TEST_POSTGRES;
  if (given === undefined) return startPostgres();
  const report: PostgresReport = JSON.parse(given);
  if ("problem" in report) throw new Error(report.problem);
  return { port: report.port, stop: async () => {} };
}

function postgresEngine(): SuiteEngine {
  const opened: { database: Database; url: string }[] = [];
  let server: PostgresServer | undefined;
  before(async () => {
    server = await connectToServer();
  });
  after(async () => {
    for (const { database, url } of opened) {
      await database.close().catch(() => {});
      await dropTestDatabase(url);
    }
    await server?.stop();
  });
  const openCopy = async (template?: string) => {
    if (server === undefined) throw new Error("PostgreSQL is not running");
    const url = await createTestDatabase(server.port, template);
    const database = await openDatabase({ url, dataDir: "", pool: 4, log });
    opened.push({ database, url });
    return database;
  };
  return {
    name: "postgres",
    open: () => openCopy(),
    copiesOf(fill) {
      const filled = once(async () => {
        await (await fill()).close();
        return opened.at(-1)?.url;
      });
      return async () => openCopy(await filled());
    },
    location: () => ({ url: opened.at(-1)?.url, dataDir: "" }),
  };
}
