/** Watchlists as they are stored: their rows and items, and the tokens that lead to them. */
import { sql } from "kysely";
import { bulkOf, type Db, type Dialect, type Tx } from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { hashToken, tokenPrefix } from "../lib/tokens.js";
import { remainingIds } from "../repositories/repositories.js";

/** Maximum number of repositories in a list. */
export const MAX_ITEMS = 500;
export const DEFAULT_NAME = "Watchlist";

/**
 * Addresses one list and proves the right to it: a token for a list without an owner, or the account that owns its one list.
 * Every account has a list from the start; it is stored with its first change.
 */
export type WatchlistAccess = { token: string } | { accountId: string };

interface WatchlistItem {
  repositoryId: number;
  addedAt: number;
}

export interface Watchlist {
  /** 0 for an account that has not saved anything yet: no stored list has this id. Its times are 0 too. */
  id: number;
  name: string;
  /** Oldest first. */
  items: WatchlistItem[];
  /** False for access by the share token, which only reads. */
  canEdit: boolean;
  /** Grows with every change. */
  version: number;
  createdAt: number;
  updatedAt: number;
  /** When it is deleted unless somebody opens it; undefined for the list of an account, which is kept. */
  expiresAt: number | undefined;
}

/** A new list with its tokens, which cannot be read again later. */
export interface CreatedWatchlist {
  watchlist: Watchlist;
  token: string;
  shareToken: string;
}

/** Whether a change may proceed on a list at this version (If-Match). */
export type Precondition = (version: number) => boolean;

/** Thrown when a list is to hold repositories that do not exist. Nothing has been changed then. */
export class UnknownRepositories extends AppError {
  /** Indexes of their ids in the list passed in. */
  readonly indexes: readonly number[];

  constructor(indexes: readonly number[]) {
    super("VALIDATION_FAILED", "no repository has this id");
    this.indexes = indexes;
  }
}

export interface WatchlistRow {
  id: number;
  name: string;
  version: number;
  created_at: number;
  updated_at: number;
  opened_at: number | null;
}

const COLUMNS = ["id", "name", "version", "created_at", "updated_at", "opened_at"] as const;

/** A list without an owner is deleted when nobody has opened it for this long. */
export const UNOPENED_MS = 365 * DAY_MS;

/** The list of an account that has never changed it. */
const UNSAVED: WatchlistRow = {
  id: 0,
  name: DEFAULT_NAME,
  // That with which it is stored, so that its first change may name it.
  version: 1,
  created_at: 0,
  updated_at: 0,
  opened_at: null,
};

/** The row of a list. Throws the same NOT_FOUND for a token that is malformed, unknown or deleted, or whose list has expired. */
export async function getRow(db: Db, access: WatchlistAccess, now: number): Promise<WatchlistRow> {
  const rows = db.selectFrom("watchlists").select(COLUMNS);
  if ("accountId" in access)
    return (await rows.where("account_id", "=", access.accountId).executeTakeFirst()) ?? UNSAVED;
  const prefix = tokenPrefix(access.token);
  const column = prefix === "sidw" ? "token_hash" : prefix === "sidr" ? "share_token_hash" : undefined;
  const row =
    column === undefined
      ? undefined
      : await rows.where(column, "=", hashToken(access.token)).executeTakeFirst();
  // An expired list may be deleted at any moment, so nobody may open or change it any more.
  if (row === undefined || isExpired(row, now)) throw noList();
  return row;
}

/** For a token that is malformed, unknown or deleted. */
export function noList(): AppError {
  return new AppError("NOT_FOUND", "No watchlist has this token.");
}

function isExpired({ opened_at: openedAt }: WatchlistRow, now: number): boolean {
  return openedAt !== null && openedAt < now - UNOPENED_MS;
}

function canEdit(access: WatchlistAccess): boolean {
  return "accountId" in access || tokenPrefix(access.token) === "sidw";
}

/** Locks the list for a change, and stores that of an account with its first change. Throws FORBIDDEN for a share token. */
export async function lockRow(
  tx: Tx,
  access: WatchlistAccess,
  { dialect, now }: { dialect: Dialect; now: number },
): Promise<WatchlistRow> {
  if ("accountId" in access) {
    const account_id = access.accountId;
    const account = await sql`select id from accounts where id = ${account_id} ${dialect.lockRow}`.execute(
      tx,
    );
    if (account.rows.length === 0) throw new AppError("UNAUTHENTICATED", "This account no longer exists.");
    const row = await getRow(tx, access, now);
    return row === UNSAVED ? insertRow(tx, { account_id }, { name: DEFAULT_NAME, now }) : row;
  }
  const { id } = await getRow(tx, access, now);
  if (!canEdit(access)) {
    throw new AppError(
      "FORBIDDEN",
      "This token can only read the watchlist. Use the token it was created with to change it.",
    );
  }
  await sql`select id from watchlists where id = ${id} ${dialect.lockRow}`.execute(tx);
  // Read again: the list may have changed or been deleted while this waited for the lock.
  return getRow(tx, access, now);
}

/** Stores an empty list, either owned by an account or addressed by tokens. */
export async function insertRow(
  tx: Tx,
  keys: { account_id: string } | { token_hash: string; share_token_hash: string },
  { name, now }: { name: string; now: number },
): Promise<WatchlistRow> {
  return tx
    .insertInto("watchlists")
    .values({
      ...keys,
      name,
      version: 1,
      created_at: now,
      updated_at: now,
      opened_at: "account_id" in keys ? null : now,
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
}

const ITEMS = bulkOf("watchlist_items");

/** Appends missing repositories, joined ones as those that remain, all or none, and returns their number. Throws UnknownRepositories and LIMIT_REACHED. */
export async function appendItems(
  tx: Tx,
  dialect: Dialect,
  { id, repositoryIds, at }: { id: number; repositoryIds: readonly number[]; at: number },
): Promise<number> {
  const existing = await tx
    .selectFrom("repositories")
    .select("id")
    .where(dialect.among(sql.ref("id"), repositoryIds))
    .where("availability", "<>", "HIDDEN")
    .execute();
  const existingIds = new Set(existing.map(({ id }) => id));
  const unknown = [...repositoryIds.keys()].filter((i) => !existingIds.has(repositoryIds[i] ?? 0));
  if (unknown.length > 0) throw new UnknownRepositories(unknown);
  const present = await tx
    .selectFrom("watchlist_items")
    .select(["repository_id", "sort_order"])
    .where("watchlist_id", "=", id)
    .orderBy("sort_order")
    .execute();
  const remaining = await remainingIds(tx, dialect, repositoryIds);
  // By the id that is stored: the id that was given, if that is another one.
  const fresh = new Map<number, number | null>();
  for (const given of repositoryIds) {
    const id = remaining.get(given);
    fresh.set(id ?? given, fresh.get(id ?? given) ?? (id === undefined ? null : given));
  }
  for (const item of present) fresh.delete(item.repository_id);
  if (present.length + fresh.size > MAX_ITEMS)
    throw new AppError("LIMIT_REACHED", `A watchlist holds at most ${MAX_ITEMS} repositories.`);
  const first = (present.at(-1)?.sort_order ?? 0) + 1;
  await dialect.insertNew(
    tx,
    ITEMS,
    Array.from(fresh, ([repositoryId, fromId], i) => [id, repositoryId, first + i, at, fromId]),
  );
  return fresh.size;
}

export async function readWatchlist(
  db: Db,
  row: WatchlistRow,
  { access, expiresAt }: { access: WatchlistAccess; expiresAt: number | undefined },
): Promise<Watchlist> {
  const items = await db
    .selectFrom("watchlist_items")
    .select(["repository_id", "added_at"])
    .where("watchlist_id", "=", row.id)
    .orderBy("sort_order")
    .execute();
  return {
    id: row.id,
    name: row.name,
    items: items.map((item) => ({ repositoryId: item.repository_id, addedAt: item.added_at })),
    canEdit: canEdit(access),
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt,
  };
}

/** Watchlists that are read, of accounts and of nobody. */
const LISTS = 500;

/** Repositories on the watchlists that were used last, the latest additions first; at most `most`, each once. */
export async function readWatched(read: Db, most: number): Promise<number[]> {
  const ids = new Set<number>();
  for (const used of ["updated_at", "opened_at"] as const) {
    const rows = await read
      .selectFrom("watchlist_items")
      .select("repository_id")
      .where("watchlist_id", "in", (lists) =>
        lists
          .selectFrom("watchlists")
          .select("id")
          .where(used === "updated_at" ? "account_id" : "opened_at", "is not", null)
          .orderBy(used, "desc")
          .limit(LISTS),
      )
      .orderBy("added_at", "desc")
      .limit(most)
      .execute();
    for (const { repository_id } of rows) ids.add(repository_id);
  }
  return [...ids].slice(0, most);
}
