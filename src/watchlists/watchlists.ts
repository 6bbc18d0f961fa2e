/**
 * Public watchlists: named lists of repositories, each addressed by a token. The first token may change the list, the
 * share token only reads it; both are told once, and only their hashes are kept. Every change survives a power cut.
 */
import { sql } from "kysely";
import { findRepositories } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";
import type { Database, Db, Tx } from "../database/database.js";
import { AppError, invalidParameter } from "../errors.js";
import { createToken, hashToken, tokenPrefix } from "../tokens.js";
import { type Changes, changesSince, readListed } from "./changes.js";
import { type StarSum, type SumSeries, starCourse, sumSeries } from "./sums.js";

export type { Changes } from "./changes.js";
export { PersonalWatchlists } from "./personal.js";
export type { StarSum, SumPoint, SumSeries } from "./sums.js";
export { VISIT_MS } from "./visits.js";

/** Most repositories in one list. */
export const MAX_ITEMS = 500;
export const DEFAULT_NAME = "Watchlist";

export interface WatchlistItem {
  repositoryId: number;
  addedAt: number;
}

export interface Watchlist {
  id: number;
  name: string;
  /** In the order in which they were added. */
  items: WatchlistItem[];
  /** Whether the token asked with may change the list. */
  canEdit: boolean;
  /** Grows with every change. */
  version: number;
  createdAt: number;
  updatedAt: number;
}

/** A new list with both its tokens; they cannot be told again. */
export interface CreatedWatchlist {
  watchlist: Watchlist;
  token: string;
  shareToken: string;
}

/** Decides whether a change may go ahead on a list at this version (If-Match); absent: always. */
export type Precondition = (version: number) => boolean;

interface WatchlistRow {
  id: number;
  name: string;
  version: number;
  created_at: number;
  updated_at: number;
  token_hash: string;
}

const WATCHLIST_COLUMNS = ["id", "name", "version", "created_at", "updated_at", "token_hash"] as const;

export class Watchlists {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Makes a list. Throws VALIDATION_FAILED for an id that no repository has. */
  async create(name: string, repositoryIds: readonly number[]): Promise<CreatedWatchlist> {
    const token = createToken("sidw");
    const shareToken = createToken("sidr");
    const now = this.#clock.now();
    const hashes = { token_hash: hashToken(token), share_token_hash: hashToken(shareToken) };
    const watchlist = await this.#database.durable.transaction().execute(async (tx) => {
      await this.#checkExist(tx, repositoryIds, "ids");
      const { id } = await tx
        .insertInto("watchlists")
        .values({ ...hashes, name, version: 1, created_at: now, updated_at: now })
        .returning("id")
        .executeTakeFirstOrThrow();
      const items = repositoryIds.map((repository_id, place) => ({
        watchlist_id: id,
        repository_id,
        place,
        added_at: now,
      }));
      if (items.length > 0) await tx.insertInto("watchlist_items").values(items).execute();
      return this.#read(tx, token);
    });
    return { watchlist, token, shareToken };
  }

  /** The list of either token. Throws the same NOT_FOUND for a token that is malformed, unknown or removed. */
  get(token: string): Promise<Watchlist> {
    return this.#read(this.#database.read, token);
  }

  rename(token: string, name: string, precondition?: Precondition): Promise<Watchlist> {
    return this.#change(token, precondition, async (tx, row) => {
      await tx.updateTable("watchlists").set({ name }).where("id", "=", row.id).execute();
      return true;
    });
  }

  /** Adds a repository; one that is there stays as it is. Throws LIMIT_REACHED when the list is full. */
  async add(
    token: string,
    repositoryId: number,
    precondition?: Precondition,
  ): Promise<{ watchlist: Watchlist; added: boolean }> {
    let added = false;
    const watchlist = await this.#change(token, precondition, async (tx, row) => {
      await this.#checkExist(tx, [repositoryId], "repositoryId");
      const items = await tx
        .selectFrom("watchlist_items")
        .select(["repository_id", "place"])
        .where("watchlist_id", "=", row.id)
        .orderBy("place")
        .execute();
      if (items.some((item) => item.repository_id === repositoryId)) return false;
      if (items.length >= MAX_ITEMS) {
        throw new AppError("LIMIT_REACHED", `A watchlist holds at most ${MAX_ITEMS} repositories.`);
      }
      const place = (items.at(-1)?.place ?? -1) + 1;
      const values = {
        watchlist_id: row.id,
        repository_id: repositoryId,
        place,
        added_at: this.#clock.now(),
      };
      await tx.insertInto("watchlist_items").values(values).execute();
      added = true;
      return true;
    });
    return { watchlist, added };
  }

  /** Takes one repository out, or all of them. Nothing happens where it is not in the list. */
  removeItems(token: string, repositoryId: number | "all", precondition?: Precondition): Promise<Watchlist> {
    return this.#change(token, precondition, async (tx, row) => {
      let removal = tx.deleteFrom("watchlist_items").where("watchlist_id", "=", row.id);
      if (repositoryId !== "all") removal = removal.where("repository_id", "=", repositoryId);
      return (await removal.executeTakeFirst()).numDeletedRows > 0n;
    });
  }

  /** Removes the list and both its tokens for good. */
  async remove(token: string, precondition?: Precondition): Promise<void> {
    await this.#database.durable.transaction().execute(async (tx) => {
      const row = await this.#lock(tx, token, precondition);
      await tx.deleteFrom("watchlist_items").where("watchlist_id", "=", row.id).execute();
      await tx.deleteFrom("watchlists").where("id", "=", row.id).execute();
    });
  }

  /** The counts of all its repositories added up from `from` on. */
  metrics(watchlist: Watchlist, from: number): Promise<SumSeries> {
    return sumSeries(
      this.#database,
      watchlist.items.map((item) => item.repositoryId),
      from,
    );
  }

  /** The stars of these repositories added up over the 90 days up to `end`; see starCourse. */
  course(repositoryIds: readonly number[], end: number): Promise<StarSum[]> {
    return starCourse(this.#database, repositoryIds, end);
  }

  /** What has changed since a moment; what was archived or gone before is not known of a list without an owner. */
  async changes(repositoryIds: readonly number[], since: number): Promise<Changes> {
    const listed = await readListed(this.#database, repositoryIds, since);
    return changesSince(this.#database, repositoryIds, since, listed);
  }

  /** Runs a change on the locked list; `work` tells whether it changed anything. */
  async #change(
    token: string,
    precondition: Precondition | undefined,
    work: (tx: Tx, row: WatchlistRow) => Promise<boolean>,
  ): Promise<Watchlist> {
    return this.#database.durable.transaction().execute(async (tx) => {
      const row = await this.#lock(tx, token, precondition);
      if (await work(tx, row)) {
        const updated = { version: row.version + 1, updated_at: Math.max(this.#clock.now(), row.updated_at) };
        await tx.updateTable("watchlists").set(updated).where("id", "=", row.id).execute();
      }
      return this.#read(tx, token);
    });
  }

  async #lock(tx: Tx, token: string, precondition: Precondition | undefined): Promise<WatchlistRow> {
    const found = await this.#find(tx, token);
    if (!found.canEdit) {
      throw new AppError(
        "FORBIDDEN",
        "This token only reads the watchlist; changing it needs the token it was created with.",
      );
    }
    const { lockRow } = this.#database.dialect;
    await sql`select id from watchlists where id = ${found.row.id} ${lockRow}`.execute(tx);
    // Read again: the list may have changed, or gone, while this waited for the lock.
    const { row } = await this.#find(tx, token);
    if (precondition !== undefined && !precondition(row.version)) {
      throw new AppError("PRECONDITION_FAILED", "The watchlist has changed since it was read.");
    }
    return row;
  }

  async #find(db: Db, token: string): Promise<{ row: WatchlistRow; canEdit: boolean }> {
    const prefix = tokenPrefix(token);
    const column = prefix === "sidw" ? "token_hash" : prefix === "sidr" ? "share_token_hash" : undefined;
    const row =
      column === undefined
        ? undefined
        : await db
            .selectFrom("watchlists")
            .select(WATCHLIST_COLUMNS)
            .where(column, "=", hashToken(token))
            .executeTakeFirst();
    if (row === undefined) throw new AppError("NOT_FOUND", "There is no watchlist with this token.");
    return { row, canEdit: prefix === "sidw" };
  }

  async #read(db: Db, token: string): Promise<Watchlist> {
    const { row, canEdit } = await this.#find(db, token);
    const items = await db
      .selectFrom("watchlist_items")
      .select(["repository_id", "added_at"])
      .where("watchlist_id", "=", row.id)
      .orderBy("place")
      .execute();
    return {
      id: row.id,
      name: row.name,
      items: items.map((item) => ({ repositoryId: item.repository_id, addedAt: item.added_at })),
      canEdit,
      version: row.version,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
    };
  }

  async #checkExist(tx: Tx, ids: readonly number[], parameter: string): Promise<void> {
    const found = await findRepositories(tx, this.#database.dialect, ids);
    const known = new Set(found.map((repository) => repository.id));
    if (ids.some((id) => !known.has(id))) throw invalidParameter(parameter, "no repository has this id");
  }
}
