import { type Database, deleteOld } from "../database/database.js";
import type { BackgroundWrites } from "../lib/background-writes.js";
import { type Clock, DAY_MS } from "../lib/clock.js";
import { UNOPENED_MS, type WatchlistRow } from "./store.js";

/** The time is written at most this often, so that reading a list is rarely a write. */
const WRITE_INTERVAL_MS = DAY_MS;
/** Lists deleted in one transaction: with their items, at most 5,000 rows. */
const BATCH = 10;

/** Notes when lists without an owner are opened: read or changed by either token, through a page or the API. */
export class Openings {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #writes: BackgroundWrites;
  /** Lists whose time is about to be written. */
  readonly #pending = new Set<number>();

  constructor({ database, clock, writes }: { database: Database; clock: Clock; writes: BackgroundWrites }) {
    this.#database = database;
    this.#clock = clock;
    this.#writes = writes;
  }

  /** Notes that a list is open. Returns when it would expire; undefined for the list of an account, which never does. */
  note({ id, opened_at: openedAt }: WatchlistRow): number | undefined {
    if (openedAt === null) return undefined;
    const now = this.#clock.now();
    if (now - openedAt < WRITE_INTERVAL_MS) return openedAt + UNOPENED_MS;
    if (!this.#pending.has(id)) {
      this.#pending.add(id);
      this.#writes.add(() => this.#write(id, now), "the opening of a watchlist could not be recorded");
    }
    return now + UNOPENED_MS;
  }

  async #write(id: number, now: number): Promise<void> {
    try {
      await this.#database.write
        .updateTable("watchlists")
        .set({ opened_at: now })
        .where("id", "=", id)
        .where("opened_at", "<", now)
        .execute();
    } finally {
      this.#pending.delete(id);
    }
  }
}

/** Deletes lists without an owner that nobody opened for a year, in short transactions. Returns their number. */
export function removeUnopened(
  { write }: Database,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<number> {
  const before = now - UNOPENED_MS;
  return deleteOld(write, { table: "watchlists", column: "opened_at", before, batch: BATCH, signal });
}
