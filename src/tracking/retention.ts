import { sql } from "kysely";
import { bumpRevision, repositoriesAfter } from "../catalog/catalog.js";
import { type Clock, DAY_MS, HOUR_MS, WEEK_MS } from "../clock.js";
import type { Database, Tx } from "../database/database.js";

/** Repositories thinned in one transaction. */
const BATCH = 2_000;

/** For how long snapshots are kept, and how densely. */
export interface Retention {
  /** All of them for so many days; then the last of each day (UTC). */
  allDays: number;
  /** The last of each day for so many days; then the last of each week (from Thursday on, as 1970 began with one). */
  dailyDays: number;
}

export const DEFAULT_RETENTION: Retention = { allDays: 30, dailyDays: 400 };

/** How far each step of thinning has come, in ms since 1970. */
interface Borders {
  daily: number;
  weekly: number;
}

const MARK = "retention";

/**
 * Thins old snapshots: of those that have become older than a border since the last time, only the last of each day, or
 * week, is kept. What is imported later from before these borders stays as it is. A few repositories in a transaction, so that nobody waits; safe to be killed and run again. Returns how
 * many snapshots were taken away.
 */
export async function thinSnapshots(
  database: Database,
  clock: Clock,
  { allDays, dailyDays }: Retention,
  signal: AbortSignal,
): Promise<number> {
  const { dialect, write } = database;
  const last = await readBorders(database);
  // Whole days and weeks only, so that the last snapshot of each is known.
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

/** Removes what is not the last of its step, between two times, and takes it out of the counts by hour. */
async function thin(
  tx: Tx,
  { after, end }: { after: number; end: number },
  { from, to, step }: { from: number; to: number; step: number },
): Promise<number> {
  if (to <= from) return 0;
  const here = sql`s.repository_id > ${after} and s.repository_id <= ${end} and s.captured_at >= ${from} and s.captured_at < ${to}`;
  const next = sql`(select min(n.captured_at) from snapshots n where n.repository_id = s.repository_id and n.captured_at > s.captured_at)`;
  // Whole numbers divided give whole numbers on both engines.
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
