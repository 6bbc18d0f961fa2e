/**
 * The rows of requests to forges: repositories to track, answers to questions, and the links of a list. A repository
 * has at most one open row, which who wants it later joins. The worker takes the next one from here.
 */
import { type Insertable, type RawBuilder, type Selectable, sql, type Updateable } from "kysely";
import {
  type Database,
  type Db,
  type Dialect,
  deleteOld,
  readNumber,
  type Tx,
  type WantedTable,
} from "../../database/database.js";
import { DAY_MS, HOUR_MS } from "../../lib/clock.js";
import { createToken } from "../../lib/tokens.js";
import { fullNameKey, type RepositoryAddress } from "../../repositories/repositories.js";

/** Repositories that wait for one forge to look them up: of people, and of batches. */
export const MAX_OPEN = 1_000;
export const MAX_BATCH_OPEN = 10_000;
/** Nothing is postponed for longer: a later time was written while the clock was wrong. */
export const FURTHEST_MS = HOUR_MS;
/** How long finished rows are kept, and open ones wait for a worker. */
const KEPT_MS = 7 * DAY_MS;

export type Wanted = Selectable<WantedTable>;

const LOOKUP = sql`t.kind = 'repository' and t.repository_id is null`;

/**
 * Open rows: requests for repositories; those to look up, those of them that were not tried yet, which a search may find, and the others,
 * with those of people, who wait for no search, also with the remaining requests; questions; and READMEs.
 */
const KINDS = {
  repositories: sql`t.kind = 'repository'`,
  lookups: LOOKUP,
  untried: sql`${LOOKUP} and t.attempts = 0`,
  triedLookups: sql`${LOOKUP} and (t.attempts > 0 or t.is_batch = 0)`,
  tried: sql`t.kind = 'repository' and (t.repository_id is not null or t.attempts > 0 or t.is_batch = 0)`,
  questions: sql`t.kind in ('owner', 'name')`,
  readmes: sql`t.kind = 'readme'`,
} as const;
export type WantedKind = keyof typeof KINDS;

const openOf = (provider: string, kind: WantedKind) =>
  sql`t.provider = ${provider} and t.finished_at is null and ${KINDS[kind]}`;
const dueOf = (now: number) => sql`(t.retry_at <= ${now} or t.retry_at > ${now + FURTHEST_MS})`;

async function select(db: Db, condition: RawBuilder<unknown>): Promise<Wanted[]> {
  const { rows } = await sql<Wanted>`select t.* from wanted t where ${condition}`.execute(db);
  return rows;
}

function count(db: Db, condition: RawBuilder<unknown>): Promise<number> {
  return readNumber(db, sql`select count(*) from wanted t where ${condition}`);
}

/** Lookups of people, first pages of their histories, lookups of batches, later pages. */
const ORDER = sql`case when t.repository_id is null then 2 * t.is_batch when t.pages = 0 then 1 else 3 end`;

/** The next due rows of a provider: all counts, and the newest page of a history, come before all older pages. */
export function nextWanted(
  read: Db,
  provider: string,
  { now, limit = 1, kind }: { now: number; limit?: number; kind: WantedKind },
): Promise<Wanted[]> {
  const order = sql`order by ${ORDER}, t.pages, t.id limit ${limit}`;
  return select(read, sql`${openOf(provider, kind)} and ${dueOf(now)} ${order}`);
}

export const countOpen = (db: Db, provider: string, kind: WantedKind): Promise<number> =>
  count(db, openOf(provider, kind));

/** How many open lookups of a kind come before this one. */
export function countAhead(db: Db, { provider, is_batch, id }: Wanted, kind: WantedKind): Promise<number> {
  const isBefore = sql`(t.is_batch < ${is_batch} or t.is_batch = ${is_batch} and t.id < ${id})`;
  return count(db, sql`${openOf(provider, kind)} and ${isBefore}`);
}

/** How many first pages of histories come before the lookups of batches. */
export function countFirstPages(db: Db, provider: string): Promise<number> {
  return count(db, sql`${openOf(provider, "repositories")} and t.repository_id is not null and t.pages = 0`);
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
    from wanted t where ${openOf(provider, "repositories")}`.execute(read);
  const [row] = rows;
  return { due: Number(row?.due ?? 0), nextAt: row?.nextAt == null ? null : Number(row.nextAt) };
}

/** The row, locked, if it is still open. */
export async function lockOpen(tx: Tx, dialect: Dialect, id: number): Promise<Wanted | undefined> {
  const [row] = await select(tx, sql`t.id = ${id} and t.finished_at is null ${dialect.lockRow}`);
  return row;
}

/** Changes a row unless it has ended. */
export async function updateWanted(tx: Tx, id: number, change: Updateable<WantedTable>): Promise<void> {
  const update = tx.updateTable("wanted").set(change).where("id", "=", id);
  await update.where("finished_at", "is", null).execute();
}

/** Removes the open requests for a repository. */
export async function withdraw(
  tx: Tx,
  { provider, fullName, id }: RepositoryAddress & { id: number },
): Promise<void> {
  await sql`delete from wanted where provider = ${provider} and finished_at is null
    and kind = 'repository' and (text_key = ${fullNameKey(fullName)} or repository_id = ${id})`.execute(tx);
}

/** The request for a repository that is open, or else the last that ended after `endedAfter`. */
export async function findRequest(
  db: Db,
  { provider, fullName }: RepositoryAddress,
  endedAfter = Number.POSITIVE_INFINITY,
): Promise<Wanted | undefined> {
  const row = await db
    .selectFrom("wanted")
    .selectAll()
    .where("kind", "=", "repository")
    .where("provider", "=", provider)
    .where("text_key", "=", fullNameKey(fullName))
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  const isWanted = row !== undefined && (row.finished_at === null || row.finished_at > endedAfter);
  return isWanted ? row : undefined;
}

type NewWanted = Pick<Insertable<WantedTable>, "kind" | "provider" | "text"> & {
  requested_at: number;
} & Partial<Insertable<WantedTable>>;

/** Adds rows, but for repositories with an open one. Returns those that were added. */
export async function insertWanted(
  tx: Tx,
  rows: readonly NewWanted[],
): Promise<{ id: number; public_id: string }[]> {
  if (rows.length === 0) return [];
  const values = rows.map((row) => ({
    public_id: createToken("sidt"),
    text_key: fullNameKey(row.text),
    is_batch: 0,
    retry_at: 0,
    attempts: 0,
    pages: 0,
    ...row,
  }));
  return tx
    .insertInto("wanted")
    .values(values)
    .onConflict((conflict) => conflict.doNothing())
    .returning(["id", "public_id"])
    .execute();
}

interface WantedRepositories {
  addresses: readonly RepositoryAddress[];
  /** Whether they come after the requests of people. Otherwise those of a batch are taken out of it. */
  isBatch: boolean;
  /** The list that new ones belong to. */
  listId: number | null;
  /** A watchlist to add them to. */
  watchlistId: number | undefined;
  now: number;
}

/**
 * Adds repositories, by joining their open rows. Returns the open row of each address, undefined if the queue has no room for it,
 * and how many rows were added or taken out of a batch.
 */
export async function wantRepositories(
  tx: Tx,
  dialect: Dialect,
  { addresses, isBatch, listId, watchlistId, now }: WantedRepositories,
): Promise<{ rows: (Wanted | undefined)[]; added: number }> {
  const found = new Map<string, Wanted>();
  let added = 0;
  for (const [provider, own] of Map.groupBy(addresses, (address) => address.provider)) {
    const keys = own.map(({ fullName }) => fullNameKey(fullName));
    const among = sql`${openOf(provider, "repositories")} and ${dialect.among(sql.ref("t.text_key"), keys)}`;
    const readOpen = () => select(tx, sql`${among} ${dialect.lockRow}`);
    const joined = new Set(
      (await readOpen()).flatMap((row) => (row.is_batch <= Number(isBatch) ? [row.text_key] : [])),
    );
    const others = own.filter(({ fullName }) => !joined.has(fullNameKey(fullName)));
    const waiting = sql`${openOf(provider, "lookups")} and t.is_batch = ${Number(isBatch)}`;
    const most = isBatch ? MAX_BATCH_OPEN : MAX_OPEN;
    const room = others.length === 0 ? 0 : Math.max(0, most - (await count(tx, waiting)));
    const fitting = others.slice(0, room);
    if (!isBatch && fitting.length > 0) {
      const { numAffectedRows = 0n } = await sql`update wanted as t set is_batch = 0
        where ${among} and t.is_batch = 1`.execute(tx);
      added += Number(numAffectedRows);
    }
    const common = { kind: "repository", is_batch: Number(isBatch), list_id: listId, requested_at: now };
    const inserted = await insertWanted(
      tx,
      fitting.map(({ fullName: text }) => ({ ...common, provider, text })),
    );
    added += inserted.length;
    // Another process may have inserted some in between.
    for (const row of await readOpen()) {
      if (row.is_batch > Number(isBatch)) continue;
      found.set(`${provider} ${row.text_key}`, row);
      const lists = watchlistsOf(row);
      if (watchlistId === undefined || row.repository_id !== null || lists.includes(watchlistId)) continue;
      await updateWanted(tx, row.id, { watchlists: JSON.stringify([...lists, watchlistId]) });
    }
  }
  const rows = addresses.map((one) => found.get(`${one.provider} ${fullNameKey(one.fullName)}`));
  return { rows, added };
}

export function watchlistsOf({ watchlists }: Wanted): number[] {
  return watchlists === null ? [] : JSON.parse(watchlists);
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
    from wanted where finished_at is null and kind = 'repository' group by provider order by provider`.execute(
    db,
  );
  return rows.map(({ provider, people, batch, oldest }) => ({
    provider: String(provider),
    people: Number(people),
    batch: Number(batch),
    oldest: Number(oldest),
  }));
}

/** Removes rows that ended a week ago, and gives up those open for a week: the backfill completes such histories. */
export async function removeOldRequests({ write }: Database, now: number): Promise<void> {
  const before = now - KEPT_MS;
  await sql`update wanted set finished_at = ${now},
      failure = case when repository_id is null then 'unreachable' end
    where finished_at is null and requested_at < ${before}`.execute(write);
  await deleteOld(write, { table: "wanted", column: "finished_at", before });
}
