/** The rows of requests to track: at most one open request per repository. The worker takes the next one from here. */
import { type RawBuilder, type Selectable, sql, type Updateable } from "kysely";
import {
  type Database,
  type Db,
  type Dialect,
  deleteOld,
  readNumber,
  type TrackRequestTable,
  type Tx,
} from "../../database/database.js";
import { DAY_MS, HOUR_MS } from "../../lib/clock.js";
import { createToken } from "../../lib/tokens.js";
import { fullNameKey, type RepositoryAddress } from "../../repositories/repositories.js";

/** Maximum number of batch requests that wait for one forge. */
export const MAX_BATCH_OPEN = 10_000;
/** Nothing is postponed for longer: a later time was written while the clock was wrong. */
const FURTHEST_MS = HOUR_MS;
/** How long finished requests are kept, and open ones wait for a worker. */
const KEPT_MS = 7 * DAY_MS;

export type OpenRequest = Selectable<TrackRequestTable>;

const openOf = (provider: string) => sql`t.provider = ${provider} and t.finished_at is null`;
const dueOf = (now: number) => sql`(t.retry_at <= ${now} or t.retry_at > ${now + FURTHEST_MS})`;

/** The open requests of a provider that meet the rest of a statement. */
async function select(db: Db, provider: string, rest: RawBuilder<unknown>): Promise<OpenRequest[]> {
  const { rows } = await sql<OpenRequest>`select t.* from track_requests t
    where ${openOf(provider)} ${rest}`.execute(db);
  return rows;
}

/** Requests to look up; those that were not tried yet, which a search may find; and the others, with those of people, who wait for no search. */
const KINDS = {
  all: sql`true`,
  lookups: sql`t.repository_id is null`,
  untried: sql`t.repository_id is null and t.attempts = 0`,
  triedLookups: sql`t.repository_id is null and (t.attempts > 0 or t.is_batch = 0)`,
  tried: sql`(t.repository_id is not null or t.attempts > 0 or t.is_batch = 0)`,
} as const;
export type RequestKind = keyof typeof KINDS;

/** Lookups of people, first pages of their histories, lookups of batches, later pages. */
const ORDER = sql`case when t.repository_id is null then 2 * t.is_batch when t.pages = 0 then 1 else 3 end`;

/** The next due requests of a provider: the counts of everything, and what is newest of a history, come before all older pages. */
export function dueRequests(
  read: Db,
  provider: string,
  { now, limit, kind = "all" }: { now: number; limit: number; kind?: RequestKind },
): Promise<OpenRequest[]> {
  return select(
    read,
    provider,
    sql`and ${dueOf(now)} and ${KINDS[kind]} order by ${ORDER}, t.pages, t.id limit ${limit}`,
  );
}

/** How many open lookups of a kind come before this one. */
export function countAhead(db: Db, row: OpenRequest, kind: RequestKind): Promise<number> {
  const { provider, is_batch, id } = row;
  const ahead = sql`select count(*) from track_requests t where ${openOf(provider)} and ${KINDS[kind]}
    and (t.is_batch < ${is_batch} or t.is_batch = ${is_batch} and t.id < ${id})`;
  return readNumber(db, ahead);
}

/** How many first pages of histories come before the lookups of batches. */
export function countFirstPages(db: Db, provider: string): Promise<number> {
  const first = sql`select count(*) from track_requests t
    where ${openOf(provider)} and t.repository_id is not null and t.pages = 0`;
  return readNumber(db, first);
}

/** The number of due requests of a provider, and when the next one is due; null: none is open. */
export async function countDueRequests(
  read: Db,
  provider: string,
  now: number,
): Promise<{ due: number; nextAt: number | null }> {
  const { rows } = await sql<{ due: number | null; nextAt: number | null }>`
    select sum(case when ${dueOf(now)} then 1 else 0 end) as due,
      min(case when ${dueOf(now)} then t.requested_at else t.retry_at end) as ${sql.ref("nextAt")}
    from track_requests t where ${openOf(provider)}`.execute(read);
  const [row] = rows;
  return { due: Number(row?.due ?? 0), nextAt: row?.nextAt == null ? null : Number(row.nextAt) };
}

/** Changes a request unless it has ended. */
export async function updateRequest(
  tx: Tx,
  id: number,
  change: Updateable<TrackRequestTable>,
): Promise<void> {
  await tx
    .updateTable("track_requests")
    .set(change)
    .where("id", "=", id)
    .where("finished_at", "is", null)
    .execute();
}

/** Whether a request still waits for what it asked for. */
export async function isOpen(tx: Tx, id: number): Promise<boolean> {
  const row = await tx
    .selectFrom("track_requests")
    .select("id")
    .where("id", "=", id)
    .where("finished_at", "is", null)
    .executeTakeFirst();
  return row !== undefined;
}

/** Removes the open requests for a repository. */
export async function withdraw(
  tx: Tx,
  { provider, fullName, id }: RepositoryAddress & { id: number },
): Promise<void> {
  await tx
    .deleteFrom("track_requests")
    .where("provider", "=", provider)
    .where("finished_at", "is", null)
    .where((it) => it.or([it("name_key", "=", fullNameKey(fullName)), it("repository_id", "=", id)]))
    .execute();
}

/** Returns and forgets the watchlists that the repository of a request is to be added to. */
export async function takeWatchlists(tx: Tx, id: number): Promise<number[]> {
  const rows = await tx
    .deleteFrom("track_request_lists")
    .where("request_id", "=", id)
    .returning("watchlist_id")
    .execute();
  return rows.map(({ watchlist_id }) => watchlist_id);
}

export async function findOpen(
  db: Db,
  { provider, fullName }: RepositoryAddress,
): Promise<OpenRequest | undefined> {
  const [row] = await select(db, provider, sql`and t.name_key = ${fullNameKey(fullName)}`);
  return row;
}

/** The last request for a repository that ended after `after`. */
export async function findEnded(
  db: Db,
  { provider, fullName }: RepositoryAddress,
  after: number,
): Promise<OpenRequest | undefined> {
  return db
    .selectFrom("track_requests")
    .selectAll()
    .where("finished_at", ">", after)
    .where("provider", "=", provider)
    .where("name_key", "=", fullNameKey(fullName))
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
}

/** Adds requests, but for repositories with an open one. Returns the ids of those that were added. */
export async function insertRequests(
  tx: Tx,
  addresses: readonly RepositoryAddress[],
  { isBatch, now, listId = null }: { isBatch: boolean; now: number; listId?: number | null },
): Promise<string[]> {
  if (addresses.length === 0) return [];
  const rows = await tx
    .insertInto("track_requests")
    .values(
      addresses.map(({ provider, fullName }) => ({
        public_id: createToken("sidt"),
        provider,
        full_name: fullName,
        name_key: fullNameKey(fullName),
        is_batch: isBatch ? 1 : 0,
        requested_at: now,
        retry_at: 0,
        attempts: 0,
        failing_since: null,
        repository_id: null,
        pages: 0,
        failure: null,
        finished_at: null,
        list_id: listId,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(["provider", "name_key"]).where("finished_at", "is", null).doNothing(),
    )
    .returning("public_id")
    .execute();
  return rows.map(({ public_id }) => public_id);
}

/**
 * Queues repositories after the requests of people, and joins open requests for them. At most MAX_BATCH_OPEN of a provider wait.
 * `listId`: the list that new requests belong to. Returns the open request of each address; undefined: there was no room.
 */
export async function queueBatch(
  tx: Tx,
  dialect: Dialect,
  { addresses, now, listId }: { addresses: readonly RepositoryAddress[]; now: number; listId: number | null },
): Promise<(OpenRequest | undefined)[]> {
  const requests = new Map<string, OpenRequest>();
  for (const [provider, own] of Map.groupBy(addresses, (address) => address.provider)) {
    const keys = own.map(({ fullName }) => fullNameKey(fullName));
    const readOpen = () =>
      select(tx, provider, sql`and ${dialect.among(sql.ref("t.name_key"), keys)} ${dialect.lockRow}`);
    const open = new Set((await readOpen()).map((request) => request.name_key));
    const room = Math.max(0, MAX_BATCH_OPEN - (await countWaiting(tx, provider, true)));
    const wanted = own.filter(({ fullName }) => !open.has(fullNameKey(fullName))).slice(0, room);
    await insertRequests(tx, wanted, { isBatch: true, now, listId });
    // Another process may have inserted some in between.
    for (const request of await readOpen()) requests.set(`${provider} ${request.name_key}`, request);
  }
  return addresses.map(({ provider, fullName }) => requests.get(`${provider} ${fullNameKey(fullName)}`));
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
    .where("name_key", "=", fullNameKey(fullName))
    .where("finished_at", "is", null)
    .where("is_batch", "=", 1)
    .returning("public_id")
    .executeTakeFirst();
  return row?.public_id;
}

export function countWaiting(tx: Tx, provider: string, isBatch: boolean): Promise<number> {
  const select = sql`select count(*) from track_requests t
    where ${openOf(provider)} and t.is_batch = ${isBatch ? 1 : 0} and t.repository_id is null`;
  return readNumber(tx, select);
}

export interface OpenRequests {
  provider: string;
  /** Of people who wait, and of lists. */
  people: number;
  batch: number;
  oldest: number;
}

/** Walks an index of the open requests, whose number is bounded. */
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

/** Removes what ended a week ago, and gives up what is open for a week: the backfill reads the rest of such histories. */
export async function removeOldRequests({ write }: Database, now: number): Promise<void> {
  const before = now - KEPT_MS;
  await deleteOld(write, { table: "track_lists", column: "requested_at", before });
  await deleteOld(write, { table: "track_questions", column: "asked_at", before });
  await sql`update track_requests set finished_at = ${now},
      failure = case when repository_id is null then 'unreachable' end
    where finished_at is null and requested_at < ${before}`.execute(write);
  await deleteOld(write, { table: "track_requests", column: "finished_at", before });
}
