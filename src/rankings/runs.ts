import { hostname } from "node:os";
import { sql } from "kysely";
import type { Clock } from "../clock.js";
import type { Database, Db, Tx } from "../database/database.js";

/** What is made anew for all repositories in many transactions, by one process at a time; the row of `runs`. */
const RUNS = { growth: 1, places: 2 } as const;
export type RunName = keyof typeof RUNS;

/** A run of another machine that has given no sign for so long is taken for dead, and one of this machine for hung. */
const SILENT_MS = 5 * 60_000;
const HUNG_MS = 60 * 60_000;

/** Thrown where another process has taken over; it does the work. */
export class Superseded extends Error {}

/** Work on everything, in steps of one transaction each. */
export interface Run {
  /** Grows with each run of this name. */
  generation: number;
  /** A transaction of this run; throws Superseded when it is no longer the one. */
  step<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** The last step. */
  end(work: (tx: Tx) => Promise<void>): Promise<void>;
}

/** Whether a run is under way: by nobody, by a process that lives, or begun by one that is gone. */
export async function runState(
  db: Db,
  clock: Clock,
  name: RunName,
): Promise<"none" | "running" | "abandoned"> {
  const { owner, seen_at } = await db
    .selectFrom("runs")
    .selectAll()
    .where("id", "=", RUNS[name])
    .executeTakeFirstOrThrow();
  if (owner === null) return "none";
  const [host, pid] = owner.split(" ");
  const isHere = host === hostname();
  const isSilent = Math.abs(clock.now() - seen_at) > (isHere ? HUNG_MS : SILENT_MS);
  return isSilent || (isHere && isDead(pid)) ? "abandoned" : "running";
}

/** Whether a process of this machine is no longer there. */
function isDead(pid: string | undefined): boolean {
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

/**
 * Runs `work`, unless a living process is at it; then returns undefined, as it does when another one takes over. What was
 * abandoned is begun anew. `prepare` is part of the transaction that begins the run.
 */
export async function runAlone<T>(
  database: Database,
  clock: Clock,
  name: RunName,
  prepare: (tx: Tx, generation: number) => Promise<void>,
  work: (run: Run) => Promise<T>,
): Promise<T | undefined> {
  const { dialect, write } = database;
  const begun = await dialect.exclusively(write, "catalogue", async (tx) => {
    if ((await runState(tx, clock, name)) === "running") return undefined;
    const { rows } = await sql<{ generation: number }>`update runs set generation = generation + 1
      where id = ${RUNS[name]} returning generation`.execute(tx);
    const generation = rows[0]?.generation ?? 0;
    const owner = `${hostname()} ${process.pid} ${generation}`;
    await tx.updateTable("runs").set({ owner, seen_at: clock.now() }).where("id", "=", RUNS[name]).execute();
    await prepare(tx, generation);
    return { generation, owner };
  });
  if (begun === undefined) return undefined;
  const { generation, owner } = begun;
  const step = <R>(inside: (tx: Tx) => Promise<R>): Promise<R> =>
    dialect.exclusively(write, "catalogue", async (tx) => {
      const { numUpdatedRows } = await tx
        .updateTable("runs")
        .set({ seen_at: clock.now() })
        .where("owner", "=", owner)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw new Superseded();
      const result = await inside(tx);
      // A step can take long; its end is a sign too.
      await tx.updateTable("runs").set({ seen_at: clock.now() }).where("owner", "=", owner).execute();
      return result;
    });
  const end = (inside: (tx: Tx) => Promise<void>): Promise<void> =>
    step(async (tx) => {
      await inside(tx);
      await tx.updateTable("runs").set({ owner: null }).where("owner", "=", owner).execute();
    });
  try {
    return await work({ generation, step, end });
  } catch (error) {
    if (error instanceof Superseded) return undefined;
    await write.updateTable("runs").set({ seen_at: 0 }).where("owner", "=", owner).execute();
    throw error;
  }
}
