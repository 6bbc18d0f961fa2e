import { sql } from "kysely";
import { DAY_MS } from "../clock.js";
import type { BulkColumns, BulkRow, Database, Dialect, Tx } from "../database/database.js";
import type { ForgeKind } from "../forges.js";
import type { Provider } from "../providers/providers.js";
import { LATEST_MS } from "./cadence.js";

/** A repository that a worker has taken to refresh it. */
export interface Claim {
  repositoryId: number;
  /** null: imported from an archive that does not tell it. */
  providerId: string | null;
  nodeId: string | null;
  etag: string | null;
  owner: string;
  name: string;
  failures: number;
  stars: number | null;
  /** When its counts were last told. */
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

/** Which repositories are taken. Times in ms since 1970. */
export interface ClaimRequest {
  now: number;
  /** Due then or before. */
  dueBefore: number;
  /** Until when nobody else takes them. */
  leasedUntil: number;
  limit: number;
}

/** Takes repositories that are due, those that have waited longest first. */
export async function claimDue(
  { dialect, write }: Database,
  provider: string,
  { now, dueBefore, leasedUntil, limit }: ClaimRequest,
): Promise<Claim[]> {
  return write.transaction().execute(async (tx) => {
    const { rows } = await sql<ClaimRow>`
      select r.id, r.provider_id, t.node_id, t.etag, r.owner, r.name, t.failures, r.stars, r.counted_at
      from repositories r join tracking t on t.repository_id = r.id
      where r.provider = ${provider} and r.next_refresh_at <= ${dueBefore} and t.leased_until <= ${now}
      order by r.next_refresh_at limit ${limit} ${dialect.lockFree("t")}`.execute(tx);
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
 * Gives repositories back that were taken until `leasedUntil` and not refreshed. They are as due as before; or due at
 * `dueAt`, so that others come before them.
 */
export async function release(
  { dialect, write }: Database,
  ids: readonly number[],
  leasedUntil: number,
  dueAt?: number,
): Promise<void> {
  if (ids.length === 0) return;
  await dialect.exclusively(write, "catalogue", async (tx) => {
    const { rows } = await sql<{ repository_id: number }>`update tracking set leased_until = 0
      where leased_until = ${leasedUntil} and ${dialect.among(sql.ref("repository_id"), ids)}
      returning repository_id`.execute(tx);
    if (dueAt === undefined || rows.length === 0) return;
    const due = rows.map((row): BulkRow => [row.repository_id, dueAt]);
    await dialect.updateRows(tx, "repositories", { id: "bigint", next_refresh_at: "bigint" }, 1, due);
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
  /** From when on its past is to be asked for, if none of it has been; absent: as before. */
  historyDue?: number;
}

const TRACKING_COLUMNS: BulkColumns = {
  repository_id: "bigint",
  provider: "text",
  node_id: "text",
  etag: "text",
  leased_until: "bigint",
  failures: "bigint",
};

/** Writes appointments, in the transaction that records what was found; what was taken is free again. */
export async function schedule(
  tx: Tx,
  dialect: Dialect,
  appointments: readonly Appointment[],
): Promise<void> {
  if (appointments.length === 0) return;
  // A repository can occur twice where two names turned out to be one; the last one stands.
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
  await dialect.upsert(tx, "tracking", TRACKING_COLUMNS, ["repository_id"], rows);
  for (const { repositoryId, historyDue } of last) {
    if (historyDue === undefined) continue;
    await tx
      .updateTable("tracking")
      .set({ history_due: historyDue })
      .where("repository_id", "=", repositoryId)
      .where("history_cursor", "is", null)
      .execute();
  }
  const due = last.map(({ repositoryId, dueAt }): BulkRow => [repositoryId, dueAt]);
  await dialect.updateRows(tx, "repositories", { id: "bigint", next_refresh_at: "bigint" }, 1, due);
}

/** When the past of a new repository is due: only GitHub tells it, and that of those with more stars comes first. */
export function historyOf(kind: ForgeKind, stars: number, now: number): { historyDue?: number } {
  return kind === "github" ? { historyDue: now - Math.min(stars, 1_000_000) * 1_000 } : {};
}

/**
 * Takes up repositories of a provider that nobody has scheduled, such as imported ones: they are due over the next
 * `spreadMs`, evenly. Returns how many.
 */
export async function enroll(
  { dialect, write, read }: Database,
  { name: provider, kind }: Pick<Provider, "name" | "kind">,
  now: number,
  spreadMs: number,
  limit: number,
): Promise<number> {
  const waiting = await read
    .selectFrom("repositories")
    .select("id")
    .where("provider", "=", provider)
    .where("next_refresh_at", "is", null)
    .limit(1)
    .execute();
  if (waiting.length === 0) return 0;
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
        ...historyOf(kind, stars ?? 0, now),
      }),
    );
    await schedule(tx, dialect, appointments);
    return rows.length;
  });
}

/** When the next repository of a provider is due; null where none is scheduled. Lateness is its distance from now. */
export async function nextDue({ read }: Database, provider: string): Promise<number | null> {
  const { rows } = await sql<{ at: number | null }>`select min(next_refresh_at) as at from repositories
    where provider = ${provider} and next_refresh_at is not null`.execute(read);
  const at = rows[0]?.at;
  return at === null || at === undefined ? null : Number(at);
}

/** Nothing is put off for longer; what lies further ahead was written by a clock that was wrong. */
const FURTHEST_MS = LATEST_MS + DAY_MS;

/** Makes due at once what is due further ahead than anything can be, and frees what is taken for as long. */
export async function mendTimes({ dialect, write }: Database, provider: string, now: number): Promise<void> {
  const furthest = now + FURTHEST_MS;
  await dialect.exclusively(write, "catalogue", async (tx) => {
    await sql`update repositories set next_refresh_at = ${now}
      where provider = ${provider} and next_refresh_at > ${furthest}`.execute(tx);
    await sql`update tracking set history_due = ${now}
      where provider = ${provider} and history_due > ${furthest}`.execute(tx);
    await sql`update tracking set leased_until = 0
      where provider = ${provider} and leased_until > 0 and leased_until > ${furthest}`.execute(tx);
    await sql`update walks set leased_until = 0 where provider = ${provider} and leased_until > ${furthest}`.execute(
      tx,
    );
  });
}
