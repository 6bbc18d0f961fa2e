/** The right to rebuild all growth, which takes many transactions: one process at a time holds it, until the rebuild ends. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { sql } from "kysely";
import type { Database, Db, Tx } from "../database/database.js";
import type { Clock } from "../lib/clock.js";

/** The row of `runs`. */
const ID = 1;

/**
 * A rebuild is abandoned after this long without a step. Only the time between two steps counts, as nobody can take over during
 * one: reading a batch takes seconds at most.
 */
const STALE_MS = 2 * 60_000;

/** Distinguishes this process from an earlier one with the same host name and process id, as in a restarted container. */
const INSTANCE = randomUUID();

/** Thrown in a rebuild that another process has taken over. */
class Superseded extends Error {}

export class RebuildLease {
  /** Grows with each rebuild. */
  readonly generation: number;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #owner: string;

  constructor(
    database: Database,
    clock: Clock,
    { generation, owner }: { generation: number; owner: string },
  ) {
    this.#database = database;
    this.#clock = clock;
    this.generation = generation;
    this.#owner = owner;
  }

  /** Does `work` in a transaction of this rebuild. Throws Superseded if another process has taken over. */
  step<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { dialect, write } = this.#database;
    return dialect.exclusively(write, "catalogue", async (tx) => {
      if (!(await this.#renew(tx))) throw new Superseded();
      const result = await work(tx);
      // A step may take minutes; the rebuild goes stale only after its end.
      await this.#renew(tx);
      return result;
    });
  }

  /** The last step; ends the rebuild. */
  end(work: (tx: Tx) => Promise<void>): Promise<void> {
    return this.step(async (tx) => {
      await work(tx);
      await tx.updateTable("runs").set({ owner: null }).where("owner", "=", this.#owner).execute();
    });
  }

  /** Leaves the rebuild to the next process, without a wait. */
  async abandon(): Promise<void> {
    const { write } = this.#database;
    await write.updateTable("runs").set({ seen_at: 0 }).where("owner", "=", this.#owner).execute();
  }

  async #renew(tx: Tx): Promise<boolean> {
    const { numUpdatedRows } = await tx
      .updateTable("runs")
      .set({ seen_at: this.#clock.now() })
      .where("owner", "=", this.#owner)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }
}

/** Whether a rebuild is in progress, and if so whether its process is still working on it. */
export async function rebuildState(db: Db, clock: Clock): Promise<"none" | "running" | "abandoned"> {
  const { owner, seen_at } = await db
    .selectFrom("runs")
    .selectAll()
    .where("id", "=", ID)
    .executeTakeFirstOrThrow();
  if (owner === null) return "none";
  return isGone(owner) || Math.abs(clock.now() - seen_at) > STALE_MS ? "abandoned" : "running";
}

/** Whether the owner was a process of this machine that has ended; false if that cannot be known. */
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

/** Rebuilds unless another process is doing so; an abandoned rebuild starts over. Undefined if another process is or becomes the one. */
export async function rebuildAlone<T>(
  database: Database,
  clock: Clock,
  rebuild: (lease: RebuildLease) => Promise<T>,
): Promise<T | undefined> {
  const { dialect, write } = database;
  const lease = await dialect.exclusively(write, "catalogue", async (tx) => {
    if ((await rebuildState(tx, clock)) === "running") return undefined;
    const { rows } = await sql<{ generation: number }>`update runs set generation = generation + 1
      where id = ${ID} returning generation`.execute(tx);
    const generation = rows[0]?.generation ?? 0;
    const owner = `${hostname()} ${process.pid} ${INSTANCE} ${generation}`;
    await tx.updateTable("runs").set({ owner, seen_at: clock.now() }).where("id", "=", ID).execute();
    return new RebuildLease(database, clock, { generation, owner });
  });
  try {
    return lease && (await rebuild(lease));
  } catch (error) {
    if (error instanceof Superseded) return undefined;
    await lease?.abandon();
    throw error;
  }
}
