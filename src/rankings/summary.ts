import { type RawBuilder, sql } from "kysely";
import { type CatalogueKind, readKind } from "../catalog/catalog.js";
import { DAY_MS, HOUR_MS } from "../clock.js";
import type { Database, Tx } from "../database/database.js";
import { keepPrepared, readPrepared } from "./prepared.js";

/** Counters of one provider, or of all together. */
export interface Counters {
  repositories: number;
  snapshots: number;
  /** Snapshots in the 24 hours up to `asOf`. */
  snapshots24h: number;
  /** Repositories whose newest values are of the 24 hours up to `asOf`. */
  refreshed24h: number;
  /** Repositories whose next refresh was due before the summary was made. */
  overdueRefreshes: number;
}

export interface Summary extends Counters {
  languages: number;
  topics: number;
  providers: (Counters & { provider: string; asOf: number | null })[];
  /** Time of the newest snapshot of all; null without any. */
  asOf: number | null;
  generatedAt: number;
  catalogue: CatalogueKind;
}

/** Three counts, each along an index of its own. */
async function countRepositories(
  tx: Tx,
  provider: string,
  since: number,
  now: number,
): Promise<Record<"repositories" | "refreshed" | "overdue", number>> {
  const count = async (where: RawBuilder<unknown>): Promise<number> => {
    const { rows } = await sql<{ total: number }>`select count(*) as total from repositories
      where provider = ${provider} and availability = 'AVAILABLE' and ${where}`.execute(tx);
    return Number(rows[0]?.total ?? 0);
  };
  return {
    repositories: await count(sql`true`),
    refreshed: await count(sql`refreshed_at > ${since}`),
    overdue: await count(sql`next_refresh_at is not null and next_refresh_at < ${now}`),
  };
}

/** Computes the summary and stores it, so that a request only reads it. */
export async function rebuildSummary(tx: Tx, now: number): Promise<void> {
  const totals = await sql<{ provider: string; snapshots: number; newest_at: number }>`
    select provider, sum(snapshots) as snapshots, max(newest_at) as newest_at from snapshot_hours
    group by provider`.execute(tx);
  const snapshots = new Map(totals.rows.map((row) => [row.provider, row]));
  const names = await sql<{
    provider: string;
  }>`select distinct provider from repositories order by provider`.execute(tx);
  const providers: Summary["providers"] = [];
  for (const { provider } of names.rows) {
    const asOf = snapshots.get(provider)?.newest_at ?? null;
    const since = (asOf ?? now) - DAY_MS;
    const { repositories, refreshed, overdue } = await countRepositories(tx, provider, since, now);
    const recent = await sql<{ snapshots: number }>`select coalesce(sum(snapshots), 0) as snapshots
      from snapshot_hours where provider = ${provider} and hour > ${Math.floor(since / HOUR_MS)}`.execute(tx);
    providers.push({
      provider,
      repositories,
      snapshots: Number(snapshots.get(provider)?.snapshots ?? 0),
      snapshots24h: Number(recent.rows[0]?.snapshots ?? 0),
      refreshed24h: refreshed,
      overdueRefreshes: overdue,
      asOf,
    });
  }
  const facets = await sql<{ kind: string; names: number }>`
    select kind, count(*) as names from facets where provider = '' group by kind`.execute(tx);
  const namesOf = (kind: string) => Number(facets.rows.find((row) => row.kind === kind)?.names ?? 0);
  const sum = (counter: keyof Counters) =>
    providers.reduce((total, provider) => total + provider[counter], 0);
  const times = providers.flatMap(({ asOf }) => asOf ?? []);
  const summary: Summary = {
    repositories: sum("repositories"),
    snapshots: sum("snapshots"),
    snapshots24h: sum("snapshots24h"),
    refreshed24h: sum("refreshed24h"),
    overdueRefreshes: sum("overdueRefreshes"),
    languages: namesOf("language"),
    topics: namesOf("topic"),
    providers,
    asOf: times.length === 0 ? null : Math.max(...times),
    generatedAt: now,
    catalogue: await readKind(tx),
  };
  await keepPrepared(tx, "summary", summary);
}

/** The stored summary; one of nothing before there is any. */
export async function readSummary(database: Database, now: number): Promise<Summary> {
  const kept = await readPrepared<Summary>(database, "summary");
  if (kept !== undefined) return kept;
  const none: Counters = {
    repositories: 0,
    snapshots: 0,
    snapshots24h: 0,
    refreshed24h: 0,
    overdueRefreshes: 0,
  };
  return { ...none, languages: 0, topics: 0, providers: [], asOf: null, generatedAt: now, catalogue: "real" };
}
