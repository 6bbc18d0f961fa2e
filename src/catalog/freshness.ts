import { sql } from "kysely";
import type { Db } from "../database/database.js";
import { RECENT_INTERVALS, RECENT_MS, type Recency } from "./recency.js";

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
