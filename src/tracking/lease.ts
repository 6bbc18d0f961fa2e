/**
 * The lease of the active worker. One process at a time tracks; others stand by, and one of them takes over within 30 s of the last
 * renewal. The store decides: it holds one row with the holder and the end of its lease, by the clock of the database server, or by
 * that of the machine on SQLite. Everything that tracking records is written by `write`, whose transaction checks the holder and locks
 * the row. So a process that was suspended and lost the lease writes nothing, whatever it believes.
 */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { sql } from "kysely";
import type { Database, Tx } from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";

/** How long a lease lasts, and how often it is renewed and looked at: a killed holder is replaced after 25 s at most. */
const LEASE_MS = 20_000;
const RENEW_EVERY_MS = 5_000;

/** Thrown by `write`: another process is the active worker. */
export class LeaseLost extends Error {
  constructor() {
    super("another process is the active worker now");
    this.name = "LeaseLost";
  }
}

export class WorkerLease {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  #isUnreachable = false;
  readonly #holder = `${hostname()} ${process.pid} ${randomUUID()}`;

  constructor(database: Database, { clock, log }: { clock: Clock; log: Logger }) {
    this.#database = database;
    this.#clock = clock;
    this.#log = log;
  }

  /** Takes the lease, or renews it. False: another process holds it. */
  async take(): Promise<boolean> {
    const { dialect, write } = this.#database;
    return write.transaction().execute(async (tx) => {
      const now = Math.floor((await dialect.serverTime(tx))?.ms ?? this.#clock.now());
      // An end further away was written before the clock was set back.
      const { rows } = await sql`insert into worker_lease (id, holder, ends_at)
        values (1, ${this.#holder}, ${now + LEASE_MS})
        on conflict (id) do update set holder = excluded.holder, ends_at = excluded.ends_at
        where worker_lease.holder = ${this.#holder} or worker_lease.ends_at not between ${now + 1} and ${now + LEASE_MS}
        returning 1`.execute(tx);
      return rows.length > 0;
    });
  }

  async release(): Promise<void> {
    await this.#database.write.deleteFrom("worker_lease").where("holder", "=", this.#holder).execute();
  }

  /** Runs `work` in a transaction that has the catalogue for itself. Throws LeaseLost if another process has taken the lease. */
  write<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { dialect, write } = this.#database;
    return dialect.exclusively(write, "catalogue", async (tx) => {
      const { rows } =
        await sql`select 1 from worker_lease where holder = ${this.#holder} ${dialect.lockRow}`.execute(tx);
      if (rows.length === 0) throw new LeaseLost();
      return work(tx);
    });
  }

  /**
   * Stands by until the lease can be taken, then runs `work` while it is held; again if it was lost. `work` must end soon after its
   * signal is aborted. Resolves when `work` has ended by itself, or after `stopping`. Passes on its errors.
   */
  async whileHeld(stopping: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    let isStandingBy = false;
    while (!stopping.aborted) {
      if (await this.#tryTake()) {
        if (isStandingBy) this.#log.info("this worker takes over");
        isStandingBy = false;
        if (!(await this.hold(stopping, work))) return;
        this.#log.warn("another process has become the active worker; this one waits");
      } else if (!isStandingBy) {
        this.#log.info("another process is the active worker; this one waits");
        isStandingBy = true;
      }
      await this.#clock.sleep(RENEW_EVERY_MS, stopping);
    }
  }

  /** Runs `work` with a lease that was taken: renews it, and releases it at the end. Returns whether it was lost. */
  async hold(stopping: AbortSignal, work: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
    const lost = new AbortController();
    const done = new AbortController();
    const renewing = this.#renew(AbortSignal.any([stopping, done.signal]), lost);
    try {
      await work(AbortSignal.any([stopping, lost.signal]));
    } finally {
      done.abort();
      await renewing;
      // Otherwise it ends by itself.
      if (!lost.signal.aborted) await this.release().catch(() => {});
    }
    return lost.signal.aborted;
  }

  async #renew(ending: AbortSignal, lost: AbortController): Promise<void> {
    for (;;) {
      await this.#clock.sleep(RENEW_EVERY_MS, ending);
      if (ending.aborted) return;
      if (!(await this.#tryTake(true))) return lost.abort();
    }
  }

  /** `otherwise`: the result while the database cannot be reached. Nobody can take the lease or write then. */
  async #tryTake(otherwise = false): Promise<boolean> {
    try {
      const isHeld = await this.take();
      this.#isUnreachable = false;
      return isHeld;
    } catch (error) {
      if (!this.#isUnreachable)
        this.#log.warn({ err: error }, "the lease of the active worker cannot be read; trying again");
      this.#isUnreachable = true;
      return otherwise;
    }
  }
}
