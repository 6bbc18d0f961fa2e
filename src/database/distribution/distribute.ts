import { sql } from "kysely";
import type { Clock } from "../../clock.js";
import type { Db, Dialect } from "../dialect.js";
import { DISTRIBUTED_TABLES, type DistributedTable, hasLeftOver, readDistributed } from "./tables.js";

/** What happened to a table. Times are in ms. */
export interface TableMoved {
  table: DistributedTable;
  /** How long its rows could not be written. */
  pausedMs: number;
  /** Rows that are left over on the coordinator because somebody reads the table for long. The next run removes them. */
  isLeftOver: boolean;
}

export interface MoveOptions {
  dialect: Dialect;
  clock: Clock;
  onTable: (moved: TableMoved) => void;
}

/** How often removing rows that are left over is tried, and how long each attempt and the pause after it take, in ms. */
const TRIES = 20;
const TRY_MS = 100;
const PAUSE_MS = 250;
/** How long a table that is made local again waits for its readers, who then wait too. */
const SWAP_MS = 5_000;

/**
 * Distributes those tables that are still local, one transaction each: killed at any time, every table is either local or
 * distributed, and the next call continues. Readers never wait. `shards`: how many shards, if no table is distributed yet.
 */
export async function distributeTables(
  db: Db,
  { dialect, clock, onTable, shards }: MoveOptions & { shards: number | undefined },
): Promise<void> {
  // No writer of the catalogue waits for a table with locks of its own, and none moves rows between two of the tables.
  await dialect.exclusively(db, "catalogue", async (lock) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(lock);
    for (const table of DISTRIBUTED_TABLES) {
      const distributed = await readDistributed(db);
      const isLocal = !distributed.has(table);
      const [partner] = distributed;
      const began = clock.monotonic();
      if (isLocal) await distributeOne(db, table, { partner, shards });
      const pausedMs = clock.monotonic() - began;
      const hadLeftOver = await hasLeftOver(db, table);
      const isLeftOver = hadLeftOver && !(await removeLeftOver(db, table, { dialect, clock }));
      if (isLocal) await dialect.analyze(db, table);
      if (isLocal || hadLeftOver) onTable({ table, pausedMs, isLeftOver });
    }
  });
}

async function distributeOne(
  db: Db,
  table: DistributedTable,
  { partner, shards }: { partner: DistributedTable | undefined; shards: number | undefined },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx);
    await sql`set local lock_timeout = 0`.execute(tx);
    const count = shards === undefined ? sql`` : sql`, shard_count => ${sql.lit(shards)}`;
    const placing = partner === undefined ? sql`'none'${count}` : sql`${partner}`;
    await sql`select create_distributed_table(${table}::regclass, 'repository_id', colocate_with => ${placing})`.execute(
      tx,
    );
  });
}

/** Whether the rows could be removed. New readers wait only as long as one attempt. */
async function removeLeftOver(
  db: Db,
  table: DistributedTable,
  { dialect, clock }: Pick<MoveOptions, "dialect" | "clock">,
): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      await db.transaction().execute(async (tx) => {
        await sql`set local lock_timeout = ${sql.lit(TRY_MS)}`.execute(tx);
        await sql`select truncate_local_data_after_distributing_table(${table}::regclass)`.execute(tx);
      });
      return true;
    } catch (error) {
      if (!dialect.isInUse(error)) throw error;
      if (tries === TRIES) return false;
      await clock.sleep(PAUSE_MS);
    }
  }
}

/**
 * Makes all tables local again, in the opposite order and in the same way. At the end of each table readers wait until the
 * shards are dropped: seconds for a large one.
 */
export async function undistributeTables(db: Db, { dialect, clock, onTable }: MoveOptions): Promise<void> {
  await dialect.exclusively(db, "catalogue", async (lock) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(lock);
    const distributed = await readDistributed(db);
    for (const table of DISTRIBUTED_TABLES.toReversed()) {
      if (!distributed.has(table)) continue;
      const began = clock.monotonic();
      await db.transaction().execute(async (tx) => {
        await sql`set local statement_timeout = 0`.execute(tx);
        await sql`set local lock_timeout = ${sql.lit(SWAP_MS)}`.execute(tx);
        await sql`select undistribute_table(${table}::regclass)`.execute(tx);
      });
      onTable({ table, pausedMs: clock.monotonic() - began, isLeftOver: false });
      await dialect.analyze(db, table);
    }
  });
}
