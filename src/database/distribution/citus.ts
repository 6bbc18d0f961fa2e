/** The nodes of a Citus cluster, and the tables that are distributed over them. */
import { sql } from "kysely";
import type { Db, TableName } from "../dialect.js";

/** A server that takes part in the cluster; the coordinator has the group 0. */
export interface CitusNode {
  host: string;
  port: number;
  isCoordinator: boolean;
  /** Whether statements are sent to it. */
  isActive: boolean;
  /** Whether it knows the present nodes and tables. */
  isSynced: boolean;
  holdsShards: boolean;
}

/** What one node replied to a statement; a node that could not be reached has failed. */
interface NodeReply {
  host: string;
  port: number;
  hasFailed: boolean;
  /** The value, or the message of the failure. */
  text: string;
}

/** The version of the extension in this database; undefined without it. */
export async function readCitusVersion(db: Db): Promise<string | undefined> {
  const { rows } = await sql<{
    version: string;
  }>`select extversion as version from pg_extension where extname = 'citus'`.execute(db);
  return rows[0]?.version;
}

/** All nodes, the coordinator first. A single server without metadata of its own has none. */
export async function readNodes(db: Db): Promise<CitusNode[]> {
  const { rows } = await sql<{
    host: string;
    port: number;
    group: number;
    active: boolean;
    synced: boolean;
    holds: boolean;
  }>`select nodename as host, nodeport as port, groupid as "group", isactive as active,
      metadatasynced or not hasmetadata as synced, shouldhaveshards as holds
    from pg_dist_node where noderole = 'primary' order by groupid`.execute(db);
  return rows.map(({ host, port, group, active, synced, holds }) => ({
    host,
    port,
    isCoordinator: group === 0,
    isActive: active,
    isSynced: synced,
    holdsShards: holds,
  }));
}

/** How long to wait for a node that accepts no connection. Shorter than the limit for statements of requests. */
const CONNECT_MS = 2_000;

/** Runs a statement that returns one value on every active node. */
export async function onAllNodes(db: Db, statement: string): Promise<NodeReply[]> {
  const { rows } = await sql<{ host: string; port: number; success: boolean; result: string }>`
    select n.nodename as host, n.nodeport as port, r.success, r.result
    from (select set_config('citus.node_connection_timeout', ${String(CONNECT_MS)}, true) as ms offset 0) limited,
      lateral run_command_on_all_nodes(${statement}, give_warning_for_connection_errors => limited.ms is not null) r
    join pg_dist_node n on n.nodeid = r.nodeid order by n.groupid`.execute(db);
  return rows.map(({ host, port, success, result }) => ({
    host,
    port,
    hasFailed: !success,
    text: (result ?? "").trim(),
  }));
}

/** The address of a node, as messages name it. */
export const nodeName = ({ host, port }: { host: string; port: number }): string => `${host}:${port}`;

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

/** Bytes that a table occupies on the coordinator, with its indexes; without its shards. */
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
