/**
 * The Citus cluster of the tests: a coordinator and two workers, where Citus is installed. Each database is a copy of a template
 * on all three nodes, whose tables are distributed already: that takes a sixth of a second instead of two.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import pg from "pg";
import { type Database, openDatabase } from "../../src/database/database.js";
import { distribute } from "../../src/database/distribution/distribution.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import type { CitusReport } from "./citus-process.js";
import { type Relay, startRelay } from "./relay.js";

const PROCESS = fileURLToPath(new URL("./citus-process.js", import.meta.url));
const TEMPLATE = "sidereal_citus_template";
/** The same without distributed tables. */
const LOCAL_TEMPLATE = "sidereal_citus_local";
const DROP_TRIES = 4;

export interface CitusCluster {
  /** The coordinator's first. */
  ports: readonly number[];
  stop(): Promise<void>;
}

/** Starts a cluster and makes the templates; gives what is missing where Citus is not installed. */
export async function startCitus(): Promise<CitusCluster | { missing: string }> {
  const child = spawn(process.execPath, [PROCESS], { stdio: ["pipe", "pipe", "inherit"], detached: true });
  const ended = once(child, "exit");
  const stop = async () => {
    child.stdin.destroy();
    await ended;
  };
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const { value = '{"problem":"It ended without a word."}' } = await lines.next();
  const report: CitusReport = JSON.parse(value);
  if ("ports" in report) {
    try {
      await makeTemplates(report.ports);
      return { ports: report.ports, stop };
    } catch (error) {
      await stop();
      throw error;
    }
  }
  await stop();
  if ("missing" in report) return report;
  throw new Error(`The Citus cluster did not start. ${report.problem}`);
}

async function makeTemplates(ports: readonly number[]): Promise<void> {
  const [coordinator = 0, ...workers] = ports;
  for (const name of [LOCAL_TEMPLATE, TEMPLATE]) {
    await onEach(ports, "postgres", `create database ${name}`);
    await onEach(ports, name, "create extension citus");
    await onEach([coordinator], name, `select citus_set_coordinator_host('127.0.0.1', ${coordinator})`);
    for (const port of workers)
      await onEach([coordinator], name, `select citus_add_node('127.0.0.1', ${port})`);
    const log = createLog("silent");
    const database = await openDatabase({ url: urlOf(coordinator, name), dataDir: "", pool: 2, log });
    if (name === TEMPLATE) await distribute(database, { clock: systemClock });
    await database.close();
    // Its own processes on each node keep a database from being copied, and come back while it accepts connections.
    await onEach(ports, "postgres", `alter database ${name} allow_connections false`);
    await onEach(
      ports,
      "postgres",
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`,
    );
  }
}

/** Makes a database on all nodes, with all tables, and gives its address. */
export async function createCitusDatabase(
  ports: readonly number[],
  { isLocal = false }: { isLocal?: boolean } = {},
): Promise<string> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  const template = isLocal ? LOCAL_TEMPLATE : TEMPLATE;
  await onEach(ports, "postgres", `create database ${name} template ${template} strategy file_copy`);
  return urlOf(ports[0] ?? 0, name);
}

export async function dropCitusDatabase(ports: readonly number[], url: string): Promise<void> {
  const drop = `drop database if exists ${new URL(url).pathname.slice(1)} with (force)`;
  // The server ends sessions and waits five seconds for them; on a busy machine one may take longer.
  for (let tries = 1; ; tries++) {
    try {
      await onEach(ports, "postgres", drop);
      return;
    } catch (error) {
      if (tries === DROP_TRIES) throw error;
    }
  }
}

/** Leads the statements of a distributed database to its last node through a relay, which can cut it off. */
export async function relayNode({ write }: Database): Promise<Relay> {
  const { rows } = await sql<{ id: number; port: number }>`select nodeid as id, nodeport as port
    from pg_dist_node order by nodeid desc limit 1`.execute(write);
  const relay = await startRelay(rows[0]?.port ?? 0);
  await sql`select citus_update_node(${rows[0]?.id}, '127.0.0.1', ${relay.port})`.execute(write);
  // Otherwise it is done in the background, and a node that does not know the others takes no tables.
  await sql`select start_metadata_sync_to_all_nodes()`.execute(write);
  return relay;
}

function urlOf(port: number, database: string): string {
  return `postgres://postgres@127.0.0.1:${port}/${database}`;
}

/** Runs a statement on several nodes at the same time. */
async function onEach(ports: readonly number[], database: string, text: string): Promise<void> {
  const run = async (port: number) => {
    const client = new pg.Client({ connectionString: urlOf(port, database) });
    await client.connect();
    try {
      await client.query(text);
    } finally {
      await client.end();
    }
  };
  await Promise.all(ports.map(run));
}
