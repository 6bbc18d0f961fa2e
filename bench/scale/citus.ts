/** Distributes the histories of a filled PostgreSQL database over the workers of Citus on this machine. */
import pg from "pg";
import { distribute } from "../../src/database/distribution/distribution.js";
import { systemClock } from "../../src/lib/clock.js";
import { onServer, openStore, type Store } from "../support/stores.js";

const LOOPBACK = "127.0.0.1";

/**
 * Adds the nodes to a database, and distributes it as `sidereal database distribute` does. Returns for how many seconds each table
 * could not be written. The server and the workers must have loaded Citus.
 */
export async function distributeStore(
  store: Pick<Store, "url" | "dataDir">,
  workerPorts: readonly number[],
): Promise<Record<string, number>> {
  const { url = "" } = store;
  const database = new URL(url).pathname.slice(1);
  for (const port of workerPorts) {
    const worker = `postgres://postgres@${LOOPBACK}:${port}/${database}`;
    await onServer(worker, `drop database if exists ${database} with (force)`);
    await onServer(worker, `create database ${database} template template0 encoding 'UTF8'`);
    await onDatabase(worker, (client) => client.query("create extension citus"));
  }
  await onDatabase(url, async (client) => {
    await client.query("create extension if not exists citus");
    await client.query("select citus_set_coordinator_host($1, $2)", [LOOPBACK, Number(new URL(url).port)]);
    for (const port of workerPorts) await client.query("select citus_add_node($1, $2)", [LOOPBACK, port]);
  });
  const seconds: Record<string, number> = {};
  const { database: opened } = await openStore(store);
  try {
    await distribute(opened, {
      clock: systemClock,
      onTable: ({ table, pausedMs }) => {
        seconds[table] = pausedMs / 1_000;
      },
    });
  } finally {
    await opened.close();
  }
  return seconds;
}

async function onDatabase(url: string, work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
