/** Known repositories with what their next refresh needs, and which worker may refresh them. */
import { type RawBuilder, sql } from "kysely";
import type { BulkRow, Database, Db, Dialect, Tx } from "../database/database.js";
import { DUE_TIMES } from "./schedule.js";

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
  /** End of the lease that it is claimed under, which no other claim of it has; 0: it is not claimed. */
  leasedUntil: number;
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

/** A repository of the catalogue, with the state of its schedule. Times in ms since 1970. */
export interface Known extends Claim {
  isScheduled: boolean;
  /** When it is due; null: it is not scheduled. */
  dueAt: number | null;
  /** Whether its forge still denied it when it was last requested by itself. */
  isDenied: boolean;
  /** When its own record was last read, and when it is due; null as in the table `tracking`. */
  detailedAt: number | null;
  detailsDue: number | null;
}

interface KnownRow extends ClaimRow {
  tracked: number | null;
  next_refresh_at: number | null;
  availability: string;
  detailed_at: number | null;
  details_due: number | null;
}

/** The repositories with these ids of a provider that are in the catalogue. */
export async function findKnown(
  db: Db,
  dialect: Dialect,
  { provider, ids }: { provider: string; ids: readonly string[] },
): Promise<Known[]> {
  const { rows } = await sql<KnownRow>`
    select r.id, r.provider_id, t.node_id, t.etag, r.owner, r.name, coalesce(t.failures, 0) as failures, r.stars,
      r.counted_at, t.repository_id as tracked, r.next_refresh_at, r.availability, t.detailed_at, t.details_due
    from repositories r left join tracking t on t.repository_id = r.id
    where r.provider = ${provider} and ${dialect.among(sql.ref("r.provider_id"), ids)}`.execute(db);
  return rows.map((row) => ({
    ...toClaim(row),
    isScheduled: row.tracked !== null,
    dueAt: row.next_refresh_at,
    // Without a failure it was an archive or another repository with its name that said so.
    isDenied: row.availability !== "AVAILABLE" && Number(row.failures) > 0,
    detailedAt: row.detailed_at,
    detailsDue: row.details_due,
  }));
}

/** A row as a claim, or as a repository that is not claimed. */
export function toClaim(row: ClaimRow, leasedUntil = 0): Claim {
  return {
    repositoryId: row.id,
    providerId: row.provider_id,
    nodeId: row.node_id,
    etag: row.etag,
    owner: row.owner,
    name: row.name,
    failures: Number(row.failures),
    stars: row.stars,
    countedAt: row.counted_at,
    leasedUntil,
  };
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
    return rows.map((row) => toClaim(row, leasedUntil));
  });
}

/**
 * The repositories of these claims that nobody else has claimed since, which nobody can before the transaction ends. A worker that
 * took longer than its lease must not record what it read: another one does that, or has done it.
 */
export async function stillClaimed(
  tx: Tx,
  dialect: Dialect,
  claims: readonly Pick<Claim, "repositoryId" | "leasedUntil">[],
): Promise<ReadonlySet<number>> {
  const leased = claims.filter(({ leasedUntil }) => leasedUntil > 0);
  const held = new Set(claims.map(({ repositoryId }) => repositoryId));
  if (leased.length === 0) return held;
  const ids = leased.map(({ repositoryId }) => repositoryId);
  const { rows } = await sql<{ id: number; leased_until: number }>`
    select repository_id as id, leased_until from tracking
    where ${dialect.among(sql.ref("repository_id"), ids)} order by repository_id ${dialect.lockRow}`.execute(
    tx,
  );
  const leases = new Map(rows.map((row) => [row.id, Number(row.leased_until)]));
  for (const { repositoryId, leasedUntil } of leased)
    if (leases.get(repositoryId) !== leasedUntil) held.delete(repositoryId);
  return held;
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
    const released = rows.map((row) => row.repository_id);
    await sql`update tracking set details_due = ${dueAt} where details_due < ${dueAt}
      and ${dialect.among(sql.ref("repository_id"), released)}`.execute(tx);
  });
}
