/**
 * Growth: the gains of each repository in each window, their scores, reliability and anomalies, as rows of `rollups`. `update` is
 * the only writer. Growth is computed from snapshots alone, so it does not depend on the order in which they were recorded.
 */
import { sql } from "kysely";
import {
  type BulkRow,
  type Database,
  type Db,
  type Dialect,
  readDocument,
  type Tx,
  writeDocument,
} from "../database/database.js";
import {
  exclusively,
  GROWTH_SWEEP,
  inBatches,
  isStale,
  type Recency,
  readRecency,
  repositoriesAfter,
  type Transact,
  unmark,
  workOff,
} from "../repositories/repositories.js";
import { growthOf } from "./gains.js";
import { type GrowthContext, HISTORY_MS, type History, readHistories } from "./history.js";
import { ROLLUPS, rollupRow } from "./rollups.js";

export {
  ANOMALY_KINDS,
  type Anomaly,
  COUNT_NAMES,
  MEASURED_COUNTS,
  type MeasuredCount,
} from "./anomalies.js";
export { FALLEN_PARTS, isNewestDoubted, isRise, LEAST_COLLAPSED, LEAST_DOUBTED } from "./cleaning.js";
export { isUnsure } from "./confidence.js";
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
  RISING_WINDOWS,
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
export { countAgo, gainSince, shownPoints } from "./gains.js";
export { lastDays, type Measured, readLastDays, readSeries, readSeveralSeries } from "./reader.js";
export { type Gain, readGains } from "./rollups.js";
export { type Explanation, formulaOf } from "./scores.js";
export { FILLED_MS, type Hole, holesOf, type Series } from "./series.js";
export {
  isLeftOut,
  readSeveralStored,
  readStored,
  type StoredPoint,
  type StoredSeries,
} from "./stored.js";
export { type Sum, type SumPoint, sumCounts } from "./sums.js";
export {
  byWindow,
  endOfGrowth,
  readExplanations,
  TREND,
  type Trend,
  TrendReader,
  type TrendValues,
  trendOfRollup,
} from "./trend.js";
export {
  type GainedMeasure,
  gainWords,
  timesUsual,
  timesWords,
  usualWords,
  whySentence,
  whyWords,
} from "./words.js";

/** Repositories updated in one transaction. */
const BATCH = 1_000;

/** How far the last sweep over all repositories came. */
interface Sweep {
  /** The recency that it applies, as JSON. */
  recency: string;
  /** Those that sweeps have applied since the last one that is complete, and its own; undefined: unknown. */
  before: readonly string[] | undefined;
  /** The highest id done; null: it is complete. */
  after: number | null;
}

export interface GrowthOptions {
  /** Called with the number of repositories done so far. */
  onProgress?: (done: number) => void;
  /** How a batch is written; default: as soon as nobody else writes to the catalogue. */
  transact?: Transact;
}

/**
 * Brings growth and scores up to date: of marked repositories, and of all in a sweep after a full day of a provider, which may make
 * those stale that have not changed. Rows that stay the same are not written, and are no change to readers. A repository whose history
 * is damaged has no growth until its next snapshot or the next sweep. May be killed and run again, as each batch is one transaction.
 * Returns the number of repositories computed.
 */
export async function update(
  database: Database,
  context: GrowthContext,
  { onProgress = () => {}, transact = exclusively(database) }: GrowthOptions = {},
): Promise<number> {
  const { dialect } = database;
  const options = { clock: context.clock, size: BATCH, transact, onProgress };
  const swept = await inBatches(database, options, async (tx, limit) => {
    const recency = await readRecency(tx);
    const sweep = await dueSweep(tx, recency);
    if (sweep === undefined) return { ids: [], changed: [] };
    const ids = await repositoriesAfter(tx, dialect, sweep.after ?? 0, limit);
    const before = sweep.before?.map(recencyOf);
    const changed = await updateGrowth(tx, ids, { ...context, dialect, recency, before });
    await unmark(tx, dialect, "rollups", ids);
    const body: Sweep = { ...sweep, after: ids.at(-1) ?? null };
    await writeDocument(tx, GROWTH_SWEEP, { at: context.clock.now(), body });
    return { ids, changed };
  });
  const onMarked = (done: number) => onProgress(swept + done);
  const marked = await workOff(
    database,
    { ...options, kind: "rollups", onProgress: onMarked },
    async (tx, ids) =>
      updateGrowth(tx, ids, { ...context, dialect, recency: await readRecency(tx), before: [] }),
  );
  return swept + marked;
}

/** Whether the next update has something to do. Costs a few small reads. */
export async function isUpdateDue({ write }: Database): Promise<boolean> {
  const { rows } = await sql`select 1 from outdated where kind = 'rollups' limit 1`.execute(write);
  return rows.length > 0 || (await dueSweep(write, await readRecency(write))) !== undefined;
}

/** The sweep to begin or continue. It begins again if recency changes, on which the growth of every repository depends. */
async function dueSweep(
  db: Db,
  { fullDays, since, newestFiles, firstFiles }: Recency,
): Promise<Sweep | undefined> {
  // No snapshots, and no growth.
  if (fullDays.size === 0) return undefined;
  const times = [fullDays, newestFiles, since, firstFiles].map((each) => [...each].toSorted());
  const recency = JSON.stringify(times);
  const sweep = (await readDocument(db, GROWTH_SWEEP))?.body as Sweep | undefined;
  if (sweep?.recency !== recency) {
    const unfinished = sweep?.after === null ? [] : sweep?.before;
    return { recency, before: sweep && unfinished && [...unfinished, sweep.recency], after: 0 };
  }
  return sweep.after === null ? undefined : sweep;
}

/** The part of a stored recency that decides which repositories are stale. */
function recencyOf(stored: string): Pick<Recency, "fullDays" | "newestFiles"> {
  const [fullDays, newestFiles]: [string, number][][] = JSON.parse(stored);
  return { fullDays: new Map(fullDays), newestFiles: new Map(newestFiles) };
}

interface UpdateOptions extends GrowthContext {
  dialect: Dialect;
  recency: Recency;
  /** What recency was before; undefined: unknown, so that any stale repository may have been fresh. */
  before: readonly Pick<Recency, "fullDays" | "newestFiles">[] | undefined;
}

/** Computes the growth of repositories, and writes what differs. Returns those whose growth has changed, or that are stale or fresh again. */
async function updateGrowth(
  tx: Tx,
  ids: readonly number[],
  { dialect, onDamaged, recency, before }: UpdateOptions,
): Promise<number[]> {
  const histories = await readHistories(tx, dialect, { ids, onDamaged, recentMs: HISTORY_MS });
  const rows = histories.flatMap((history) =>
    growthOf(history, recency).map((growth) => rollupRow(history, growth)),
  );
  const changed = await replaceRollups(tx, dialect, { ids, rows });
  const hasTurned = (history: History) => {
    const isStaleNow = isStale(history, recency);
    return before?.some((one) => isStale(history, one) !== isStaleNow) ?? isStaleNow;
  };
  return [...changed, ...histories.filter(hasTurned).map(({ repositoryId }) => repositoryId)];
}

/** Replaces the rollups of repositories by new ones, if they differ. Returns the repositories of those that do. */
async function replaceRollups(
  tx: Tx,
  dialect: Dialect,
  { ids, rows }: { ids: readonly number[]; rows: readonly BulkRow[] },
): Promise<number[]> {
  const here = dialect.among(sql.ref("repository_id"), ids);
  const names = Object.keys(ROLLUPS.columns);
  const stored = await sql<Record<string, unknown>>`select * from rollups where ${here}`.execute(tx);
  const keyOf = (id: unknown, hours: unknown) => `${id} ${hours}`;
  const before = new Map(stored.rows.map((row) => [keyOf(row.repository_id, row.window_hours), row]));
  const changed = rows.filter((row) => {
    const key = keyOf(row[0], row[1]);
    const known = before.get(key);
    before.delete(key);
    return known === undefined || names.some((name, i) => known[name] !== row[i]);
  });
  await dialect.upsert(tx, ROLLUPS, changed);
  const gone = [...before.values()].map(
    (row): BulkRow => [Number(row.repository_id), Number(row.window_hours)],
  );
  if (gone.length > 0) {
    const key = { repository_id: "bigint", window_hours: "bigint" } as const;
    await sql`delete from rollups where ${here}
      and (repository_id, window_hours) in (${dialect.rowsOf(key, gone)})`.execute(tx);
  }
  return [...new Set([...changed, ...gone].map(([id]) => Number(id)))];
}
