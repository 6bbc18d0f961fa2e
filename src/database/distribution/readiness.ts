import { sql } from "kysely";
import type { Db } from "../dialect.js";
import {
  DISTRIBUTED_TABLES,
  localBytes,
  nodeName,
  onAllNodes,
  readCitusVersion,
  readDistributed,
  readNodes,
} from "./citus.js";

/** Why tables cannot be distributed, and deviations from what is recommended. */
export interface Readiness {
  problems: string[];
  notes: string[];
}

/** The oldest major version with everything that is used here. */
const OLDEST_CITUS = 12;
/** A rebuild whose last step is longer ago was given up. */
const STALE_REBUILD_MS = 2 * 60_000;
/** Free space wanted, for each byte that is copied. */
const HEADROOM = 1.5;

/** Checks what can be known before tables are distributed. `now`: ms since 1970. */
export async function readReadiness(db: Db, now: number): Promise<Readiness> {
  const readiness: Readiness = { problems: [], notes: [] };
  const version = await readCitusVersion(db);
  if (version === undefined) {
    readiness.problems.push(
      'This database does not have the extension citus. Run "create extension citus" in it, on every node; see docs/OPERATIONS.md.',
    );
    return readiness;
  }
  if (Number.parseInt(version, 10) < OLDEST_CITUS)
    readiness.problems.push(`Citus ${version} is too old; ${OLDEST_CITUS} or newer is needed.`);
  await checkNodes(db, readiness);
  if (readiness.problems.length > 0) return readiness;
  await checkSettings(db, readiness);
  await checkSpace(db, readiness);
  await checkRebuilds(db, now, readiness);
  return readiness;
}

async function checkNodes(db: Db, { problems }: Readiness): Promise<void> {
  const nodes = await readNodes(db);
  if (!nodes.some(({ isCoordinator }) => isCoordinator))
    problems.push(
      'The coordinator does not know its own address. Run "select citus_set_coordinator_host(...)" on it.',
    );
  if (!nodes.some(({ isActive, holdsShards }) => isActive && holdsShards))
    problems.push(
      'No node may hold shards. Add workers with "select citus_add_node(...)" on the coordinator.',
    );
  for (const node of nodes) {
    if (!node.isActive) problems.push(`The node ${nodeName(node)} is not active.`);
    else if (!node.isSynced)
      problems.push(
        `The node ${nodeName(node)} does not know all nodes yet. Run "select start_metadata_sync_to_all_nodes()" on the coordinator.`,
      );
  }
  const replies = await onAllNodes(db, "select 1");
  for (const reply of replies)
    if (reply.hasFailed) problems.push(`The node ${nodeName(reply)} cannot be reached: ${reply.text}`);
}

async function checkSettings(db: Db, { problems, notes }: Readiness): Promise<void> {
  const prepared = await onAllNodes(db, "select current_setting('max_prepared_transactions')");
  for (const reply of prepared)
    if (Number(reply.text) === 0)
      problems.push(
        `max_prepared_transactions is 0 on ${nodeName(reply)}: a commit on several nodes needs it to be at least max_connections.`,
      );
  const levels = await onAllNodes(db, "select current_setting('wal_level')");
  for (const reply of levels)
    if (reply.text !== "logical")
      notes.push(
        `wal_level is ${reply.text} on ${nodeName(reply)}: shards can only be moved while writes wait. With logical, writes continue.`,
      );
}

async function checkSpace(db: Db, { problems, notes }: Readiness): Promise<void> {
  const distributed = await readDistributed(db);
  let bytes = 0;
  for (const table of DISTRIBUTED_TABLES) if (!distributed.has(table)) bytes += await localBytes(db, table);
  const nodes = await readNodes(db);
  const holders = new Set(nodes.filter(({ holdsShards }) => holdsShards).map(nodeName));
  const wanted = Math.ceil((bytes * HEADROOM) / Math.max(1, holders.size));
  const replies = await onAllNodes(db, "select available_disk_size from citus_local_disk_space_stats()");
  for (const reply of replies.filter((one) => holders.has(nodeName(one)))) {
    if (reply.hasFailed) notes.push(`The free space of ${nodeName(reply)} is not known: ${reply.text}`);
    else if (Number(reply.text) < wanted)
      problems.push(`${nodeName(reply)} has ${reply.text} bytes free; ${wanted} are needed.`);
  }
}

async function checkRebuilds(db: Db, now: number, { problems }: Readiness): Promise<void> {
  const { rows } = await sql<{ id: number }>`select id from runs
    where owner is not null and abs(${now}::bigint - seen_at) < ${STALE_REBUILD_MS}`.execute(db);
  if (rows.length > 0)
    problems.push("Growth, ranks or words are being rebuilt. Wait until that has ended, or stop the worker.");
}
