import { sql } from "kysely";
import type { Db, TableName } from "../dialect.js";

/**
 * The tables that grow with the history of repositories, each keyed by `repository_id` first. They are distributed by it, with
 * the same shards for all, so that everything about a repository is on one node. In the order of their distribution.
 */
export const DISTRIBUTED_TABLES = [
  "snapshot_blocks",
  "snapshots",
  "rank_blocks",
  "rank_history",
] as const satisfies readonly TableName[];

export type DistributedTable = (typeof DISTRIBUTED_TABLES)[number];

/** Those of the tables that have shards. The database must have the extension. */
export async function readDistributed(db: Db): Promise<Set<DistributedTable>> {
  const { rows } = await sql<{ name: string }>`select c.relname::text as name
    from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
    where c.relnamespace = current_schema()::regnamespace and p.partmethod = 'h'`.execute(db);
  const names = new Set(rows.map(({ name }) => name));
  return new Set(DISTRIBUTED_TABLES.filter((table) => names.has(table)));
}

/** Whether any of the tables is distributed; false on a server without the extension. */
export async function isDistributed(db: Db): Promise<boolean> {
  const { rows } = await sql`select 1 from pg_extension where extname = 'citus'`.execute(db);
  return rows.length > 0 && (await readDistributed(db)).size > 0;
}

/** Bytes that a table occupies on the server that is asked, with its indexes; without its shards. */
export async function localBytes(db: Db, table: DistributedTable): Promise<number> {
  const { rows } = await sql<{
    bytes: number;
  }>`select pg_total_relation_size(${table}::regclass) as bytes`.execute(db);
  return rows[0]?.bytes ?? 0;
}

/** Whether rows are left over on the coordinator, which nobody sees any more. */
export async function hasLeftOver(db: Db, table: DistributedTable): Promise<boolean> {
  const { rows } = await sql<{
    bytes: number;
  }>`select pg_relation_size(${table}::regclass) as bytes`.execute(db);
  return (rows[0]?.bytes ?? 0) > 0;
}
