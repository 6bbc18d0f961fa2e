/** The open requests: at most one per repository. All functions but `findOpen` belong into the caller's transaction. */
import { sql } from "kysely";
import { nameKey, splitFullName } from "../catalog/catalog.js";
import type { Db, Dialect, Tx } from "../database/database.js";
import { AppError } from "../errors.js";
import type { RepositoryAddress } from "../repository-addresses/repository-addresses.js";
import { createToken } from "../tokens.js";

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
  { provider, fullName }: RepositoryAddress,
  { isBatch, now }: { isBatch: boolean; now: number },
): Promise<OpenRequest | undefined> {
  const name = splitFullName(fullName);
  if (name === undefined) throw new AppError("INTERNAL", "The address names no repository.");
  const row = await tx
    .insertInto("track_requests")
    .values({
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
    })
    .onConflict((conflict) =>
      conflict.columns(["provider", "name_key"]).where("finished_at", "is", null).doNothing(),
    )
    .returning(["id", "public_id"])
    .executeTakeFirst();
  return row && { id: row.id, publicId: row.public_id, isBatch, repositoryId: null };
}

/** Makes an open request of a batch one of a person who waits for it. Undefined if there is no such request. */
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
