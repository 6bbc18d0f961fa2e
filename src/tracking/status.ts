/** Status of tracking: read from the database, or as a worker last prepared it for pages. */
import { type RawBuilder, sql } from "kysely";
import { z } from "zod";
import { type Database, readDocument, readNumber, writeDocument } from "../database/database.js";
import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import { HISTORY_STATES, historyCounts } from "../repositories/repositories.js";
import { readAvatarStatus } from "./avatars.js";
import { readLostToday, readNewToday } from "./daily-limits.js";
import type { Lane, TrackingModules } from "./lane.js";
import { Reporter, readReport, saveReport, type WorkerReport } from "./report.js";
import { readOpenRequests } from "./requests/wanted.js";
import { nextDue } from "./schedule.js";

const count = z.number();
const timeOrNull = z.number().nullable();
const ages = z.object({ median: count, p90: count, p99: count });
export type Ages = z.infer<typeof ages>;

/** The status of one provider that is stored. Times in ms since 1970, durations in ms. */
const providerStatus = z.object({
  provider: z.string(),
  scheduled: count,
  /** Of these, due now, and due for over an hour. */
  due: count,
  overdue: count,
  repositories: z.record(z.string(), count),
  /** Time since the counts of available repositories were last read, from a list or their own record; null without any. */
  freshness: ages.nullable(),
  olderThanADay: count,
  /** Time since own records were last read, if lists have no fields of theirs; null without any. */
  detailsFreshness: ages.nullable(),
  /** Repositories by the state of their star history, and when the next page of one is read: null now, or without any. */
  histories: z.record(z.enum(HISTORY_STATES), count),
  backfillNextAt: timeOrNull,
  /** Repositories that are reported missing and not recorded as unavailable; `since`: the first of them, null without any. */
  missing: z.object({ waiting: count, since: timeOrNull }),
  lostToday: count,
  newToday: z.object({ added: count, surplus: count }),
  rechecksWaiting: count,
  /** Open requests to track, of people and of lists; `oldest`: when the first of them was made, null without any. */
  requests: z.object({ people: count, batch: count, oldest: timeOrNull }),
  /** `tookMs`: duration of the last complete walk; null without one. Counts get older than a day if it is longer. */
  walk: z
    .object({
      startedAt: count,
      found: count,
      walks: count,
      pages: count,
      tookMs: timeOrNull,
      isRunning: z.boolean(),
      /** null while it is under way, or starts as soon as the forge allows. */
      nextAt: timeOrNull,
    })
    .nullable(),
  avatars: z.object({ wanted: count, images: count }),
});

/** Status of tracking for one provider. */
export interface ProviderStatus extends z.infer<typeof providerStatus> {
  /** The last report of the worker; null: none in the last day. */
  worker: { at: number; report: WorkerReport } | null;
}

/** How many repositories have a star history that is not whole. */
export const missingHistories = ({ histories }: Pick<ProviderStatus, "histories">): number =>
  histories.WAITING + histories.READING + histories.REFUSED;

/** The status of every provider that is tracked or has repositories. Counts rows, so it is slow in large catalogues. */
export async function readStatus({ read }: Database, now: number): Promise<ProviderStatus[]> {
  const names = await sql<{ provider: string }>`select distinct provider from repositories
    union select provider from walks union select provider from worker_reports order by provider`.execute(
    read,
  );
  const reports = await readReports(read);
  const open = new Map((await readOpenRequests(read)).map((one) => [one.provider, one]));
  const status: ProviderStatus[] = [];
  for (const { provider } of names.rows) {
    const worker = reports.get(provider) ?? null;
    const historyAt = worker?.report.lookups?.historyAt ?? 0;
    const { people = 0, batch = 0, oldest = null } = open.get(provider) ?? {};
    const requests = { people, batch, oldest };
    status.push({ ...(await readProviderStatus(read, { provider, now, historyAt })), requests, worker });
  }
  return status;
}

/** `historyAt`: when the forge permits to read histories. */
async function readProviderStatus(
  read: Database["read"],
  { provider, now, historyAt }: { provider: string; now: number; historyAt: number },
): Promise<Omit<ProviderStatus, "worker" | "requests">> {
  const count = (table: string, where: RawBuilder<unknown>) =>
    readNumber(read, sql`select count(*) from ${sql.table(table)} where provider = ${provider} and ${where}`);
  const nextAt = Math.max(await nextDue(read, provider, "history"), historyAt);
  const isOld = sql`availability = 'AVAILABLE' and (refreshed_at is null or refreshed_at < ${now - DAY_MS})`;
  return {
    provider,
    scheduled: await count("repositories", sql`next_refresh_at is not null`),
    due: await count("repositories", sql`next_refresh_at <= ${now}`),
    overdue: await count("repositories", sql`next_refresh_at <= ${now - HOUR_MS}`),
    repositories: await readAvailabilities(read, provider),
    freshness: await agesOf(read, COUNTS, { provider, now }),
    olderThanADay: await count("repositories", isOld),
    detailsFreshness: await agesOf(read, OWN_RECORDS, { provider, now }),
    histories: await historyCounts(read, provider),
    backfillNextAt: nextAt > now && Number.isFinite(nextAt) ? nextAt : null,
    missing: await readMissing(read, provider),
    lostToday: await readLostToday(read, { provider, at: now }),
    newToday: await readNewToday(read, { provider, at: now }),
    rechecksWaiting: await count("tracking", sql`recheck_at is not null`),
    walk: await readWalk(read, { provider, now }),
    avatars: await readAvatarStatus(read, provider),
  };
}

async function readAvailabilities(read: Database["read"], provider: string) {
  const { rows } = await sql<{ availability: string; total: number }>`
    select availability, count(*) as total from repositories where provider = ${provider} group by availability`.execute(
    read,
  );
  return Object.fromEntries(rows.map((row) => [row.availability, Number(row.total)]));
}

async function readMissing(read: Database["read"], provider: string): Promise<ProviderStatus["missing"]> {
  const { waiting, since } = await read
    .selectFrom("tracking")
    .select(({ fn }) => [fn.countAll().as("waiting"), fn.min("missing_since").as("since")])
    .where("provider", "=", provider)
    .where("missing_since", "is not", null)
    .executeTakeFirstOrThrow();
  return { waiting: Number(waiting), since: since === null ? null : Number(since) };
}

async function readWalk(
  read: Database["read"],
  { provider, now }: { provider: string; now: number },
): Promise<ProviderStatus["walk"]> {
  const walks = read.selectFrom("walks").selectAll().where("provider", "=", provider);
  const walk = await walks.executeTakeFirst();
  if (walk === undefined) return null;
  const { started_at: startedAt, found, pages, took_ms: tookMs, cursor, next_at } = walk;
  const nextAt = next_at > now ? next_at : null;
  return { startedAt, found, walks: walk.walks, pages, tookMs, isRunning: cursor !== null, nextAt };
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

/** A stored document, which another version of the program may have stored in another form. The worker makes it again each minute. */
const STORED = z.object({ databaseBytes: count, providers: z.array(providerStatus) });

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
