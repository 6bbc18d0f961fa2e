/**
 * Distribution over the nodes of a Citus cluster. The tables that grow with the history of repositories, each keyed by
 * `repository_id` first, are distributed by it with the same shards, so that all history of a repository is on one node. What
 * statements on these tables may look like is up to the modules that own them: by sets of repositories.
 */
import { sql } from "kysely";
import type { Clock } from "../lib/clock.js";
import type { Db, Dialect } from "./dialect.js";
import type { TableName } from "./schema/schema.js";

export const DISTRIBUTED_TABLES = [
  "snapshot_blocks",
  "snapshots",
  "rank_blocks",
  "rank_history",
] as const satisfies readonly TableName[];

/** How long a table waits for its readers before rows are left over, in ms; new readers wait for as long. */
const LOCK_MS = 1_000;

/** Why a database cannot be distributed, as a message for the operator. */
export class DistributionRefused extends Error {}

interface DistributeOptions {
  clock: Clock;
  /** Of each table; default: `citus.shard_count` of the server. */
  shards?: number | undefined;
  /** Receives each table when it is done, and for how long it could not be written, in ms. */
  onTable: (table: string, pausedMs: number) => void;
}

/**
 * Distributes those tables that are still local, one transaction each: killed at any time, every table is either local or
 * distributed, and the next call continues. Readers do not wait. Throws DistributionRefused.
 */
export async function distribute(
  { dialect, write }: { dialect: Dialect; write: Db },
  { clock, shards, onTable }: DistributeOptions,
): Promise<void> {
  await refuseUnready(dialect, write);
  // No writer of the catalogue waits for a table with locks of its own, and none moves rows between two of the tables.
  await dialect.exclusively(write, "catalogue", async (lock) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(lock);
    for (const table of DISTRIBUTED_TABLES) {
      const [partner, ...others] = await readDistributed(write);
      if (![partner, ...others].includes(table)) {
        const began = clock.monotonic();
        const count = shards === undefined ? sql`` : sql`, shard_count => ${sql.lit(shards)}`;
        const placing = partner === undefined ? sql`'none'${count}` : sql`${partner}`;
        await sql`select create_distributed_table(${table}::regclass, 'repository_id', colocate_with => ${placing})`.execute(
          write,
        );
        onTable(table, clock.monotonic() - began);
        await dialect.analyze(write, table);
      }
      await removeLocalRows(write, dialect, table);
    }
  });
}

async function refuseUnready({ engine }: Dialect, db: Db): Promise<void> {
  if (engine === "sqlite")
    throw new DistributionRefused(
      "This database is one SQLite file, which cannot be distributed. Set SIDEREAL_DATABASE_URL to a PostgreSQL server with Citus.",
    );
  if (!(await hasCitus(db)))
    throw new DistributionRefused(
      'This database does not have the extension citus. Run "create extension citus" in it, on every node; see docs/OPERATIONS.md.',
    );
  const { rows } = await sql`select 1 from pg_dist_node where isactive and shouldhaveshards`.execute(db);
  if (rows.length === 0)
    throw new DistributionRefused(
      'No node may hold shards. Add workers with "select citus_add_node(...)" on the coordinator.',
    );
}

/** Removes the rows that a distributed table has left on the coordinator, as nobody sees them there any more. */
async function removeLocalRows(db: Db, dialect: Dialect, table: string): Promise<void> {
  const { rows } = await sql<{ bytes: number }>`select pg_relation_size(${table}::regclass) as bytes`.execute(
    db,
  );
  if (rows[0]?.bytes === 0) return;
  try {
    await db.transaction().execute(async (tx) => {
      await sql`set local lock_timeout = ${sql.lit(LOCK_MS)}`.execute(tx);
      await sql`select truncate_local_data_after_distributing_table(${table}::regclass)`.execute(tx);
    });
  } catch (error) {
    if (!dialect.isInUse(error)) throw error;
    throw new DistributionRefused(
      `Somebody reads ${table} for long, such as an export or a backup. Wait for its end, then run this again.`,
    );
  }
}

async function hasCitus(db: Db): Promise<boolean> {
  return (await sql`select 1 from pg_extension where extname = 'citus'`.execute(db)).rows.length > 0;
}

async function readDistributed(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select c.relname::text as name
    from pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
    where c.relnamespace = current_schema()::regnamespace and p.partmethod = 'h' order by name`.execute(db);
  return rows.map(({ name }) => name);
}

/** Whether any table is distributed; false on a server without the extension. */
export async function isDistributed(db: Db): Promise<boolean> {
  return (await hasCitus(db)) && (await readDistributed(db)).length > 0;
}

/** Size of a database on all nodes that can be reached, in bytes. */
export async function sizeOnNodes(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`select coalesce(sum(result::bigint), 0) as bytes
    from run_command_on_all_nodes('select pg_database_size(current_database())') where success`.execute(db);
  return rows[0]?.bytes ?? 0;
}
