/**
 * Whether counts are recent: for one repository, and counted for all of a provider. Each repository is measured by its own clock, its
 * schedule or its archive, so neither the time of day nor a reading of another repository makes it stale.
 */
import { sql } from "kysely";
import type { Db } from "../database/database.js";
import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import type { Repository } from "./repository.js";
import { median } from "./series.js";

/** The facts that decide whether a reading is recent. Times in ms since 1970. */
export interface Recency {
  /** Time of the newest undamaged file of each archive. */
  newestFiles: ReadonlyMap<string, number>;
  /** Start of the newest full day (UTC) of each provider: one with at least half as many snapshots as its days usually have. */
  fullDays: ReadonlyMap<string, number>;
  /** Time of the first snapshots of each provider, to the hour. */
  since: ReadonlyMap<string, number>;
  /** Times of the first file of each archive. */
  firstFiles: readonly number[];
}

/**
 * A tracked repository is recent until its next refresh is due later than this many of its own refresh intervals, and this many ms,
 * after its counts: then it was tried, and failed. One that is merely overdue stays recent, so an outage makes nothing stale.
 */
const RECENT_INTERVALS = 2;
const RECENT_TRIES_MS = 3 * HOUR_MS;
/** Without an archive, a reading is recent for this long at most before the newest full day: half the longest window. */
const RECENT_MS = 15 * DAY_MS;
/** Days that tell how many snapshots a day usually has, and the least part of them that a full day has. */
const USUAL_DAYS = 30;
const FULL_PART = 0.5;

export async function readRecency(db: Db): Promise<Recency> {
  const files = await db
    .selectFrom("import_files")
    .select(({ fn }) => ["source", fn.max("captured_at").as("newest"), fn.min("captured_at").as("first")])
    .where("damage", "is", null)
    .groupBy("source")
    .execute();
  const { rows: days } = await sql<{
    provider: string;
    day: number | string;
    first: number | string;
    snapshots: number | string;
  }>`select provider, hour / 24 as day, min(hour) as first, sum(snapshots) as snapshots from snapshot_hours
    group by provider, hour / 24 having sum(snapshots) > 0 order by 2 desc`.execute(db);
  const fullDays = new Map<string, number>();
  const since = new Map<string, number>();
  for (const [provider, own] of Map.groupBy(days, (row) => row.provider)) {
    const usual = median(own.slice(0, USUAL_DAYS).map(({ snapshots }) => Number(snapshots)));
    const full = own.find(({ snapshots }) => Number(snapshots) >= FULL_PART * usual);
    fullDays.set(provider, Number(full?.day) * DAY_MS);
    since.set(provider, Number(own.at(-1)?.first) * HOUR_MS);
  }
  const newestFiles = new Map(files.map((row) => [row.source, Number(row.newest)]));
  return { newestFiles, fullDays, since, firstFiles: files.map((row) => Number(row.first)) };
}

/** A reading, and how its repository is observed. */
interface Clocked
  extends Pick<Repository, "provider" | "importSource" | "refreshInterval" | "nextRefreshAt"> {
  at: number;
}

/**
 * Whether a reading is recent. `patienceMs`: how long before the provider's newest full day it may be, of a repository outside of
 * archives; at least two of its refresh intervals.
 */
export function isRecent(
  { at, provider, importSource, refreshInterval, nextRefreshAt }: Clocked,
  { newestFiles, fullDays }: Pick<Recency, "newestFiles" | "fullDays">,
  patienceMs = RECENT_MS,
): boolean {
  const newest = importSource === null ? undefined : newestFiles.get(importSource);
  const isTracked = refreshInterval !== null && refreshInterval > 0;
  if (isTracked && at === newest) return true;
  // Walks may succeed when refreshes fail: a count of the newest full day is recent.
  const isOfFullDay = at >= (fullDays.get(provider) ?? Number.POSITIVE_INFINITY);
  if (isTracked && !isOfFullDay && hasMissed(at, { refreshInterval, nextRefreshAt })) return false;
  if (!isTracked && newest !== undefined) return at >= newest;
  // Its provider is no longer tracked: no later reading will confirm it.
  if (refreshInterval === 0) return false;
  const patience = Math.max(patienceMs, RECENT_INTERVALS * (refreshInterval ?? 0));
  return at >= (fullDays.get(provider) ?? 0) - Math.min(RECENT_MS, patience);
}

/** Whether refreshes of a tracked repository have failed for too long since a reading. */
export function hasMissed(
  at: number,
  { refreshInterval, nextRefreshAt }: Pick<Clocked, "refreshInterval" | "nextRefreshAt">,
): boolean {
  return (nextRefreshAt ?? 0) > at + Math.max(RECENT_INTERVALS * (refreshInterval ?? 0), RECENT_TRIES_MS);
}

/** Whether the counts of a repository are no longer recent; false for one that was never counted. */
export function isStale(
  repository: Omit<Clocked, "at"> & Pick<Repository, "countedAt">,
  recency: Pick<Recency, "newestFiles" | "fullDays">,
): boolean {
  return repository.countedAt !== null && !isRecent({ ...repository, at: repository.countedAt }, recency);
}

/** The available repositories of a provider by whether their counts are recent; those never counted are in neither. */
export interface FreshnessCounts {
  freshRepositories: number;
  staleRepositories: number;
}

/** Counts as `isStale` decides. Reads all repositories of the provider. */
export async function countFreshness(
  db: Db,
  provider: string,
  { fullDays, newestFiles }: Recency,
): Promise<FreshnessCounts> {
  const files = [...newestFiles];
  const isOfFile = files.map(([source, at]) => sql`or (import_source = ${source} and counted_at = ${at})`);
  const byFile = files.map(
    ([source, at]) =>
      sql`when import_source = ${source} and coalesce(refresh_interval, 0) = 0 then counted_at < ${at}`,
  );
  const intervals = sql`${RECENT_INTERVALS} * refresh_interval`;
  const { rows } = await sql<{ counted: number; stale: number }>`
    select count(*) as counted, count(case when case
        when refresh_interval > 0 and (1 = 0 ${sql.join(isOfFile, sql` `)}) then 1 = 0
        when refresh_interval > 0 and counted_at < ${fullDays.get(provider) ?? Number.MAX_SAFE_INTEGER}
          and coalesce(next_refresh_at, 0) > counted_at +
          case when ${intervals} > ${RECENT_TRIES_MS} then ${intervals} else ${RECENT_TRIES_MS} end then 1 = 1
        ${sql.join(byFile, sql` `)}
        when refresh_interval = 0 then 1 = 1
        else counted_at < ${(fullDays.get(provider) ?? 0) - RECENT_MS} end then 1 end) as stale
    from repositories
    where provider = ${provider} and availability = 'AVAILABLE' and counted_at is not null`.execute(db);
  const stale = Number(rows[0]?.stale ?? 0);
  return { freshRepositories: Number(rows[0]?.counted ?? 0) - stale, staleRepositories: stale };
}

/** The newest undamaged file of an archive. */
export interface NewestFile {
  /** The archive, by the name of its layout. */
  source: string;
  file: string;
  /** The time of its newest row. */
  capturedAt: number;
}

/** The newest undamaged file of each archive, by the name of the archive. */
export async function readNewestFiles(db: Db): Promise<NewestFile[]> {
  const { rows } = await sql<NewestFile>`select source, max(file) as file, captured_at as "capturedAt"
    from import_files f
    where damage is null and captured_at = (
      select max(captured_at) from import_files where source = f.source and damage is null)
    group by source, captured_at order by source`.execute(db);
  return rows;
}
