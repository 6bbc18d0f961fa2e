import { type RawBuilder, sql } from "kysely";
import {
  type CatalogueKind,
  type FreshnessCounts,
  type NewestFile,
  readKind,
  readNewestFiles,
  readRecency,
} from "../../catalog/catalog.js";
import { ageInDays, DAY_MS, HOUR_MS } from "../../clock.js";
import type { Db } from "../../database/database.js";
import { freshnessOf } from "./freshness.js";
import type { DocumentReader, Prepared } from "./prepared.js";

/** Counters of one provider, or of all providers together. */
export interface Counters extends FreshnessCounts {
  repositories: number;
  snapshots: number;
  /** Snapshots taken in the 24 hours up to `asOf`. */
  snapshots24h: number;
  /** Repositories refreshed in the 24 hours up to `asOf`. */
  refreshed24h: number;
  /** Repositories whose next refresh was overdue when the summary was computed. */
  overdueRefreshes: number;
}

export interface ProviderSummary extends Counters {
  provider: string;
  /** Time of its newest snapshot; null without any. */
  asOf: number | null;
}

export interface Summary extends Counters, Prepared {
  languages: number;
  topics: number;
  providers: ProviderSummary[];
  /** The newest undamaged file of each archive that was imported. */
  newestFiles: NewestFile[];
  /** Time of the newest snapshot; null if there are no snapshots. */
  asOf: number | null;
  /** When the content last changed. */
  generatedAt: number;
  catalogue: CatalogueKind;
}

/** Days in UTC from a time to now; null: there is no such time. */
interface Aged {
  ageDays: number | null;
}

/** The stored summary with the ages of what is in it. */
export interface CurrentSummary extends Summary, Aged {
  providers: (ProviderSummary & Aged)[];
  newestFiles: (NewestFile & Aged)[];
}

/** Three separate counts, as each can use an index. */
async function countRepositories(
  db: Db,
  provider: string,
  { since, now }: { since: number; now: number },
): Promise<Record<"repositories" | "refreshed" | "overdue", number>> {
  const count = async (where: RawBuilder<unknown>): Promise<number> => {
    const { rows } = await sql<{ total: number }>`select count(*) as total from repositories
      where provider = ${provider} and availability = 'AVAILABLE' and ${where}`.execute(db);
    return Number(rows[0]?.total ?? 0);
  };
  return {
    repositories: await count(sql`true`),
    refreshed: await count(sql`refreshed_at > ${since}`),
    overdue: await count(sql`next_refresh_at is not null and next_refresh_at < ${now}`),
  };
}

/** Computes the summary, which counts all repositories. `before`: the stored one. */
export async function computeSummary(db: Db, now: number, before: Summary | undefined): Promise<Summary> {
  const recency = await readRecency(db);
  const newestFiles = await readNewestFiles(db);
  const isFileNew = JSON.stringify(newestFiles) !== JSON.stringify(before?.newestFiles);
  const totals = await sql<{ provider: string; snapshots: number }>`
    select provider, sum(snapshots) as snapshots from snapshot_hours group by provider`.execute(db);
  const snapshots = new Map(totals.rows.map((row) => [row.provider, Number(row.snapshots)]));
  const names = await sql<{
    provider: string;
  }>`select distinct provider from repositories order by provider`.execute(db);
  const providers: Summary["providers"] = [];
  for (const { provider } of names.rows) {
    const asOf = recency.asOf.get(provider) ?? null;
    const since = (asOf ?? now) - DAY_MS;
    const { repositories, refreshed, overdue } = await countRepositories(db, provider, { since, now });
    const recent = await sql<{ snapshots: number }>`select coalesce(sum(snapshots), 0) as snapshots
      from snapshot_hours where provider = ${provider} and hour > ${Math.floor(since / HOUR_MS)}`.execute(db);
    const counted = before?.providers.find((one) => one.provider === provider);
    providers.push({
      provider,
      repositories,
      snapshots: snapshots.get(provider) ?? 0,
      snapshots24h: Number(recent.rows[0]?.snapshots ?? 0),
      refreshed24h: refreshed,
      overdueRefreshes: overdue,
      ...(await freshnessOf(db, { provider, repositories }, { recency, before: counted, isFileNew })),
      asOf,
    });
  }
  const facets = await sql<{ kind: string; names: number }>`
    select kind, count(*) as names from facets where provider = '' group by kind`.execute(db);
  const namesOf = (kind: string) => Number(facets.rows.find((row) => row.kind === kind)?.names ?? 0);
  const sum = (counter: keyof Counters) =>
    providers.reduce((total, provider) => total + provider[counter], 0);
  const times = providers.flatMap(({ asOf }) => asOf ?? []);
  return {
    repositories: sum("repositories"),
    snapshots: sum("snapshots"),
    snapshots24h: sum("snapshots24h"),
    refreshed24h: sum("refreshed24h"),
    overdueRefreshes: sum("overdueRefreshes"),
    freshRepositories: sum("freshRepositories"),
    staleRepositories: sum("staleRepositories"),
    languages: namesOf("language"),
    topics: namesOf("topic"),
    providers,
    newestFiles,
    asOf: times.length === 0 ? null : Math.max(...times),
    generatedAt: now,
    catalogue: await readKind(db),
  };
}

const NOTHING: Counters = {
  repositories: 0,
  snapshots: 0,
  snapshots24h: 0,
  refreshed24h: 0,
  overdueRefreshes: 0,
  freshRepositories: 0,
  staleRepositories: 0,
};

/** The stored summary; an empty one before the first update. */
export async function readSummary(read: DocumentReader, now: number): Promise<CurrentSummary> {
  const prepared = await read<Summary>("summary");
  if (prepared !== undefined) {
    // What an older version stored lacks some of it until the next update.
    const { providers, newestFiles = [] }: Pick<Summary, "providers"> & Partial<Summary> = prepared;
    return {
      ...NOTHING,
      ...prepared,
      providers: providers.map((one) => ({ ...NOTHING, ...one, ageDays: ageInDays(one.asOf, now) })),
      newestFiles: newestFiles.map((one) => ({ ...one, ageDays: ageInDays(one.capturedAt, now) })),
      ageDays: ageInDays(prepared.asOf, now),
    };
  }
  return {
    ...NOTHING,
    languages: 0,
    topics: 0,
    providers: [],
    newestFiles: [],
    asOf: null,
    generatedAt: now,
    catalogue: "real",
    ageDays: null,
  };
}
