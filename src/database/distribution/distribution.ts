/**
 * Distribution over several servers with Citus: which tables, moving them there and back, and where they are. Guarantees that a
 * table is either local or distributed, however a command ends. What the statements on these tables may look like is up to the
 * modules that own them: by sets of repositories.
 */
import { sql } from "kysely";
import type { Clock } from "../../lib/clock.js";
import type { Db, Dialect } from "../dialect.js";
import {
  DISTRIBUTED_TABLES,
  type DistributedTable,
  hasLeftOver,
  readCitusVersion,
  readDistributed,
} from "./citus.js";
import { readReadiness } from "./readiness.js";
import { type DistributionStatus, readStatus } from "./status.js";

export { DISTRIBUTED_TABLES } from "./citus.js";
export type { DistributionStatus, NodeStatus } from "./status.js";

/** Why a database cannot be distributed, as messages for the operator. */
export class DistributionRefused extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/** A database that may be distributed. */
interface Distributable {
  dialect: Dialect;
  /** Not limited in time. Needs two connections. */
  write: Db;
}

export interface DistributionOptions {
  clock: Clock;
  /** Receives deviations from what is recommended, before anything is done. */
  onNote?: (note: string) => void;
  /** Receives the tables that will be moved, before the first. */
  onPlan?: (tables: readonly string[]) => void;
  /** Receives each table when it is done. */
  onTable?: (moved: TableMoved) => void;
}

/**
 * Distributes the tables that are still local. Repositories cannot be recorded meanwhile; everything else continues. Throws
 * DistributionRefused, before anything is changed.
 */
export async function distribute(
  { dialect, write }: Distributable,
  {
    clock,
    onNote = () => {},
    onPlan = () => {},
    onTable = () => {},
    shards,
  }: DistributionOptions & { shards?: number | undefined },
): Promise<void> {
  refuseSqlite(dialect);
  const { problems, notes } = await readReadiness(write, clock.now());
  if (problems.length > 0) throw new DistributionRefused(problems);
  for (const note of notes) onNote(note);
  const distributed = await readDistributed(write);
  onPlan(DISTRIBUTED_TABLES.filter((table) => !distributed.has(table)));
  await distributeTables(write, { dialect, clock, onTable, shards });
}

/** Makes all tables local again. Throws DistributionRefused. */
export async function undistribute(
  { dialect, write }: Distributable,
  { clock, onPlan = () => {}, onTable = () => {} }: DistributionOptions,
): Promise<void> {
  refuseSqlite(dialect);
  if ((await readCitusVersion(write)) === undefined)
    throw new DistributionRefused([
      "This database is not distributed: it does not have the extension citus.",
    ]);
  onPlan([...(await readDistributed(write))]);
  try {
    await undistributeTables(write, { dialect, clock, onTable });
  } catch (error) {
    if (!dialect.isInUse(error)) throw error;
    throw new DistributionRefused([
      "Somebody reads a distributed table for long, such as an export or a backup. Wait for its end, then run this again.",
    ]);
  }
}

/** How a database is distributed. Throws DistributionRefused for SQLite. */
export async function readDistribution({
  dialect,
  read,
}: {
  dialect: Dialect;
  read: Db;
}): Promise<DistributionStatus> {
  refuseSqlite(dialect);
  return readStatus(read);
}

function refuseSqlite({ engine }: Dialect): void {
  if (engine === "sqlite")
    throw new DistributionRefused([
      "This database is one SQLite file, which cannot be distributed. Set SIDEREAL_DATABASE_URL to a PostgreSQL server with Citus.",
    ]);
}

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
async function distributeTables(
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
async function undistributeTables(db: Db, { dialect, clock, onTable }: MoveOptions): Promise<void> {
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
