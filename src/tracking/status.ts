/** Status of tracking: read from the database, or as a worker last prepared it for pages. */
import { type RawBuilder, sql } from "kysely";
import { z } from "zod";
import { type Database, readDocument, readNumber, writeDocument } from "../database/database.js";
import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import { type AvatarStatus, readAvatarStatus } from "./avatars.js";
import { type NewToday, readLostToday, readNewToday } from "./daily-limits.js";
import type { Lane, TrackingModules } from "./lane.js";
import { Reporter, readReport, saveReport, type WorkerReport } from "./report.js";
import { nextDue } from "./schedule.js";

export interface Ages {
  median: number;
  p90: number;
  p99: number;
}

/** Status of tracking for one provider. Times in ms since 1970, durations in ms. */
export interface ProviderStatus {
  provider: string;
  scheduled: number;
  /** Of these, due now, and due for over an hour. */
  due: number;
  overdue: number;
  repositories: Record<string, number>;
  /** Time since the counts of available repositories were last read, from a list or their own record; null without any. */
  freshness: Ages | null;
  olderThanADay: number;
  /** Time since own records were last read, if lists have no fields of theirs; null without any. */
  detailsFreshness: Ages | null;
  /** Repositories whose star history is not complete, and when the next page of one is read: null now, or without any. */
  backfillWaiting: number;
  backfillNextAt: number | null;
  /** Repositories that are reported missing and not recorded as unavailable; `since`: the first of them, null without any. */
  missing: { waiting: number; since: number | null };
  lostToday: number;
  newToday: NewToday;
  rechecksWaiting: number;
  /** `tookMs`: duration of the last complete walk; null without one. Counts get older than a day if it is longer. */
  walk: {
    startedAt: number;
    found: number;
    walks: number;
    pages: number;
    tookMs: number | null;
    isRunning: boolean;
    /** null while it is under way, or starts as soon as the forge allows. */
    nextAt: number | null;
  } | null;
  avatars: AvatarStatus;
  /** The last report of the worker; null: none in the last day. */
  worker: { at: number; report: WorkerReport } | null;
}

/** The status of every provider that is tracked or has repositories. Counts rows, so it is slow in large catalogues. */
export async function readStatus({ read }: Database, now: number): Promise<ProviderStatus[]> {
  const names = await sql<{ provider: string }>`select distinct provider from repositories
    union select provider from walks union select provider from worker_reports order by provider`.execute(
    read,
  );
  const reports = await readReports(read);
  const status: ProviderStatus[] = [];
  for (const { provider } of names.rows) {
    const count = (table: string, where: ReturnType<typeof sql>) =>
      readNumber(
        read,
        sql`select count(*) from ${sql.table(table)} where provider = ${provider} and ${where}`,
      );
    const byAvailability = await sql<{ availability: string; total: number }>`
      select availability, count(*) as total from repositories where provider = ${provider} group by availability`.execute(
      read,
    );
    const missing = await read
      .selectFrom("tracking")
      .select(({ fn }) => [fn.countAll().as("waiting"), fn.min("missing_since").as("since")])
      .where("provider", "=", provider)
      .where("missing_since", "is not", null)
      .executeTakeFirstOrThrow();
    const walk = await read
      .selectFrom("walks")
      .selectAll()
      .where("provider", "=", provider)
      .executeTakeFirst();
    const pace = reports.get(provider)?.report.lookups;
    const nextAt = Math.max(await nextDue(read, provider, "history"), pace?.historyAt ?? 0);
    status.push({
      provider,
      scheduled: await count("repositories", sql`next_refresh_at is not null`),
      due: await count("repositories", sql`next_refresh_at <= ${now}`),
      overdue: await count("repositories", sql`next_refresh_at <= ${now - HOUR_MS}`),
      repositories: Object.fromEntries(
        byAvailability.rows.map((row) => [row.availability, Number(row.total)]),
      ),
      freshness: await agesOf(read, COUNTS, { provider, now }),
      olderThanADay: await count(
        "repositories",
        sql`availability = 'AVAILABLE' and (refreshed_at is null or refreshed_at < ${now - DAY_MS})`,
      ),
      detailsFreshness: await agesOf(read, OWN_RECORDS, { provider, now }),
      backfillWaiting: await count("tracking", sql`history_due is not null`),
      backfillNextAt: nextAt > now && Number.isFinite(nextAt) ? nextAt : null,
      missing: {
        waiting: Number(missing.waiting),
        since: missing.since === null ? null : Number(missing.since),
      },
      lostToday: await readLostToday(read, { provider, at: now }),
      newToday: await readNewToday(read, { provider, at: now }),
      rechecksWaiting: await count("tracking", sql`recheck_at is not null`),
      walk:
        walk === undefined
          ? null
          : {
              startedAt: walk.started_at,
              found: walk.found,
              walks: walk.walks,
              pages: walk.pages,
              tookMs: walk.took_ms,
              isRunning: walk.cursor !== null,
              nextAt: walk.next_at > now ? walk.next_at : null,
            },
      avatars: await readAvatarStatus(read, provider),
      worker: reports.get(provider) ?? null,
    });
  }
  return status;
}

/** The last report of the worker about each provider. The worker deletes those that are a day old. */
export async function readReports(
  read: Database["read"],
): Promise<Map<string, NonNullable<ProviderStatus["worker"]>>> {
  const rows = await read.selectFrom("worker_reports").selectAll().execute();
  return new Map(rows.map(({ provider, at, body }) => [provider, { at, report: readReport(body) }]));
}

/** Adds the quota that a command has used, and the blocks that it met, to the last report about their provider. */
export async function reportQuota(
  { read }: Database,
  { lease, provider, clock }: Pick<Lane, "lease" | "provider" | "clock">,
): Promise<void> {
  const quota = provider.quota();
  if (quota.length === 0) return;
  const now = clock.now();
  const last = (await readReports(read)).get(provider.name);
  const report = { ...(last?.report ?? new Reporter(now).report), site: provider.settings.url, quota };
  await saveReport(lease, provider.name, { at: last?.at ?? now, report });
}

/** A kind of reading: the column of its time, and its repositories. */
interface Readings {
  table: "repositories" | "tracking";
  column: "refreshed_at" | "detailed_at";
  among: RawBuilder<unknown>;
}
const COUNTS: Readings = {
  table: "repositories",
  column: "refreshed_at",
  among: sql`availability = 'AVAILABLE'`,
};
const OWN_RECORDS: Readings = {
  table: "tracking",
  column: "detailed_at",
  among: sql`details_due is not null`,
};

async function agesOf(
  read: Database["read"],
  { table, column, among }: Readings,
  { provider, now }: { provider: string; now: number },
): Promise<Ages | null> {
  const at = sql.ref(column);
  const here = sql`from ${sql.table(table)} where provider = ${provider} and ${among} and ${at} is not null`;
  const total = await readNumber(read, sql`select count(*) ${here}`);
  if (total === 0) return null;
  // The oldest come first, so a quantile of the ages is found as far from the end. All by one sort.
  const ranks = [0.5, 0.9, 0.99].map((part) => 1 + Math.min(total - 1, Math.floor(total * (1 - part))));
  const { rows } = await sql<{ rank: number; at: number }>`select rank, at from (
      select ${at} as at, row_number() over (order by ${at}) as rank ${here}
    ) as sorted where rank in (${sql.join(ranks)})`.execute(read);
  const ages = new Map(rows.map((row) => [Number(row.rank), Math.max(0, now - Number(row.at))]));
  const [median = 0, p90 = 0, p99 = 0] = ranks.map((rank) => ages.get(rank) ?? 0);
  return { median, p90, p99 };
}

const DOCUMENT = "tracking";

const count = z.number();
const timeOrNull = z.number().nullable();
const ages = z.object({ median: count, p90: count, p99: count }).nullable();
/** A stored document, which another version of the program may have stored in another form. The worker makes it again each minute. */
const STORED: z.ZodType<StoredStatus> = z.object({
  databaseBytes: count,
  providers: z.array(
    z.object({
      provider: z.string(),
      scheduled: count,
      due: count,
      overdue: count,
      repositories: z.record(z.string(), count),
      freshness: ages,
      olderThanADay: count,
      detailsFreshness: ages,
      backfillWaiting: count,
      backfillNextAt: timeOrNull,
      missing: z.object({ waiting: count, since: timeOrNull }),
      lostToday: count,
      newToday: z.object({ added: count, surplus: count }),
      rechecksWaiting: count,
      walk: z
        .object({
          startedAt: count,
          found: count,
          walks: count,
          pages: count,
          tookMs: timeOrNull,
          isRunning: z.boolean(),
          nextAt: timeOrNull,
        })
        .nullable(),
      avatars: z.object({ wanted: count, images: count }),
    }),
  ),
});

interface StoredStatus {
  providers: Omit<ProviderStatus, "worker">[];
  databaseBytes: number;
}

/** The status as the worker last prepared it. Times in ms since 1970. */
export interface PreparedStatus {
  at: number;
  providers: ProviderStatus[];
  databaseBytes: number;
}

/** Reads the status and stores it for pages, which must not count rows. Only for workers, as it takes as long as `readStatus`. */
export async function prepareStatus(
  { database }: Pick<TrackingModules, "database">,
  now: number,
): Promise<void> {
  const providers = await readStatus(database, now);
  const databaseBytes = await database.dialect.size(database.read);
  await writeDocument(database.write, DOCUMENT, { at: now, body: { providers, databaseBytes } });
}

/** The prepared status with the latest reports of workers; undefined if none has run. Reads a few rows. */
export async function readPreparedStatus({ read }: Database): Promise<PreparedStatus | undefined> {
  const document = await readDocument(read, DOCUMENT);
  const stored = STORED.safeParse(document?.body).data;
  if (document === undefined || stored === undefined) return undefined;
  const { providers, databaseBytes } = stored;
  const reports = await readReports(read);
  return {
    at: document.at,
    providers: providers.map((one) => ({ ...one, worker: reports.get(one.provider) ?? null })),
    databaseBytes,
  };
}
