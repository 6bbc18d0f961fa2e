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
import { MIN_MOVEMENT, REVERTED, type Reading } from "./anomalies.js";
import { FALLEN_PARTS, readingAt } from "./cleaning.js";
import { windowMs } from "./definitions.js";

/** How long before the newest snapshot others are read: the furthest that may be compared. */
export const HISTORY_MS = MAX_WINDOWS * windowMs("30d");

/** A repository of unknown creation is new if it seems to be no older than this. */
export const NEW_MS = 180 * DAY_MS;

/** The least part by which stars rise that are back after a fall in doubt. */
const LEAP_PART = REVERTED * (1 / FALLEN_PARTS.stars - 1);

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
   * first days here.
   */
  readings: Readings;
  isHistoryWhole: boolean;
  /** The total with most stars before these, if one of them leaps and so may be back at its level. */
  peak: Reading | null;
}

interface HistoriesOptions extends Pick<GrowthContext, "onDamaged"> {
  ids: readonly number[];
  /** How long before the newest snapshot of each; undefined: all. */
  recentMs?: number | undefined;
}

/** The recent histories of those of the repositories that have readable snapshots, by ascending id. */
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
    .orderBy("id")
    .execute();
  const isWhole = recentMs === undefined;
  const found = await readReadings(db, dialect, { ids, span: isWhole ? {} : { recentMs }, onDamaged });
  const withHistory = [...found].filter(([, readings]) => readings.isRetained(0)).map(([id]) => id);
  const peaks = isWhole ? new Map<number, Reading>() : await readPeaks(db, dialect, found);
  if (!isWhole) await addBeginnings(db, dialect, { found, withHistory });
  const perhapsNew = isWhole ? [] : rows.filter((row) => isPerhapsNew(row, found.get(row.id)));
  // Their recent readings, if others are damaged.
  const all = { ids: perhapsNew.map(({ id }) => id), onDamaged: () => {} };
  for (const [id, readings] of await readReadings(db, dialect, all)) {
    found.set(id, readings);
    peaks.delete(id);
  }
  const states = await readHistoryStates(db, dialect, withHistory);
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
        peak: peaks.get(row.id) ?? null,
      },
    ];
  });
}

/** Whether it may be new by its first days here, as its creation is unknown. */
function isPerhapsNew(
  { created_at, discovered_at }: { created_at: number | null; discovered_at: number },
  recent: Readings | undefined,
): boolean {
  if (recent === undefined || created_at !== null) return false;
  const seenFor = recent.at(recent.length - 1) - discovered_at;
  return seenFor > HISTORY_MS && seenFor <= NEW_MS;
}

/** Adds the first reading of all to recent ones that begin with a star history. */
async function addBeginnings(
  db: Db,
  dialect: Dialect,
  { found, withHistory }: { found: Map<number, Readings>; withHistory: readonly number[] },
): Promise<void> {
  for (const [id, first] of await readFirst(db, dialect, withHistory)) {
    const recent = found.get(id);
    if (recent !== undefined && first.at(0) < recent.at(0)) found.set(id, joined([first, recent]));
  }
}

/** The readings with most stars before recent ones that leap; of other repositories, older readings are not read. */
async function readPeaks(
  db: Db,
  dialect: Dialect,
  recent: ReadonlyMap<number, Readings>,
): Promise<Map<number, Reading>> {
  const leaping = [...recent].filter(([, readings]) => hasLeap(readings));
  const found = await readReadings(db, dialect, {
    ids: leaping.map(([id]) => id),
    // Their recent readings are judged without.
    onDamaged: () => {},
  });
  return new Map(
    leaping.flatMap(([id, readings]): [number, Reading][] => {
      const peak = peakBefore(found.get(id), readings);
      return peak === null ? [] : [[id, peak]];
    }),
  );
}

/** The reading with most stars of `all` before the first of `recent`. */
export function peakBefore(all: Readings | undefined, recent: Readings): Reading | null {
  let peak: number | undefined;
  for (let i = 0; all !== undefined && all.at(i) < recent.at(0); i++)
    if (!all.isRetained(i) && (peak === undefined || all.stars(i) > all.stars(peak))) peak = i;
  return all === undefined || peak === undefined ? null : readingAt(all, peak);
}

/** Whether stars rise in one step as they do when they are back at a level that has been in doubt. */
export function hasLeap(readings: Readings): boolean {
  for (let i = 1; i < readings.length; i++) {
    const gained = readings.stars(i) - readings.stars(i - 1);
    if (gained >= MIN_MOVEMENT && gained >= LEAP_PART * readings.stars(i - 1)) return true;
  }
  return false;
}
