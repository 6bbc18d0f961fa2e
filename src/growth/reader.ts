/** Reads the series of repositories, for everything that shows their past. */
import type { Database } from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";
import { ownTurn } from "../lib/loop-turns.js";
import { Readings, readSnapshotRanges, turnsOf } from "../repositories/repositories.js";
import { seriesOfHistory } from "./gains.js";
import { HISTORY_MS, type History, readHistories } from "./history.js";
import { type Series, STARS, seriesOf, valueAt } from "./series.js";

/** The stored readings of a repository, and its series. */
export interface Measured {
  readings: Readings;
  series: Series;
}

type Reader = Pick<Database, "slowReads" | "dialect">;

const measured = (history: History, isWhole: boolean): Measured => ({
  readings: history.readings,
  series: seriesOfHistory(history, isWhole),
});

/** The whole series of a repository, empty without snapshots. Costs about a millisecond per thousand snapshots. Throws DamagedBlock. */
export async function readSeries({ slowReads, dialect }: Reader, id: number): Promise<Measured> {
  const onDamaged = (damaged: Error) => {
    throw damaged;
  };
  const [history] = await readHistories(slowReads.read, dialect, { ids: [id], onDamaged });
  if (history !== undefined) return measured(history, true);
  const readings = Readings.ofLength(0);
  return { readings, series: seriesOf({ readings, createdAt: null, isHistoryWhole: true }) };
}

/**
 * The series of several repositories, a few at a time: other work runs in between. Absent without snapshots, or if they are damaged.
 * `recentMs`: how long before the newest snapshot of each is enough; the same as growth reads if that is longer. Default: all.
 */
export async function* readSeveralSeries(
  { slowReads: { read }, dialect }: Reader,
  ids: readonly number[],
  recentMs?: number,
): AsyncGenerator<[id: number, measured: Measured]> {
  const isWhole = recentMs === undefined;
  const span = isWhole ? {} : { recentMs: Math.max(recentMs, HISTORY_MS) };
  const ranges = isWhole ? await readSnapshotRanges(read, dialect, ids) : undefined;
  for (const [i, turn] of turnsOf({ ids, span, ...(ranges && { ranges }) }).entries()) {
    if (i > 0) await ownTurn();
    for (const history of await readHistories(read, dialect, { ids: turn, onDamaged: () => {}, ...span }))
      yield [history.repositoryId, measured(history, isWhole)];
  }
}

/** Days whose gains lists show. */
const DAYS = 30;

/** The stars of repositories at the ends of the 30 days up to the newest point of each, and before the first; null if unknown. */
export async function readLastDays(
  database: Reader,
  ids: readonly number[],
): Promise<Map<number, (number | null)[]>> {
  const days = new Map<number, (number | null)[]>();
  for await (const [id, { series }] of readSeveralSeries(database, ids, HISTORY_MS))
    days.set(id, lastDays(series, DAYS));
  return days;
}

/** The stars at the ends of the last days of a series, and before the first; null if unknown. */
export function lastDays(series: Series, days: number): (number | null)[] {
  const { points, unseen } = series;
  const end = points.at(points.length - 1);
  return Array.from({ length: days + 1 }, (_, i) => {
    const at = end - (days - i) * DAY_MS;
    if (unseen !== null && at > unseen.from && at < unseen.to) return null;
    const stars = at < points.at(0) ? null : valueAt(series, at, STARS);
    return stars === null ? null : Math.round(stars);
  });
}
