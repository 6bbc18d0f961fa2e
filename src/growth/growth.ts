/**
 * Growth: the gains of each repository in each window, their scores, reliability and anomalies, as rows of `rollups`. `update` is
 * the only writer. Growth is computed from snapshots alone, so it does not depend on the order in which they were recorded.
 */
import { sql } from "kysely";
import type { BulkRow, Database, Dialect, Tx } from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import { hasMark, markOutdated, readRecency, setMark, workOff } from "../repositories/repositories.js";
import { growthOf } from "./compare.js";
import { type GrowthContext, readHistories } from "./history.js";
import { PARTIAL, rebuildGrowth } from "./rebuild.js";
import { rebuildState } from "./rebuild-lease.js";
import { ROLLUPS, rollupRow } from "./rollups.js";

export {
  ANOMALY_KINDS,
  type Anomaly,
  COUNT_NAMES,
  MEASURED_COUNTS,
  type MeasuredCount,
} from "./anomalies.js";
export {
  GROWTH_ORDER_COLUMNS,
  GROWTH_ORDERS,
  type GrowthOrder,
  growthFrom,
  MEASURES,
  type Measure,
  perWindow,
  RANKING_DEFINITIONS,
  RANKINGS,
  type Ranking,
  SCORE_LABELS,
  SCORE_NAMES,
  SCORE_VERSION,
  type ScoreName,
  WINDOW_HOURS,
  WINDOW_LABELS,
  WINDOW_SHORT_LABELS,
  WINDOWS,
  type Window,
  windowMs,
  windowOfHours,
} from "./definitions.js";
export { FALLEN_PARTS, LEAST_COLLAPSED, LEAST_DOUBTED } from "./doubt.js";
export { type Explanation, formulaOf, type Scores } from "./scores.js";
export {
  byWindow,
  endOfGrowth,
  readExplanations,
  TREND_COLUMNS,
  type Trend,
  type TrendPart,
  TrendReader,
  type TrendValues,
  trendsOfRollups,
} from "./trend.js";
export { type CountedMeasure, gainWords, usualWords, whySentence, whyWords } from "./words.js";

/** Repositories updated in one transaction. */
const BATCH = 1_000;
/** From this many changed repositories, if they are also this share (one in …) of all, a rebuild costs less. */
const MANY = 20_000;
const MANY_PART = 5;

export interface GrowthOptions {
  /** Rebuilds everything if anything has changed; otherwise that happens once a day. */
  all?: boolean;
  /** Called with the number of repositories done so far. */
  onProgress?: (done: number) => void;
}

/**
 * Brings growth and scores up to date. The cost follows the number of changed repositories, except after each full day of
 * a provider, or when many have changed: then everything is rebuilt. A repository whose
 * history is damaged has no growth; it is tried again after its next snapshot and with each rebuild. May be killed and run
 * again. Returns the number of repositories processed.
 */
export async function update(
  database: Database,
  context: GrowthContext,
  { all = false, onProgress = () => {} }: GrowthOptions = {},
): Promise<number> {
  if (await isRebuildDue(database, context.clock, all)) return rebuildGrowth(database, context, onProgress);
  const { dialect } = database;
  return workOff(database, { kind: "rollups", clock: context.clock, size: BATCH, onProgress }, (tx, ids) =>
    updateChanged(tx, ids, { ...context, dialect }),
  );
}

/** Whether the next update has something to do, such as the rebuild that an upgrade asks for. Costs a few small reads. */
export async function isUpdateDue(database: Database, clock: Clock): Promise<boolean> {
  const marked = await database.write
    .selectFrom("outdated")
    .select("repository_id")
    .where("kind", "=", "rollups")
    .limit(1)
    .execute();
  return marked.length > 0 || (await isRebuildDue(database, clock, false));
}

async function isRebuildDue(database: Database, clock: Clock, all: boolean): Promise<boolean> {
  const { write } = database;
  const state = await rebuildState(write, clock);
  if (state !== "none") return state === "abandoned";
  const { fullDays } = await readRecency(write);
  const rebuilds = await write.selectFrom("growth_rebuilds").selectAll().execute();
  const rebuiltAt = new Map(rebuilds.map((row) => [row.provider, row.as_of]));
  // A full day may make repositories stale that have not changed.
  if ([...fullDays].some(([provider, day]) => rebuiltAt.get(provider) !== day)) return true;
  const kinds = all ? ["rollups", "rollups_damaged"] : ["rollups"];
  const marked = await sql<{ marked: number }>`select count(*) as marked from (
    select 1 from outdated where kind in (${sql.join(kinds)}) limit ${all ? 1 : MANY_PART * MANY}) as bounded`.execute(
    write,
  );
  const count = Number(marked.rows[0]?.marked ?? 0);
  if (all) return count > 0 || (await hasMark(write, PARTIAL));
  if (count < MANY) return false;
  const total = await sql<{ total: number }>`select coalesce(max(id), 0) as total from repositories`.execute(
    write,
  );
  return count >= Math.min(MANY_PART * MANY, Number(total.rows[0]?.total ?? 0) / MANY_PART);
}

async function updateChanged(
  tx: Tx,
  ids: readonly number[],
  { dialect, clock, onDamaged }: GrowthContext & { dialect: Dialect },
): Promise<void> {
  const recency = await readRecency(tx);
  const { histories, damaged } = await readHistories(tx, dialect, { ids, onDamaged });
  const rows = histories.flatMap((history): BulkRow[] =>
    growthOf(history, recency).map((growth) => rollupRow(history, growth)),
  );
  const here = dialect.among(sql.ref("repository_id"), ids);
  await replaceRollups(tx, dialect, { ids, rows });
  await tx.deleteFrom("outdated").where("kind", "=", "rollups_damaged").where(here).execute();
  await setMark(tx, PARTIAL);
  // A rebuild in progress may already have passed these repositories.
  const isRebuilding = (await rebuildState(tx, clock)) !== "none";
  await markOutdated(tx, dialect, {
    rollups_damaged: damaged,
    rollups_in_rebuild: isRebuilding ? ids : [],
  });
}

/** Replaces the rollups of repositories by new ones. */
async function replaceRollups(
  tx: Tx,
  dialect: Dialect,
  { ids, rows }: { ids: readonly number[]; rows: readonly BulkRow[] },
): Promise<void> {
  await dialect.upsert(tx, ROLLUPS, rows);
  const kept = new Set(rows.map(([id, hours]) => `${id} ${hours}`));
  const stored = await tx
    .selectFrom("rollups")
    .select(["repository_id", "window_hours"])
    .where(dialect.among(sql.ref("repository_id"), ids))
    .execute();
  const gone = stored.filter((row) => !kept.has(`${row.repository_id} ${row.window_hours}`));
  if (gone.length === 0) return;
  const keys = gone.map((row): BulkRow => [row.repository_id, row.window_hours]);
  const key = { repository_id: "bigint", window_hours: "bigint" } as const;
  await sql`delete from rollups where ${dialect.among(sql.ref("repository_id"), ids)}
    and (repository_id, window_hours) in (${dialect.rowsOf(key, keys)})`.execute(tx);
}
