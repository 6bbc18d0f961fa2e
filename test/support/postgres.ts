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
import { createLog } from "../../src/log.js";
import type { PostgresReport } from "./postgres-process.js";

const PROCESS = fileURLToPath(new URL("./postgres-process.js", import.meta.url));
const TEMPLATE = "sidereal_template";

export interface PostgresServer {
  port: number;
  stop(): Promise<void>;
}

/** Starts a server and makes the template. Throws with what is missing when it does not start. */
export async function startPostgres(): Promise<PostgresServer> {
  // Of its own group, so that Ctrl-C leaves the server to the end of the run.
  const child = spawn(process.execPath, [PROCESS], { stdio: ["pipe", "pipe", "inherit"], detached: true });
  const ended = once(child, "exit");
  const stop = async () => {
    child.stdin.destroy();
    await ended;
  };
  const firstLine = once(createInterface(child.stdout), "line");
  const [line = '{"problem":"It ended without a word."}'] = await Promise.race([
    firstLine,
    ended.then((): string[] => []),
  ]);
  const report: PostgresReport = JSON.parse(line);
  if ("problem" in report) {
    await stop();
    throw new Error(`PostgreSQL did not start. ${report.problem}`);
  }
  try {
    await makeTemplate(report.port);
  } catch (error) {
    await stop();
    throw error;
  }
  return { port: report.port, stop };
}

async function makeTemplate(port: number): Promise<void> {
  await command(port, `create database ${TEMPLATE}`);
  const options = { url: urlOf(port, TEMPLATE), dataDir: "", pool: 1, log: createLog("silent") };
  const template = await openDatabase(options);
  await template.close();
}

/** Makes a database with all tables, and gives its address. */
export async function createTestDatabase(port: number): Promise<string> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await command(port, `create database ${name} template ${TEMPLATE} strategy file_copy`);
  return urlOf(port, name);
}

export async function dropTestDatabase(url: string): Promise<void> {
  const { port, pathname } = new URL(url);
  await command(Number(port), `drop database if exists ${pathname.slice(1)} with (force)`);
}

function urlOf(port: number, database: string): string {
  return `postgres://postgres@127.0.0.1:${port}/${database}`;
}

async function command(port: number, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: urlOf(port, "postgres") });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}
