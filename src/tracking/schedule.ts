/** The schedule: writes when repositories are due, adds unscheduled ones, and repairs times from a wrong clock. */
import { sql } from "kysely";
import type { ForgeKind } from "../config/config.js";
import type { BulkRow, BulkTable, Database, Dialect, Tx } from "../database/database.js";
import type { Provider } from "../forges/forges.js";
import { DAY_MS, WEEK_MS } from "../lib/clock.js";
import { detailsInterval, LATEST_DETAILS_MS, LATEST_MS, spread } from "./cadence.js";

/** When a repository is due next, and the ids and ETag for its next refresh. */
export interface Appointment {
  repositoryId: number;
  provider: string;
  dueAt: number;
  nodeId: string | null;
  etag: string | null;
  failures: number;
  /** Scheduled time between two refreshes, in ms, which also decides how long a reading is fresh; absent: as before. */
  refreshInterval?: number;
  /** When its own record was read; absent: not this time. */
  detailedAt?: number;
  /** When its own record is due; null: never, as lists have all fields; absent: as before. */
  detailsDue?: number | null;
  /** true: follows from a list, so it ends no lease. The repository must have been scheduled before. */
  keepsLease?: boolean;
  /** Since when its forge reports it missing, unless an earlier time is stored; null: it does not; absent: as before. */
  missingSince?: number | null;
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
const KEEPING_LEASES: BulkTable = {
  table: "tracking",
  columns: { repository_id: "bigint", node_id: "text", etag: "text", failures: "bigint" },
  key: ["repository_id"],
};
const OWN_READINGS: BulkTable = {
  table: "tracking",
  columns: { repository_id: "bigint", detailed_at: "bigint", details_due: "bigint" },
  key: ["repository_id"],
};
const DETAILS_DUE: BulkTable = {
  table: "tracking",
  columns: { repository_id: "bigint", details_due: "bigint" },
  key: ["repository_id"],
};
export const DUE_TIMES: BulkTable = {
  table: "repositories",
  columns: { id: "bigint", next_refresh_at: "bigint" },
  key: ["id"],
};
const INTERVALS: BulkTable = {
  table: "repositories",
  columns: { id: "bigint", next_refresh_at: "bigint", refresh_interval: "bigint" },
  key: ["id"],
};
/** Interval of a repository with unknown growth. */
export const FIRST_INTERVAL_MS = DAY_MS;

/** Writes appointments and ends the leases, in the transaction that records the readings. */
export async function schedule(
  tx: Tx,
  dialect: Dialect,
  appointments: readonly Appointment[],
): Promise<void> {
  if (appointments.length === 0) return;
  // Two names may have turned out to be one repository; the last appointment wins.
  const last = [...new Map(appointments.map((one) => [one.repositoryId, one])).values()];
  const released = last.filter(({ keepsLease }) => keepsLease !== true);
  const rows = released.map(
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
  const kept = last.filter(({ keepsLease }) => keepsLease === true);
  await dialect.updateRows(
    tx,
    KEEPING_LEASES,
    kept.map(({ repositoryId, nodeId, etag, failures }): BulkRow => [repositoryId, nodeId, etag, failures]),
  );
  await scheduleDetails(tx, dialect, last);
  await scheduleMissing(tx, dialect, last);
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

async function scheduleDetails(
  tx: Tx,
  dialect: Dialect,
  appointments: readonly Appointment[],
): Promise<void> {
  const read: BulkRow[] = [];
  const due: BulkRow[] = [];
  for (const { repositoryId, detailedAt, detailsDue } of appointments) {
    if (detailsDue === undefined) continue;
    if (detailedAt === undefined) due.push([repositoryId, detailsDue]);
    else read.push([repositoryId, detailedAt, detailsDue]);
  }
  await dialect.updateRows(tx, OWN_READINGS, read);
  await dialect.updateRows(tx, DETAILS_DUE, due);
}

async function scheduleMissing(
  tx: Tx,
  dialect: Dialect,
  appointments: readonly Appointment[],
): Promise<void> {
  const back = appointments.filter(({ missingSince }) => missingSince === null);
  if (back.length > 0) {
    const ids = back.map(({ repositoryId }) => repositoryId);
    await sql`update tracking set missing_since = null
      where missing_since is not null and ${dialect.among(sql.ref("repository_id"), ids)}`.execute(tx);
  }
  const missing = appointments.flatMap(({ repositoryId, missingSince }): BulkRow[] =>
    typeof missingSince === "number" ? [[repositoryId, missingSince]] : [],
  );
  if (missing.length === 0) return;
  const rows = dialect.rowsOf({ repository_id: "bigint", since: "bigint" }, missing);
  await sql`update tracking set missing_since = missing.since from (${rows}) as missing
    where tracking.repository_id = missing.repository_id and tracking.missing_since is null`.execute(tx);
}

/** The part of an appointment that follows from reading the own record at `at`. `stretch`: see nextStretch. `chance`: from 0 to 1. */
export function afterOwnRecord(
  { listsAreComplete }: Pick<Provider, "listsAreComplete">,
  { at, stretch, chance }: { at: number; stretch: number; chance: number },
): Pick<Appointment, "detailedAt" | "detailsDue"> {
  return {
    detailedAt: at,
    detailsDue: listsAreComplete ? null : at + spread(detailsInterval(stretch), chance),
  };
}

/** When to read the star history of a new repository: only on GitHub, and of repositories with more stars first. */
export function historyOf(kind: ForgeKind, stars: number, now: number): { historyDue?: number } {
  return kind === "github" ? { historyDue: now - Math.min(stars, 1_000_000) * 1_000 } : {};
}

/** Schedules unscheduled repositories, such as imported ones, evenly over `spreadMs`. Returns how many. */
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

/** Nothing is scheduled further ahead: a later time was written while the clock was wrong. */
const FURTHEST_MS = LATEST_MS + DAY_MS;
const FURTHEST_DETAILS_MS = LATEST_DETAILS_MS + WEEK_MS;

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
    await sql`update tracking set details_due = ${now}
      where provider = ${provider} and details_due > ${now + FURTHEST_DETAILS_MS}`.execute(tx);
    await sql`update tracking set leased_until = 0
      where provider = ${provider} and leased_until > 0 and leased_until > ${furthest}`.execute(tx);
    await sql`update walks set leased_until = 0 where provider = ${provider} and leased_until > ${furthest}`.execute(
      tx,
    );
  });
}
