import { sql } from "kysely";
import type { Db } from "../dialect.js";
import {
  type CitusNode,
  DISTRIBUTED_TABLES,
  type DistributedTable,
  hasLeftOver,
  nodeName,
  onAllNodes,
  readCitusVersion,
  readDistributed,
  readNodes,
} from "./citus.js";

/** A node with its share of the distributed tables. */
export interface NodeStatus extends CitusNode {
  isReachable: boolean;
  /** Shards of all distributed tables. */
  shards: number;
  /** Bytes of its shards, and about how many rows they have; null where the node cannot be reached. */
  bytes: number | null;
  rows: number | null;
  /** Transactions that were prepared over a minute ago and neither committed nor rolled back; null as above. */
  preparedTransactions: number | null;
}

export interface DistributionStatus {
  /** Of the extension; null on a plain PostgreSQL server. */
  citusVersion: string | null;
  nodes: NodeStatus[];
  distributed: DistributedTable[];
  /** Tables whose rows are still local, of those that would be distributed. */
  local: DistributedTable[];
  /** Distributed tables with rows left over on the coordinator. */
  leftOver: DistributedTable[];
  /** Whether the nodes that may hold shards have the same number of them, give or take one of each table. */
  isBalanced: boolean;
}

/** Size of a database in bytes, on all nodes that can be reached. */
export async function readBytes(db: Db): Promise<number> {
  const replies = await onAllNodes(db, "select pg_database_size(current_database())");
  return replies.reduce((sum, { hasFailed, text }) => sum + (hasFailed ? 0 : Number(text)), 0);
}

/** Reads how a database is distributed; one statement per node and fact. */
export async function readStatus(db: Db): Promise<DistributionStatus> {
  const version = await readCitusVersion(db);
  if (version === undefined)
    return {
      citusVersion: null,
      nodes: [],
      distributed: [],
      local: [...DISTRIBUTED_TABLES],
      leftOver: [],
      isBalanced: true,
    };
  const distributed = await readDistributed(db);
  const nodes = await readNodeStatus(db, distributed);
  const leftOver: DistributedTable[] = [];
  for (const table of distributed) if (await hasLeftOver(db, table)) leftOver.push(table);
  const counts = nodes.filter(({ holdsShards }) => holdsShards).map(({ shards }) => shards);
  return {
    citusVersion: version,
    nodes,
    distributed: [...distributed],
    local: DISTRIBUTED_TABLES.filter((table) => !distributed.has(table)),
    leftOver,
    isBalanced: Math.max(0, ...counts) - Math.min(Number.MAX_SAFE_INTEGER, ...counts) <= distributed.size,
  };
}

async function readNodeStatus(db: Db, distributed: ReadonlySet<DistributedTable>): Promise<NodeStatus[]> {
  const nodes = await readNodes(db);
  const { rows: counts } = await sql<{ group: number; host: string; port: number; shards: number }>`
    select n.nodename as host, n.nodeport as port, count(*) as shards
    from pg_dist_placement p join pg_dist_shard s using (shardid) join pg_dist_node n using (groupid)
    where n.noderole = 'primary' and s.logicalrelid = any(${[...distributed]}::text[]::regclass[])
    group by n.nodename, n.nodeport`.execute(db);
  // On a node, a shard is a table with the name of the whole and a number.
  const names = `^(${[...distributed].join("|")})_[0-9]+$`;
  // One statement for all numbers: each waits for a node that hangs.
  const replies = await onAllNodes(
    db,
    `select concat_ws(' ', coalesce(sum(pg_total_relation_size(oid)), 0)::bigint,
      coalesce(sum(greatest(reltuples, 0)), 0)::bigint,
      (select count(*) from pg_prepared_xacts
        where database = current_database() and prepared < now() - interval '1 minute'))
      from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace and relname ~ '${names}'`,
  );
  return nodes.map((node) => {
    const name = nodeName(node);
    const reply = replies.find((one) => nodeName(one) === name && !one.hasFailed);
    const [bytes = null, rows = null, preparedTransactions = null] = reply?.text.split(" ").map(Number) ?? [];
    return {
      ...node,
      isReachable: reply !== undefined,
      shards: counts.find(({ host, port }) => nodeName({ host, port }) === name)?.shards ?? 0,
      bytes,
      rows,
      preparedTransactions,
    };
  });
}
