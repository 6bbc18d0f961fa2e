import { type Database, DELETED_SHARE, readMark, writeMark } from "../database/database.js";
import { DAY_MS, WEEK_MS } from "../lib/clock.js";
import {
  bumpRevision,
  endOfShare,
  thinSnapshots as removeSnapshots,
  repositoriesAfter,
} from "../repositories/repositories.js";

const BATCH = 500;

/** Days during which all snapshots are kept; then the last of each day (UTC). */
const ALL_DAYS = 30;
/** Days during which the last of each day is kept; then the last of each week (from Thursday, as in 1970). */
const DAILY_DAYS = 400;

/** Snapshots before these times have been thinned. In ms since 1970. */
interface Borders {
  daily: number;
  weekly: number;
}

const MARK = "retention";

/**
 * Thins snapshots that have passed a border since the last run to the last of each day or week. Snapshots from before the borders that
 * are imported later are not thinned. A border passes at most DELETED_SHARE of all snapshots, or one day or week. Works in short
 * transactions, and may be killed and run again. Returns the number of removed snapshots.
 */
export async function thinSnapshots({
  database,
  now,
  signal,
}: {
  database: Database;
  now: number;
  signal: AbortSignal;
}): Promise<number> {
  const { dialect, write } = database;
  const last = await readBorders(database);
  // Only complete days and weeks, whose last snapshot is final.
  const reach = (from: number, keptDays: number, step: number) => {
    const to = Math.floor((now - keptDays * DAY_MS) / step) * step;
    return to <= from ? from : endOfShare(write, { from, to, step, share: DELETED_SHARE });
  };
  const to: Borders = {
    daily: await reach(last.daily, ALL_DAYS, DAY_MS),
    weekly: await reach(last.weekly, DAILY_DAYS, WEEK_MS),
  };
  if (to.daily === last.daily && to.weekly === last.weekly) return 0;
  let removed = 0;
  for (let after = 0; !signal.aborted; ) {
    const ids = await repositoriesAfter(write, dialect, after, BATCH);
    const end = ids.at(-1);
    if (end === undefined) {
      await dialect.exclusively(write, "catalogue", (tx) => writeMark(tx, MARK, JSON.stringify(to)));
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
  const borders = await readMark(write, MARK);
  return borders === undefined ? { daily: 0, weekly: 0 } : JSON.parse(borders);
}
