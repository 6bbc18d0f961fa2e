/**
 * Distribution over several servers with Citus: which tables, how they get there and back, and how they lie. Guarantees that a
 * table is either local or distributed, however a command ends. What the statements on these tables may look like is up to the
 * modules that own them: by sets of repositories.
 */
import type { Clock } from "../../clock.js";
import type { Db, Dialect } from "../dialect.js";
import { readCitusVersion } from "./citus.js";
import { distributeTables, type TableMoved, undistributeTables } from "./distribute.js";
import { readReadiness } from "./readiness.js";
import { type DistributionStatus, readStatus } from "./status.js";
import { DISTRIBUTED_TABLES, readDistributed } from "./tables.js";

export type { TableMoved } from "./distribute.js";
export type { DistributionStatus, NodeStatus } from "./status.js";
export { DISTRIBUTED_TABLES } from "./tables.js";

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
  /** Receives what is not as recommended, before anything is done. */
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
