/**
 * The PostgreSQL server of the tests. A run starts one in its global setup and hands its address to the test files by
 * environment; a file that is run alone starts its own. Each database is a copy of a template that has all tables.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/lib/log.js";
import type { PostgresReport } from "./postgres-process.js";

const PROCESS = fileURLToPath(new URL("./postgres-process.js", import.meta.url));
const TEMPLATE = "sidereal_template";

export interface PostgresServer {
  port: number;
  stop(): Promise<void>;
}

/** A server that keeps what it has acknowledged, and can be killed. */
export interface KillableServer extends PostgresServer {
  /** Kills it with all its processes. Resolves when it accepts connections again, on the same port. */
  kill(): Promise<void>;
}

/** Starts a server and makes the template. Throws with what is missing when it does not start. */
export function startPostgres(): Promise<PostgresServer> {
  return startServer([]);
}

/** The same, with a server that can be killed. */
export function startKillablePostgres(): Promise<KillableServer> {
  return startServer(["killable"]);
}

async function startServer(args: readonly string[]): Promise<KillableServer> {
  // Of its own group, so that Ctrl-C leaves the server to the end of the run.
  const child = spawn(process.execPath, [PROCESS, ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
  });
  const ended = once(child, "exit");
  const stop = async () => {
    child.stdin.destroy();
    await ended;
  };
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const reportOf = async (): Promise<{ port: number }> => {
    const { value = '{"problem":"It ended without a word."}' } = await lines.next();
    const report: PostgresReport = JSON.parse(value);
    if (!("problem" in report)) return report;
    await stop();
    throw new Error(`PostgreSQL did not start. ${report.problem}`);
  };
  const { port } = await reportOf();
  try {
    await makeTemplate(port);
  } catch (error) {
    await stop();
    throw error;
  }
  const kill = async () => {
    child.stdin.write("\n");
    await reportOf();
  };
  return { port, stop, kill };
}

async function makeTemplate(port: number): Promise<void> {
  await runCommand(port, `create database ${TEMPLATE}`);
  const options = { url: urlOf(port, TEMPLATE), dataDir: "", pool: 1, log: createLog("silent") };
  const template = await openDatabase(options);
  await template.close();
}

/** Makes a database with all tables, and gives its address. `from`: address of a database that it is a copy of. */
export async function createTestDatabase(port: number, from?: string): Promise<string> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  const template = from === undefined ? TEMPLATE : databaseOf(from);
  await runCommand(port, `create database ${name} template ${template} strategy file_copy`);
  return urlOf(port, name);
}

export async function dropTestDatabase(url: string): Promise<void> {
  await runCommand(Number(new URL(url).port), `drop database if exists ${databaseOf(url)} with (force)`);
}

const databaseOf = (url: string): string => new URL(url).pathname.slice(1);

function urlOf(port: number, database: string): string {
  return `postgres://postgres@127.0.0.1:${port}/${database}`;
}

/** By port: the connection of this process for commands. A new one for each costs as much as half of them. */
const commands = new Map<number, pg.Pool>();

async function runCommand(port: number, text: string): Promise<void> {
  const pool =
    commands.get(port) ??
    // Without timers, as a test may have replaced those of the process.
    new pg.Pool({
      connectionString: urlOf(port, "postgres"),
      max: 1,
      allowExitOnIdle: true,
      idleTimeoutMillis: 0,
    })
      // Its server may be stopped or killed.
      .on("error", () => {});
  commands.set(port, pool);
  await pool.query(text);
}

/** Ends all sessions of a database, as a server that goes away does. */
export async function endSessions(url: string): Promise<void> {
  const command = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${databaseOf(url)}'`;
  await runCommand(Number(new URL(url).port), command);
}

/** Puts another database in the place of one, under its sessions. */
export async function replaceTestDatabase(url: string, by: string): Promise<void> {
  await dropTestDatabase(url);
  const command = `alter database ${databaseOf(by)} rename to ${databaseOf(url)}`;
  await runCommand(Number(new URL(url).port), command);
}
