import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { sql } from "kysely";
import type { BatchSize, Database, Db, Tx } from "../database/database.js";
import type { Clock } from "../lib/clock.js";

/** Rebuilds that span many transactions and that one process at a time may do, with their row in `runs`. */
const RUNS = { growth: 1 } as const;
export type RunName = keyof typeof RUNS;

/**
 * A run is stale after this long without a step. Only the time between two steps counts, as nobody can take over during
 * one: reading a batch takes seconds at most.
 */
const STALE_MS = 2 * 60_000;

/** Distinguishes this process from an earlier one with the same host name and process id, as in a restarted container. */
const INSTANCE = randomUUID();

/** Thrown in a run that another process has taken over. */
class Superseded extends Error {}

/** A rebuild, in steps of one transaction each. */
export interface Run {
  /** Grows with each run of this name. */
  generation: number;
  /** Does `work` in a transaction of this run. Throws Superseded if another process has taken over. */
  step<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Works through rows in order, in steps whose size `size` adapts. */
  stepThrough<R>(
    rows: Iterable<R>,
    size: BatchSize,
    work: (tx: Tx, part: readonly R[]) => Promise<void>,
  ): Promise<void>;
  /** The last step; ends the run. */
  end(work: (tx: Tx) => Promise<void>): Promise<void>;
}

/** Whether a run of this name is in progress, and if so whether its process is still working on it. */
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
  return isGone(owner) || Math.abs(clock.now() - seen_at) > STALE_MS ? "abandoned" : "running";
}

/** Whether the owner was a process of this machine that has ended; false where that cannot be known. */
function isGone(owner: string): boolean {
  const [host, pid, instance] = owner.split(" ");
  if (host !== hostname() || instance === INSTANCE) return false;
  // The id belongs to this process now, so its predecessor has ended.
  if (Number(pid) === process.pid) return true;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "ESRCH";
  }
}

/**
 * Runs `work` unless another process is doing so; an abandoned run starts over. `prepare` runs in the transaction that
 * starts the run. Returns undefined if another process is running or takes over.
 */
export async function runExclusively<T>(
  database: Database,
  clock: Clock,
  {
    name,
    prepare,
    work,
  }: {
    name: RunName;
    prepare: (tx: Tx, generation: number) => Promise<void>;
    work: (run: Run) => Promise<T>;
  },
): Promise<T | undefined> {
  const { dialect, write } = database;
  const started = await dialect.exclusively(write, "catalogue", async (tx) => {
    if ((await runState(tx, clock, name)) === "running") return undefined;
    const { rows } = await sql<{ generation: number }>`update runs set generation = generation + 1
      where id = ${RUNS[name]} returning generation`.execute(tx);
    const generation = rows[0]?.generation ?? 0;
    const owner = `${hostname()} ${process.pid} ${INSTANCE} ${generation}`;
    await tx.updateTable("runs").set({ owner, seen_at: clock.now() }).where("id", "=", RUNS[name]).execute();
    await prepare(tx, generation);
    return { generation, owner };
  });
  if (started === undefined) return undefined;
  const { generation, owner } = started;
  const step = <R>(inside: (tx: Tx) => Promise<R>): Promise<R> =>
    dialect.exclusively(write, "catalogue", async (tx) => {
      const { numUpdatedRows } = await tx
        .updateTable("runs")
        .set({ seen_at: clock.now() })
        .where("owner", "=", owner)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw new Superseded();
      const result = await inside(tx);
      // A step may take minutes; the run goes stale only after its end.
      await tx.updateTable("runs").set({ seen_at: clock.now() }).where("owner", "=", owner).execute();
      return result;
    });
  const stepThrough: Run["stepThrough"] = async (all, size, inside) => {
    const rest = Iterator.from(all);
    for (;;) {
      const part: Parameters<typeof inside>[1][number][] = [];
      for (let next = rest.next(); next.done !== true; next = rest.next()) {
        part.push(next.value);
        if (part.length >= size.rows) break;
      }
      if (part.length === 0) return;
      await step(async (tx) => {
        const began = clock.monotonic();
        await inside(tx, part);
        size.note(part.length, clock.monotonic() - began);
      });
    }
  };
  const end = (inside: (tx: Tx) => Promise<void>): Promise<void> =>
    step(async (tx) => {
      await inside(tx);
      await tx.updateTable("runs").set({ owner: null }).where("owner", "=", owner).execute();
    });
  try {
    return await work({ generation, step, stepThrough, end });
  } catch (error) {
    if (error instanceof Superseded) return undefined;
    await write.updateTable("runs").set({ seen_at: 0 }).where("owner", "=", owner).execute();
    throw error;
  }
}
