import { sql } from "kysely";
import {
  bumpRevision,
  hasMark,
  markOutdated,
  newestSnapshots,
  setMark,
  workOff,
} from "../catalog/catalog.js";
import { type Clock, DAY_MS } from "../clock.js";
import type { BulkRow, Database, Dialect, Tx } from "../database/database.js";
import { PARTIAL, refreshAll } from "./full-refresh.js";
import { growthOf } from "./growth.js";
import { readPasts } from "./past.js";
import { ROLLUP_COLUMNS, rollupRow } from "./rollups.js";
import { runState } from "./runs.js";
import { readScales } from "./scales.js";
import { WINDOW_HOURS, WINDOWS, windowMs } from "./windows.js";

/** Repositories whose growth is made anew in one transaction. */
const BATCH = 5_000;
/** From so many marked repositories on, and this part of all, making everything anew costs less. */
const MANY = 20_000;
const MANY_PART = 5;

export interface RefreshOptions {
  /** Also takes the scales of the scores anew if anything has changed, which is otherwise done once a day. */
  rescale?: boolean;
  onProgress?: (done: number) => void;
}

/**
 * Brings growth and scores up to date. Usually for the repositories that were marked, so that the cost follows what
 * changed; once a day, when a new provider appears, or when much has changed, for all of them, as the scales of the
 * scores are then taken anew. Safe to be killed and run again. Returns how many repositories were looked at.
 */
export async function refreshGrowth(
  database: Database,
  clock: Clock,
  { rescale = false, onProgress = () => {} }: RefreshOptions,
): Promise<number> {
  if (await isFullDue(database, clock, rescale)) return refreshAll(database, clock, onProgress);
  const { dialect, write } = database;
  const done = await workOff(
    database,
    "rollups",
    BATCH,
    (tx, ids) => refreshSome(tx, dialect, clock, ids),
    onProgress,
  );
  // Also when nothing was marked: an earlier run may have ended before it came here.
  await dialect.exclusively(write, "catalogue", async (tx) => {
    const dropped = await dropStale(tx);
    if (dropped.length === 0) return;
    await setMark(tx, PARTIAL);
    await markOutdated(tx, dialect, "places", dropped);
    await bumpRevision(tx);
  });
  return done;
}

async function isFullDue(database: Database, clock: Clock, rescale: boolean): Promise<boolean> {
  const { write } = database;
  const run = await runState(write, clock, "growth");
  if (run !== "none") return run === "abandoned";
  const newest = await newestSnapshots(write);
  const scaled = await write
    .selectFrom("score_scales")
    .select(({ fn }) => ["provider", fn.min("as_of").as("as_of")])
    .groupBy("provider")
    .execute();
  const scaledAt = new Map(scaled.map((row) => [row.provider, Number(row.as_of)]));
  if ([...newest.keys()].some((provider) => !scaledAt.has(provider))) return true;
  // Once a day for all providers together, whenever each of them begins its day.
  const day = (times: Iterable<number>) => Math.floor(Math.max(0, ...times) / DAY_MS);
  if (day(newest.values()) !== day(scaledAt.values())) return true;
  const marked = await sql<{ marked: number }>`select count(*) as marked from (
    select 1 from outdated where kind = 'rollups' limit ${rescale ? 1 : MANY_PART * MANY}) as bounded`.execute(
    write,
  );
  const count = Number(marked.rows[0]?.marked ?? 0);
  if (rescale) return count > 0 || (await hasMark(write, PARTIAL));
  if (count < MANY) return false;
  const all = await sql<{ total: number }>`select coalesce(max(id), 0) as total from repositories`.execute(
    write,
  );
  return count >= Math.min(MANY_PART * MANY, Number(all.rows[0]?.total ?? 0) / MANY_PART);
}

async function refreshSome(tx: Tx, dialect: Dialect, clock: Clock, ids: readonly number[]): Promise<void> {
  const scales = await readScales(tx);
  const newest = await newestSnapshots(tx);
  const rows = (await readPasts(tx, dialect, ids)).flatMap((past): BulkRow[] => {
    const asOf = newest.get(past.provider) ?? 0;
    return growthOf(past, asOf).map((growth) => rollupRow(past, growth, scales, asOf));
  });
  await tx
    .deleteFrom("rollups")
    .where(dialect.among(sql.ref("repository_id"), ids))
    .execute();
  await dialect.insertNew(tx, "rollups", ROLLUP_COLUMNS, ["repository_id", "window_hours"], rows);
  await setMark(tx, PARTIAL);
  await markOutdated(tx, dialect, "places", ids);
  // A run over all may have passed them already.
  if ((await runState(tx, clock, "growth")) !== "none") await markOutdated(tx, dialect, "regrown", ids);
}

/** A window ends at the newest snapshot of the provider; what ended before that window began says nothing about it. */
async function dropStale(tx: Tx): Promise<number[]> {
  const dropped: number[] = [];
  for (const [provider, asOf] of await newestSnapshots(tx)) {
    for (const window of WINDOWS) {
      const rows = await tx
        .deleteFrom("rollups")
        .where("provider", "=", provider)
        .where("window_hours", "=", WINDOW_HOURS[window])
        .where("to_at", "<", asOf - windowMs(window))
        .returning("repository_id")
        .execute();
      for (const row of rows) dropped.push(row.repository_id);
    }
  }
  return dropped;
}
