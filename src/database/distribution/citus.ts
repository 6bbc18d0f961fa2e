import { sql } from "kysely";
import type { Db } from "../dialect.js";

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
export interface NodeReply {
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
