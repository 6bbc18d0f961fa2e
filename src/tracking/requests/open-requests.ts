/** The open requests: at most one per repository. Functions that add or change some run in the caller's transaction. */
import { sql } from "kysely";
import { type Database, type Db, type Dialect, deleteOld, type Tx } from "../../database/database.js";
import { DAY_MS } from "../../lib/clock.js";
import { AppError } from "../../lib/errors.js";
import { createToken } from "../../lib/tokens.js";
import type { RepositoryAddress } from "../../repositories/repositories.js";
import { nameKey, splitFullName } from "../../repositories/repositories.js";

/** An open request. */
export interface OpenRequest {
  id: number;
  publicId: string;
  isBatch: boolean;
  /** Once it is recorded, while its history is read. */
  repositoryId: number | null;
}

/** The open request for a repository. `locked`: stays as it is until the end of the transaction. */
export async function findOpen(
  db: Db,
  { provider, fullName }: RepositoryAddress,
  locked?: Pick<Dialect, "lockRow">,
): Promise<OpenRequest | undefined> {
  const { rows } = await sql<{
    id: number;
    public_id: string;
    is_batch: number;
    repository_id: number | null;
  }>`select id, public_id, is_batch, repository_id from track_requests
    where provider = ${provider} and name_key = ${fullName.toLowerCase()} and finished_at is null
    ${locked?.lockRow ?? sql``}`.execute(db);
  const [row] = rows;
  return (
    row && {
      id: row.id,
      publicId: row.public_id,
      isBatch: row.is_batch === 1,
      repositoryId: row.repository_id,
    }
  );
}

/** Adds a request; undefined if there is an open one for the repository. */
export async function insertRequest(
  tx: Tx,
  address: RepositoryAddress,
  { isBatch, now }: { isBatch: boolean; now: number },
): Promise<OpenRequest | undefined> {
  const [row] = await insertRows(tx, [newRow(address, { isBatch, now, listId: null })]);
  return row && { id: row.id, publicId: row.public_id, isBatch, repositoryId: null };
}

/** Adds the requests of a list, but for those that are open. Returns their number. */
export async function insertRequests(
  tx: Tx,
  addresses: readonly RepositoryAddress[],
  { now, listId }: { now: number; listId: number },
): Promise<number> {
  if (addresses.length === 0) return 0;
  const rows = addresses.map((address) => newRow(address, { isBatch: true, now, listId }));
  return (await insertRows(tx, rows)).length;
}

function insertRows(tx: Tx, rows: readonly ReturnType<typeof newRow>[]) {
  return tx
    .insertInto("track_requests")
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(["provider", "name_key"]).where("finished_at", "is", null).doNothing(),
    )
    .returning(["id", "public_id"])
    .execute();
}

function newRow(
  { provider, fullName }: RepositoryAddress,
  { isBatch, now, listId }: { isBatch: boolean; now: number; listId: number | null },
) {
  const name = splitFullName(fullName);
  if (name === undefined) throw new AppError("INTERNAL", "The address names no repository.");
  return {
    public_id: createToken("sidt"),
    provider,
    full_name: fullName,
    name_key: nameKey(name.owner, name.name),
    is_batch: isBatch ? 1 : 0,
    requested_at: now,
    leased_until: 0,
    attempts: 0,
    failing_since: null,
    repository_id: null,
    pages: 0,
    failure: null,
    finished_at: null,
    list_id: listId,
  };
}

/** Turns an open request of a batch into one of a person. Returns its id; undefined: there is no such request. */
export async function takeFromBatch(
  tx: Tx,
  { provider, fullName }: RepositoryAddress,
): Promise<string | undefined> {
  const row = await tx
    .updateTable("track_requests")
    .set({ is_batch: 0 })
    .where("provider", "=", provider)
    .where("name_key", "=", fullName.toLowerCase())
    .where("finished_at", "is", null)
    .where("is_batch", "=", 1)
    .returning("public_id")
    .executeTakeFirst();
  return row?.public_id;
}

/** Number of requests that wait for their lookup, of people or of batches. */
export async function countWaiting(tx: Tx, provider: string, isBatch: 0 | 1): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`select count(*) as waiting from track_requests
    where provider = ${provider} and is_batch = ${isBatch} and finished_at is null
      and repository_id is null`.execute(tx);
  return Number(rows[0]?.waiting ?? 0);
}

/** Open requests of one forge. */
export interface OpenRequests {
  provider: string;
  /** Of people who wait, and of lists. */
  people: number;
  batch: number;
  /** When the oldest was requested. */
  oldest: number;
}

/** Walks an index of the open requests, of which there are a bounded number. */
export async function readOpenRequests(db: Db): Promise<OpenRequests[]> {
  const { rows } = await sql<Record<keyof OpenRequests, string | number>>`select provider,
      sum(1 - is_batch) as people, sum(is_batch) as batch, min(requested_at) as oldest
    from track_requests where finished_at is null group by provider order by provider`.execute(db);
  return rows.map(({ provider, people, batch, oldest }) => ({
    provider: String(provider),
    people: Number(people),
    batch: Number(batch),
    oldest: Number(oldest),
  }));
}

/** How long finished requests are kept, and open ones wait for a worker. */
const KEPT_MS = 7 * DAY_MS;

/**
 * Removes requests that finished a week ago and lists of that age, and gives up requests that no worker has finished in a week; the
 * backfill reads the rest of their histories.
 */
export async function removeOldRequests({ write }: Database, now: number): Promise<void> {
  const before = now - KEPT_MS;
  await deleteOld(write, { table: "track_lists", column: "requested_at", before });
  await sql`update track_requests set finished_at = ${now},
      failure = case when repository_id is null then 'unreachable' end
    where finished_at is null and requested_at < ${before}`.execute(write);
  await deleteOld(write, { table: "track_requests", column: "finished_at", before });
}
