/** Whether counts are recent: for one repository, and counted for all of a provider. */
import { sql } from "kysely";
import type { Db } from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";
import type { SnapshotSource } from "./observation.js";
import type { Repository } from "./repository.js";
import { snapshotTimes } from "./snapshots/snapshots.js";

/** The facts that decide whether a reading is recent. Times in ms since 1970. */
export interface Recency {
  /** Time of each provider's newest snapshot. */
  asOf: ReadonlyMap<string, number>;
  /** Time of the first snapshots of each provider, to the hour. */
  since: ReadonlyMap<string, number>;
  /** Time of the newest undamaged file of each archive. */
  newestFiles: ReadonlyMap<string, number>;
}

/** A tracked repository is recent for this many of its own refresh intervals. */
const RECENT_INTERVALS = 2;
/** The same for one that is neither tracked nor in an archive: half the longest window. */
const RECENT_MS = 15 * DAY_MS;

export async function readRecency(db: Db): Promise<Recency> {
  const { asOf, since } = await snapshotTimes(db);
  const rows = await db
    .selectFrom("import_files")
    .select(({ fn }) => ["source", fn.max("captured_at").as("newest")])
    .where("damage", "is", null)
    .groupBy("source")
    .execute();
  return { asOf, since, newestFiles: new Map(rows.map((row) => [row.source, Number(row.newest)])) };
}

/** A reading, and how its repository is observed. */
interface LastReading extends Pick<Repository, "importSource" | "refreshInterval"> {
  at: number;
  /** null: unknown. */
  source: SnapshotSource | null;
}

/**
 * Until when a reading is recent: it is stale once the provider's newest snapshot is later. It is stale immediately, and this is
 * before `at`, if the archive's newest undamaged file no longer has the repository, or if its provider is no longer tracked.
 */
export function recentUntil(
  { at, source, importSource, refreshInterval }: LastReading,
  { newestFiles }: Pick<Recency, "newestFiles">,
): number {
  if (refreshInterval !== null && refreshInterval > 0 && source !== "IMPORTED")
    return at + RECENT_INTERVALS * refreshInterval;
  // No later reading will confirm it, and its provider may have no newer snapshot to compare it with.
  if (refreshInterval === 0 && source !== "IMPORTED" && (source !== null || importSource === null))
    return at - 1;
  const newest = importSource === null || source === "OBSERVED" ? undefined : newestFiles.get(importSource);
  if (newest === undefined) return at + RECENT_MS;
  return at >= newest ? Number.MAX_SAFE_INTEGER : at - 1;
}

/** Whether the counts of a repository are no longer recent; false for one that was never counted. */
export function isStale(
  {
    provider,
    countedAt,
    importSource,
    refreshInterval,
  }: Pick<Repository, "provider" | "countedAt" | "importSource" | "refreshInterval">,
  recency: Recency,
): boolean {
  if (countedAt === null) return false;
  const last: LastReading = { importSource, refreshInterval, at: countedAt, source: null };
  return recentUntil(last, recency) < (recency.asOf.get(provider) ?? 0);
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
  { asOf, newestFiles }: Recency,
): Promise<FreshnessCounts> {
  const end = asOf.get(provider) ?? 0;
  const archived = [...newestFiles].map(
    ([source, at]) => sql`when import_source = ${source} then counted_at < ${at}`,
  );
  const { rows } = await sql<{ counted: number; stale: number }>`
    select count(*) as counted, count(case when case
        when refresh_interval > 0 then counted_at + ${RECENT_INTERVALS} * refresh_interval < ${end}
        ${sql.join(archived, sql` `)}
        when refresh_interval = 0 and import_source is null then counted_at <= ${end}
        else counted_at < ${end - RECENT_MS} end then 1 end) as stale
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
