import { type RawBuilder, sql } from "kysely";
import { DAY_MS } from "../clock.js";
import type { BulkRow, BulkTable, Database, Dialect, Tx } from "../database/database.js";
import type { ForgeKind } from "../forges.js";
import type { Provider } from "../providers/providers.js";
import { LATEST_MS } from "./cadence.js";

/** A repository that a worker has claimed for a refresh. */
export interface Claim {
  repositoryId: number;
  /** null: imported from an archive without it. */
  providerId: string | null;
  nodeId: string | null;
  etag: string | null;
  owner: string;
  name: string;
  failures: number;
  stars: number | null;
  /** Time of its current counts. */
  countedAt: number | null;
}

interface ClaimRow {
  id: number;
  provider_id: string | null;
  node_id: string | null;
  etag: string | null;
  owner: string;
  name: string;
  failures: number;
  stars: number | null;
  counted_at: number | null;
}

/** Which repositories to claim. Times in ms since 1970. */
export interface ClaimRequest {
  now: number;
  /** Due at this time or earlier. */
  dueBefore: number;
  /** End of the lease: until then no other worker claims them. */
  leasedUntil: number;
  limit: number;
}

/** Claims due repositories, those due longest first. */
export function claimDue(
  database: Database,
  provider: string,
  { dueBefore, ...request }: ClaimRequest,
): Promise<Claim[]> {
  const isDue = sql`r.provider = ${provider} and r.next_refresh_at <= ${dueBefore}`;
  return claim(database, { isDue, order: sql`r.next_refresh_at` }, request);
}

/** Claims repositories `r` with their tracking `t` that match a condition, unless they are claimed. */
export function claim(
  { dialect, write }: Database,
  { isDue, order }: { isDue: RawBuilder<unknown>; order: RawBuilder<unknown> },
  { now, leasedUntil, limit }: Omit<ClaimRequest, "dueBefore">,
): Promise<Claim[]> {
  return write.transaction().execute(async (tx) => {
    const { rows } = await sql<ClaimRow>`
      select r.id, r.provider_id, t.node_id, t.etag, r.owner, r.name, t.failures, r.stars, r.counted_at
      from repositories r join tracking t on t.repository_id = r.id
      where ${isDue} and t.leased_until <= ${now}
      order by ${order} limit ${limit} ${dialect.lockFree("t")}`.execute(tx);
    if (rows.length === 0) return [];
    await tx
      .updateTable("tracking")
      .set({ leased_until: leasedUntil })
      .where(
        dialect.among(
          sql.ref("repository_id"),
          rows.map((row) => row.id),
        ),
      )
      .execute();
    return rows.map((row) => ({
      repositoryId: row.id,
      providerId: row.provider_id,
      nodeId: row.node_id,
      etag: row.etag,
      owner: row.owner,
      name: row.name,
      failures: row.failures,
      stars: row.stars,
      countedAt: row.counted_at,
    }));
  });
}

/**
 * Releases repositories that were claimed until `leasedUntil` and not refreshed. They stay as due as before, or become due at
 * `dueAt`, so that others come first.
 */
export async function release(
  { dialect, write }: Database,
  ids: readonly number[],
  { leasedUntil, dueAt }: { leasedUntil: number; dueAt?: number },
): Promise<void> {
  if (ids.length === 0) return;
  await dialect.exclusively(write, "catalogue", async (tx) => {
    const { rows } = await sql<{ repository_id: number }>`update tracking set leased_until = 0
      where leased_until = ${leasedUntil} and ${dialect.among(sql.ref("repository_id"), ids)}
      returning repository_id`.execute(tx);
    if (dueAt === undefined || rows.length === 0) return;
    const due = rows.map((row): BulkRow => [row.repository_id, dueAt]);
    await dialect.updateRows(tx, DUE_TIMES, due);
  });
}

/** When a repository is due next, and what its next refresh needs. */
export interface Appointment {
  repositoryId: number;
  provider: string;
  dueAt: number;
  nodeId: string | null;
  etag: string | null;
  failures: number;
  /** Scheduled time between two refreshes, in ms, which decides how long a reading is recent; absent: as before. */
  refreshInterval?: number;
  /** When to start reading its star history, unless that has begun; absent: as before. */
  historyDue?: number;
}

const TRACKING: BulkTable = {
  table: "tracking",
  columns: {
    repository_id: "bigint",
    provider: "text",
    node_id: "text",
    etag: "text",
    leased_until: "bigint",
    failures: "bigint",
  },
  key: ["repository_id"],
};
const DUE_TIMES: BulkTable = {
  table: "repositories",
  columns: { id: "bigint", next_refresh_at: "bigint" },
  key: ["id"],
};
const INTERVALS: BulkTable = {
  table: "repositories",
  columns: { id: "bigint", next_refresh_at: "bigint", refresh_interval: "bigint" },
  key: ["id"],
};
/** Interval of a repository whose growth is not known yet. */
export const FIRST_INTERVAL_MS = DAY_MS;

/** Writes appointments and ends the leases, in the transaction that records the results. */
export async function schedule(
  tx: Tx,
  dialect: Dialect,
  appointments: readonly Appointment[],
): Promise<void> {
  if (appointments.length === 0) return;
  // Two names may have turned out to be one repository; the last appointment wins.
  const last = [...new Map(appointments.map((one) => [one.repositoryId, one])).values()];
  const rows = last.map(
    ({ repositoryId, provider, nodeId, etag, failures }): BulkRow => [
      repositoryId,
      provider,
      nodeId,
      etag,
      0,
      failures,
    ],
  );
  await dialect.upsert(tx, TRACKING, rows);
  const histories = last.flatMap(({ repositoryId, historyDue }): BulkRow[] =>
    historyDue === undefined ? [] : [[repositoryId, historyDue]],
  );
  if (histories.length > 0) {
    const rows = dialect.rowsOf({ repository_id: "bigint", history_due: "bigint" }, histories);
    await sql`update tracking set history_due = due.history_due from (${rows}) as due
      where tracking.repository_id = due.repository_id and tracking.history_cursor is null`.execute(tx);
  }
  const isKept = ({ refreshInterval }: Appointment) => refreshInterval === undefined;
  const due = last.filter(isKept).map(({ repositoryId, dueAt }): BulkRow => [repositoryId, dueAt]);
  await dialect.updateRows(tx, DUE_TIMES, due);
  const intervals = last
    .filter((one) => !isKept(one))
    .map(
      ({ repositoryId, dueAt, refreshInterval }): BulkRow => [repositoryId, dueAt, refreshInterval ?? null],
    );
  await dialect.updateRows(tx, INTERVALS, intervals);
}

/** When to read the star history of a new repository: only on GitHub, and of repositories with more stars first. */
export function historyOf(kind: ForgeKind, stars: number, now: number): { historyDue?: number } {
  return kind === "github" ? { historyDue: now - Math.min(stars, 1_000_000) * 1_000 } : {};
}

/** Schedules repositories that are not scheduled yet, such as imported ones, evenly over `spreadMs`. Returns how many. */
export async function enroll(
  { dialect, write, read }: Database,
  { name: provider, kind }: Pick<Provider, "name" | "kind">,
  { now, spreadMs, limit }: { now: number; spreadMs: number; limit: number },
): Promise<number> {
  const unscheduled = await read
    .selectFrom("repositories")
    .select("id")
    .where("provider", "=", provider)
    .where("next_refresh_at", "is", null)
    .limit(1)
    .execute();
  if (unscheduled.length === 0) return 0;
  return dialect.exclusively(write, "catalogue", async (tx) => {
    const rows = await tx
      .selectFrom("repositories")
      .select(["id", "stars"])
      .where("provider", "=", provider)
      .where("next_refresh_at", "is", null)
      .limit(limit)
      .execute();
    const appointments = rows.map(
      ({ id, stars }, i): Appointment => ({
        repositoryId: id,
        provider,
        dueAt: now + Math.round((i / rows.length) * spreadMs),
        nodeId: null,
        etag: null,
        failures: 0,
        refreshInterval: FIRST_INTERVAL_MS,
        ...historyOf(kind, stars ?? 0, now),
      }),
    );
    await schedule(tx, dialect, appointments);
    return rows.length;
  });
}

/** When the next repository of a provider is due; null if none is scheduled. */
export async function nextDue({ read }: Database, provider: string): Promise<number | null> {
  const { rows } = await sql<{ at: number | null }>`select min(next_refresh_at) as at from repositories
    where provider = ${provider} and next_refresh_at is not null`.execute(read);
  const at = rows[0]?.at;
  return at === null || at === undefined ? null : Number(at);
}

/** Nothing is scheduled further ahead; a later time was written while the clock was wrong. */
const FURTHEST_MS = LATEST_MS + DAY_MS;

/** Repairs times that are too far ahead: such repositories become due now, and such leases end. */
export async function repairTimes(
  { dialect, write }: Database,
  provider: string,
  now: number,
): Promise<void> {
  const furthest = now + FURTHEST_MS;
  await dialect.exclusively(write, "catalogue", async (tx) => {
    await sql`update repositories set next_refresh_at = ${now}
      where provider = ${provider} and next_refresh_at > ${furthest}`.execute(tx);
    await sql`update tracking set history_due = ${now}
      where provider = ${provider} and history_due > ${furthest}`.execute(tx);
    await sql`update tracking set recheck_at = ${now}
      where provider = ${provider} and recheck_at > ${furthest}`.execute(tx);
    await sql`update tracking set leased_until = 0
      where provider = ${provider} and leased_until > 0 and leased_until > ${furthest}`.execute(tx);
    await sql`update walks set leased_until = 0 where provider = ${provider} and leased_until > ${furthest}`.execute(
      tx,
    );
  });
}
