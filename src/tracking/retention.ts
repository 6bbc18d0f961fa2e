import { sql } from "kysely";
import { bumpRevision, repositoriesAfter } from "../catalog/catalog.js";
import { type Clock, DAY_MS, HOUR_MS, WEEK_MS } from "../clock.js";
import type { Database, Tx } from "../database/database.js";

/** Number of repositories per transaction. */
const BATCH = 2_000;

/** How long snapshots are kept, and how many per day or week. */
export interface Retention {
  /** Days for which all are kept; after that the last of each day (UTC). */
  allDays: number;
  /** Days for which the last of each day is kept; after that the last of each week (from Thursday, as in 1970). */
  dailyDays: number;
}

const DEFAULT_RETENTION: Retention = { allDays: 30, dailyDays: 400 };

/** Snapshots before these times are thinned already, in ms since 1970. */
interface Borders {
  daily: number;
  weekly: number;
}

const MARK = "retention";

/**
 * Thins snapshots that have passed a border since the last run: only the last of each day or week is kept. Snapshots imported
 * later from before the borders are not thinned. Works in short transactions; can be killed and run again. Returns the number of
 * removed snapshots.
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
    const end = (await repositoriesAfter(write, after, BATCH)).at(-1);
    if (end === undefined) {
      await dialect.exclusively(write, "catalogue", (tx) => keepBorders(tx, to));
      return removed;
    }
    const range = { after, end };
    removed += await dialect.exclusively(write, "catalogue", async (tx) => {
      const daily = await thin(tx, range, { from: last.daily, to: to.daily, step: DAY_MS });
      const weekly = await thin(tx, range, { from: last.weekly, to: to.weekly, step: WEEK_MS });
      if (daily + weekly > 0) await bumpRevision(tx);
      return daily + weekly;
    });
    after = end;
  }
  return removed;
}

/** Removes all but the last snapshot of each step between two times, and subtracts them from the hourly counts. */
async function thin(
  tx: Tx,
  { after, end }: { after: number; end: number },
  { from, to, step }: { from: number; to: number; step: number },
): Promise<number> {
  if (to <= from) return 0;
  const here = sql`s.repository_id > ${after} and s.repository_id <= ${end} and s.captured_at >= ${from} and s.captured_at < ${to}`;
  const next = sql`(select min(n.captured_at) from snapshots n where n.repository_id = s.repository_id and n.captured_at > s.captured_at)`;
  // Integer division on both engines.
  const whole = sql.lit(step);
  const { rows } = await sql<{ repository_id: number; captured_at: number; provider: string }>`
    select s.repository_id, s.captured_at, r.provider from snapshots s join repositories r on r.id = s.repository_id
    where ${here} and ${next} / ${whole} = s.captured_at / ${whole}`.execute(tx);
  if (rows.length === 0) return 0;
  await sql`delete from snapshots as s where ${here} and ${next} / ${whole} = s.captured_at / ${whole}`.execute(
    tx,
  );
  const counts = new Map<string, { provider: string; hour: number; gone: number }>();
  for (const { provider, captured_at } of rows) {
    const hour = Math.floor(captured_at / HOUR_MS);
    const known = counts.get(`${provider} ${hour}`);
    if (known === undefined) counts.set(`${provider} ${hour}`, { provider, hour, gone: 1 });
    else known.gone++;
  }
  for (const { provider, hour, gone } of counts.values()) {
    await sql`update snapshot_hours set snapshots = snapshots - ${gone}
      where provider = ${provider} and hour = ${hour}`.execute(tx);
  }
  return rows.length;
}

async function readBorders({ write }: Database): Promise<Borders> {
  const row = await write.selectFrom("marks").select("value").where("name", "=", MARK).executeTakeFirst();
  return row === undefined ? { daily: 0, weekly: 0 } : JSON.parse(row.value);
}

async function keepBorders(tx: Tx, borders: Borders): Promise<void> {
  await sql`insert into marks (name, value) values (${MARK}, ${JSON.stringify(borders)})
    on conflict (name) do update set value = excluded.value`.execute(tx);
}
