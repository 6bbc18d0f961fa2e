import { sql } from "kysely";
import type { Db, Dialect } from "../database/database.js";
import { type Clock, DAY_MS } from "../lib/clock.js";
import {
  type Availability,
  type DamagedBlock,
  joined,
  MAX_WINDOWS,
  type Readings,
  readContinuing,
  readFirst,
  readHistoryStates,
  readReadings,
} from "../repositories/repositories.js";
import { mayBeBack, RETURN_DAYS } from "./cleaning.js";
import { windowMs } from "./definitions.js";

/** How long before the newest snapshot others are read: the furthest that may be compared. */
export const HISTORY_MS = MAX_WINDOWS * windowMs("30d");

/** A repository of unknown creation is new if it seems to be no older than this. */
export const NEW_MS = 180 * DAY_MS;

/** What computing growth needs beside the database. */
export interface GrowthContext {
  clock: Clock;
  /** Gets what keeps a repository from having growth. */
  onDamaged: (damaged: DamagedBlock) => void;
}

/** The recent snapshots of a repository, and the facts its scores depend on. */
export interface History {
  repositoryId: number;
  provider: string;
  availability: Availability;
  createdAt: number | null;
  pushedAt: number | null;
  discoveredAt: number;
  /** Whether it continues another name, or may do so. */
  isContinued: boolean;
  importSource: string | null;
  refreshInterval: number | null;
  nextRefreshAt: number | null;
  countedAt: number | null;
  /**
   * The recent ones, and the first of all if they begin with a star history, which is fitted as a whole; all, if it may be new by its
   * first days here, or back after a fall before the recent ones.
   */
  readings: Readings;
  isHistoryWhole: boolean;
}

interface HistoriesOptions extends Pick<GrowthContext, "onDamaged"> {
  ids: readonly number[];
  /** How long before the newest snapshot of each; undefined: all. */
  recentMs?: number | undefined;
}

/** The recent histories of those of the repositories that have readable snapshots and are not hidden, by ascending id. */
export async function readHistories(
  db: Db,
  dialect: Dialect,
  { ids, onDamaged, recentMs }: HistoriesOptions,
): Promise<History[]> {
  const rows = await db
    .selectFrom("repositories")
    .select(["id", "provider", "availability", "created_at", "pushed_at", "discovered_at"])
    .select(["import_source", "refresh_interval", "next_refresh_at", "counted_at"])
    .where(dialect.among(sql.ref("id"), ids))
    .where("availability", "<>", "HIDDEN")
    .orderBy("id")
    .execute();
  const isWhole = recentMs === undefined;
  const found = await readReadings(db, dialect, { ids, span: isWhole ? {} : { recentMs }, onDamaged });
  if (!isWhole) await addBeginnings(db, dialect, found);
  const withOlder = isWhole ? [] : rows.filter((row) => needsOlder(row, found.get(row.id)));
  // Their recent readings, if others are damaged.
  const all = { ids: withOlder.map(({ id }) => id), onDamaged: () => {} };
  for (const [id, readings] of await readReadings(db, dialect, all)) found.set(id, readings);
  const states = await readHistoryStates(db, dialect, withHistory(found));
  const continuing = await readContinuing(db, dialect, ids);
  return rows.flatMap((row): History[] => {
    const readings = found.get(row.id);
    if (readings === undefined) return [];
    return [
      {
        repositoryId: row.id,
        provider: row.provider,
        availability: row.availability as Availability,
        createdAt: row.created_at,
        pushedAt: row.pushed_at,
        discoveredAt: row.discovered_at,
        isContinued: continuing.has(row.id),
        importSource: row.import_source,
        refreshInterval: row.refresh_interval,
        nextRefreshAt: row.next_refresh_at,
        countedAt: row.counted_at,
        readings,
        // Of what is not tracked, an import brought all that there is.
        isHistoryWhole: (states.get(row.id)?.readTo ?? null) === null,
      },
    ];
  });
}

/** Whether it may be new by its first days here, as its creation is unknown, or back after a fall before its recent readings. */
function needsOlder(
  { created_at, discovered_at }: { created_at: number | null; discovered_at: number },
  recent: Readings | undefined,
): boolean {
  if (recent === undefined) return false;
  const seenFor = recent.at(recent.length - 1) - discovered_at;
  return seenFor > HISTORY_MS && ((created_at === null && seenFor <= NEW_MS) || isPerhapsBack(recent));
}

/** The repositories whose readings begin with a star history. */
const withHistory = (found: ReadonlyMap<number, Readings>): number[] =>
  [...found].filter(([, readings]) => readings.isRetained(0)).map(([id]) => id);

/** Adds the first reading of all to recent ones that begin with a star history. */
async function addBeginnings(db: Db, dialect: Dialect, found: Map<number, Readings>): Promise<void> {
  for (const [id, first] of await readFirst(db, dialect, withHistory(found))) {
    const recent = found.get(id);
    if (recent !== undefined && first.at(0) < recent.at(0)) found.set(id, joined([first, recent]));
  }
}

/** Whether stars rise within days as they do when a fall is undone, which may be older than these readings. */
export function isPerhapsBack(readings: Readings): boolean {
  for (let [i, from] = [1, 0]; i < readings.length; i++) {
    while (readings.at(from + 1) < readings.at(i) - RETURN_DAYS * DAY_MS) from++;
    const before = readings.stars(from);
    if (mayBeBack(before, readings.stars(i) - before)) return true;
  }
  return false;
}
