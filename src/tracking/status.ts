import { sql } from "kysely";
import { DAY_MS, HOUR_MS } from "../clock.js";
import type { Database } from "../database/database.js";
import type { WorkerReport } from "./lane.js";

/** Status of tracking for one provider. Times in ms since 1970, durations in ms. */
export interface ProviderStatus {
  provider: string;
  /** Number of repositories with a refresh schedule. */
  scheduled: number;
  /** Of these, due now, and due for over an hour. */
  due: number;
  overdue: number;
  /** Claimed by a worker at the moment. */
  claimed: number;
  /** Number by availability. */
  repositories: Record<string, number>;
  /** Time since the last refresh of available repositories, by quantile; null without any. */
  freshness: { median: number; p90: number; p99: number } | null;
  /** Number of repositories whose star history is not complete. */
  backfillWaiting: number;
  /** Number of repositories whose second reading is planned. */
  rechecksWaiting: number;
  walk: { startedAt: number; found: number; walks: number; isRunning: boolean; nextAt: number } | null;
  workers: { worker: string; at: number; report: WorkerReport }[];
}

/** The status of every provider that is tracked or has repositories. Counts rows, so it is slow for large catalogues. */
export async function readStatus({ read }: Database, now: number): Promise<ProviderStatus[]> {
  const names = await sql<{ provider: string }>`select distinct provider from repositories
    union select provider from walks union select provider from worker_reports order by provider`.execute(
    read,
  );
  const status: ProviderStatus[] = [];
  for (const { provider } of names.rows) {
    const count = async (table: string, where: ReturnType<typeof sql>) => {
      const { rows } = await sql<{ total: number }>`select count(*) as total from ${sql.table(table)}
        where provider = ${provider} and ${where}`.execute(read);
      return Number(rows[0]?.total ?? 0);
    };
    const byAvailability = await sql<{ availability: string; total: number }>`
      select availability, count(*) as total from repositories where provider = ${provider} group by availability`.execute(
      read,
    );
    const walk = await read
      .selectFrom("walks")
      .selectAll()
      .where("provider", "=", provider)
      .executeTakeFirst();
    const reports = await read
      .selectFrom("worker_reports")
      .selectAll()
      .where("provider", "=", provider)
      .where("at", ">", now - DAY_MS)
      .orderBy("at", "desc")
      .execute();
    status.push({
      provider,
      scheduled: await count("repositories", sql`next_refresh_at is not null`),
      due: await count("repositories", sql`next_refresh_at <= ${now}`),
      overdue: await count("repositories", sql`next_refresh_at <= ${now - HOUR_MS}`),
      claimed: await count("tracking", sql`leased_until > 0 and leased_until > ${now}`),
      repositories: Object.fromEntries(
        byAvailability.rows.map((row) => [row.availability, Number(row.total)]),
      ),
      freshness: await freshnessOf(read, provider, now),
      backfillWaiting: await count("tracking", sql`history_due is not null`),
      rechecksWaiting: await count("tracking", sql`recheck_at is not null`),
      walk:
        walk === undefined
          ? null
          : {
              startedAt: walk.started_at,
              found: walk.found,
              walks: walk.walks,
              isRunning: walk.cursor !== null || walk.leased_until > now,
              nextAt: walk.next_at,
            },
      workers: reports.map(({ worker, at, body }) => ({
        worker,
        at,
        // Reports of an earlier version lack the second readings.
        report: { doubted: 0, rechecked: 0, ...JSON.parse(body) } as WorkerReport,
      })),
    });
  }
  return status;
}

async function freshnessOf(
  read: Database["read"],
  provider: string,
  now: number,
): Promise<ProviderStatus["freshness"]> {
  const here = sql`provider = ${provider} and availability = 'AVAILABLE' and refreshed_at is not null`;
  const counted = await sql<{
    total: number;
  }>`select count(*) as total from repositories where ${here}`.execute(read);
  const total = Number(counted.rows[0]?.total ?? 0);
  if (total === 0) return null;
  const ageAt = async (part: number) => {
    const index = Math.min(total - 1, Math.floor(total * (1 - part)));
    const { rows } = await sql<{ at: number }>`select refreshed_at as at from repositories where ${here}
      order by refreshed_at limit 1 offset ${index}`.execute(read);
    return Math.max(0, now - Number(rows[0]?.at ?? now));
  };
  return { median: await ageAt(0.5), p90: await ageAt(0.9), p99: await ageAt(0.99) };
}
