/** Claims: repositories that are due, the leases under which workers read them, and the ids and ETags to read them with. */
import { sql } from "kysely";
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
  /** End of its lease, which identifies the claim; 0: not claimed. */
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

/** A repository of the catalogue, with the state of its schedule. Times in ms since 1970. */
export interface Known extends Claim {
  isScheduled: boolean;
  /** When it is due; null: it is not scheduled. */
  dueAt: number | null;
  /** Whether its forge denied it when its own record was last requested. */
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

/**
 * Where it is stored when a repository is due: for a refresh, for a reading of its own record (lists keep counts fresh, but some lack
 * fields), or for a second reading of doubtful counts.
 */
const DUE = {
  refresh: { table: "repositories", alias: "r", column: "next_refresh_at" },
  details: { table: "tracking", alias: "t", column: "details_due" },
  recheck: { table: "tracking", alias: "t", column: "recheck_at" },
} as const;
export type DueFor = keyof typeof DUE;

/** Which repositories to claim. Times in ms since 1970. */
export interface ClaimRequest {
  now: number;
  /** Due at this time or earlier; default: now. */
  dueBefore?: number;
  /** End of the lease: until then no other worker claims them. */
  leasedUntil: number;
  limit: number;
  /** Default: a refresh. */
  dueFor?: DueFor;
}

/** Claims due repositories, those due longest first, unless they are claimed. */
export function claimDue(
  { dialect, write }: Database,
  provider: string,
  { now, dueBefore = now, leasedUntil, limit, dueFor = "refresh" }: ClaimRequest,
): Promise<Claim[]> {
  const { alias, column } = DUE[dueFor];
  const dueAt = sql.ref(`${alias}.${column}`);
  return write.transaction().execute(async (tx) => {
    const { rows } = await sql<ClaimRow>`
      select r.id, r.provider_id, t.node_id, t.etag, r.owner, r.name, t.failures, r.stars, r.counted_at
      from repositories r join tracking t on t.repository_id = r.id
      where ${sql.ref(`${alias}.provider`)} = ${provider} and ${dueAt} <= ${dueBefore} and t.leased_until <= ${now}
      order by ${dueAt} limit ${limit} ${dialect.lockFree("t")}`.execute(tx);
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

/** When the next repository of a provider is due; null if none is scheduled. */
export async function nextDue(
  { read }: Database,
  provider: string,
  dueFor: DueFor = "refresh",
): Promise<number | null> {
  const { table, column } = DUE[dueFor];
  const dueAt = sql.ref(column);
  const { rows } = await sql<{ at: number | null }>`select min(${dueAt}) as at from ${sql.table(table)}
    where provider = ${provider} and ${dueAt} is not null`.execute(read);
  const at = rows[0]?.at ?? null;
  return at === null ? null : Number(at);
}

/**
 * The repositories of these claims that no other worker has claimed since; none can before the transaction ends. A worker that took
 * longer than its lease must not record its readings: another one records its own.
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

/** The present form of GitHub's node ids, such as `R_kgDOAA`. The form before it is Base64 of words. */
const PRESENT_NODE_ID = /^[A-Z]{1,4}_/;

/**
 * The node id to keep of a repository: the one just sent, but never one of the old form instead of one of the present form. GitHub
 * promises the present form over GraphQL only, and its queries soon accept no other. Other forges send null.
 */
export function keptNodeId(known: string | null, sent: string | null): string | null {
  if (sent === null) return known;
  return known !== null && PRESENT_NODE_ID.test(known) && !PRESENT_NODE_ID.test(sent) ? known : sent;
}
