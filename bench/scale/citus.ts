/** Distributes the histories of a filled PostgreSQL database over the workers of Citus on this machine. */
import pg from "pg";
import { onServer } from "../support/stores.js";

/** All keyed by `repository_id` first. */
const DISTRIBUTED = ["snapshots", "snapshot_blocks", "rank_history", "rank_blocks"];
const LOOPBACK = "127.0.0.1";

/** Returns the seconds of each table. The server and the workers must have loaded Citus. */
export async function distribute(
  url: string,
  workerPorts: readonly number[],
): Promise<Record<string, number>> {
  const database = new URL(url).pathname.slice(1);
  const { port } = new URL(url);
  for (const workerPort of workerPorts) {
    const worker = `postgres://postgres@${LOOPBACK}:${workerPort}/${database}`;
    await onServer(worker, `drop database if exists ${database} with (force)`);
    await onServer(worker, `create database ${database} template template0 encoding 'UTF8'`);
    await onDatabase(worker, (client) => client.query("create extension citus"));
  }
  return onDatabase(url, async (client) => {
    await client.query("create extension if not exists citus");
    await client.query("select citus_set_coordinator_host($1, $2)", [LOOPBACK, Number(port)]);
    for (const workerPort of workerPorts)
      await client.query("select citus_add_node($1, $2)", [LOOPBACK, workerPort]);
    const seconds: Record<string, number> = {};
    for (const [i, table] of DISTRIBUTED.entries()) {
      const began = performance.now();
      const colocated = i === 0 ? "default" : DISTRIBUTED[0];
      await client.query("select create_distributed_table($1, 'repository_id', colocate_with => $2)", [
        table,
        colocated,
      ]);
      await client.query("select truncate_local_data_after_distributing_table($1)", [table]);
      seconds[table] = (performance.now() - began) / 1_000;
    }
    await client.query("analyze");
    return seconds;
  });
}

async function onDatabase<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
