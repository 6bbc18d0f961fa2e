import { sql } from "kysely";
import type { Database, Tx } from "../database/database.js";
import { type Clock, DAY_MS, WEEK_MS } from "../lib/clock.js";
import {
  bumpRevision,
  thinSnapshots as removeSnapshots,
  repositoriesAfter,
} from "../repositories/repositories.js";

/** Number of repositories per transaction. */
const BATCH = 500;

/** How long snapshots are kept, and how many per day or week. */
export interface Retention {
  /** Days during which all are kept; then the last of each day (UTC). */
  allDays: number;
  /** Days during which the last of each day is kept; then the last of each week (from Thursday, as in 1970). */
  dailyDays: number;
}

const DEFAULT_RETENTION: Retention = { allDays: 30, dailyDays: 400 };

/** Snapshots before these times have been thinned. In ms since 1970. */
interface Borders {
  daily: number;
  weekly: number;
}

const MARK = "retention";

/**
 * Thins snapshots that have passed a border since the last run to the last of each day or week. Snapshots from before the borders that
 * are imported later are not thinned. Works in short transactions, and may be killed and run again. Returns the number of removed
 * snapshots.
 */
export async function thinSnapshots(
  { database, clock, signal }: { database: Database; clock: Clock; signal: AbortSignal },
  { allDays, dailyDays }: Retention = DEFAULT_RETENTION,
): Promise<number> {
  const { dialect, write } = database;
  const last = await readBorders(database);
  // Only complete days and weeks, whose last snapshot is final.
  const now = clock.now();
  const to: Borders = {
    daily: Math.floor((now - allDays * DAY_MS) / DAY_MS) * DAY_MS,
    weekly: Math.floor((now - dailyDays * DAY_MS) / WEEK_MS) * WEEK_MS,
  };
  if (to.daily <= last.daily && to.weekly <= last.weekly) return 0;
  let removed = 0;
  for (let after = 0; !signal.aborted; ) {
    const ids = await repositoriesAfter(write, dialect, { after, limit: BATCH });
    const end = ids.at(-1);
    if (end === undefined) {
      await dialect.exclusively(write, "catalogue", (tx) => keepBorders(tx, to));
      return removed;
    }
    removed += await dialect.exclusively(write, "catalogue", async (tx) => {
      const steps = [
        { from: last.daily, to: to.daily, step: DAY_MS },
        { from: last.weekly, to: to.weekly, step: WEEK_MS },
      ];
      const count = await removeSnapshots(tx, dialect, { ids, steps });
      if (count > 0) await bumpRevision(tx);
      return count;
    });
    after = end;
  }
  return removed;
}

async function readBorders({ write }: Database): Promise<Borders> {
  const row = await write.selectFrom("marks").select("value").where("name", "=", MARK).executeTakeFirst();
  return row === undefined ? { daily: 0, weekly: 0 } : JSON.parse(row.value);
}

async function keepBorders(tx: Tx, borders: Borders): Promise<void> {
  await sql`insert into marks (name, value) values (${MARK}, ${JSON.stringify(borders)})
    on conflict (name) do update set value = excluded.value`.execute(tx);
}
