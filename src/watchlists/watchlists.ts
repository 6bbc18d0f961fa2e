/**
 * Watchlists: ordered lists of up to 500 repositories. A list belongs to an account, or to nobody: then one token changes it
 * and a share token reads it, and only hashes of the two are stored. Every change survives a power cut. The number that a caller may add to
 * lists without an owner in a day is bounded, and those that nobody opens for a year are deleted. Also owns the totals of a list
 * over time, the changes since its owner's last visit, and who may read its feed. How a list is sorted and paged is up to `lists`.
 */
import { sql } from "kysely";
import type { Adding as Counted, DailyQuotas, Repeatable } from "../accounts/accounts.js";
import { type Database, type Db, readNumber, type Tx } from "../database/database.js";
import { BackgroundWrites } from "../lib/background-writes.js";
import type { Clock } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import type { Logger } from "../lib/log.js";
import { createToken, derivedToken, hashToken } from "../lib/tokens.js";
import { remainingIds } from "../repositories/repositories.js";
import { type Changes, changesSince, type Listed, Visits } from "./changes.js";
import { Openings, removeUnopened } from "./expiry.js";
import { Feeds } from "./feeds.js";
import {
  appendItems,
  type CreatedWatchlist,
  getRow,
  insertRow,
  lockRow,
  MAX_ITEMS,
  type Precondition,
  readWatched,
  readWatchlist,
  type Watchlist,
  type WatchlistAccess,
  type WatchlistRow,
} from "./store.js";

export type { Changes } from "./changes.js";
export { VISIT_MS } from "./changes.js";
export {
  type CreatedWatchlist,
  DEFAULT_NAME,
  MAX_ITEMS,
  type Precondition,
  UnknownRepositories,
  type Watchlist,
  type WatchlistAccess,
} from "./store.js";

/** Who adds to lists without an owner: `lists` created and `items` added, each time one is added, in a day. */
export type Adding = Counted<"lists" | "items">;
export type DailyQuota = Adding["quota"];

interface NewWatchlist {
  name: string;
  repositoryIds: readonly number[];
  /** Who creates it; undefined: without a quota. */
  adding: Adding | undefined;
}

type Tokens = readonly [token: string, shareToken: string];

interface WatchlistsOptions {
  database: Database;
  clock: Clock;
  log: Logger;
  quotas: DailyQuotas;
}

export class Watchlists {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #writes: BackgroundWrites;
  readonly #openings: Openings;
  readonly #quotas: DailyQuotas;
  /** When account holders looked at their lists. */
  readonly visits: Visits;
  readonly feeds: Feeds;

  constructor({ database, clock, log, quotas }: WatchlistsOptions) {
    this.#database = database;
    this.#clock = clock;
    this.#writes = new BackgroundWrites(log);
    const parts = { database, clock, writes: this.#writes };
    this.#openings = new Openings(parts);
    this.#quotas = quotas;
    this.visits = new Visits(parts);
    this.feeds = new Feeds({ database, now: () => clock.now(), openings: this.#openings });
  }

  /** Creates a list without an owner. Throws UnknownRepositories and RATE_LIMITED. `adding`: who creates it, for the quota. */
  create(name: string, repositoryIds: readonly number[], adding?: Adding): Promise<CreatedWatchlist> {
    return this.#create({ name, repositoryIds, adding }, [createToken("sidw"), createToken("sidr")]);
  }

  /**
   * The same, once: a repeat returns the first list as it is now. Throws IDEMPOTENCY_KEY_REUSED for another body, and
   * WATCHLIST_DELETED if the list was deleted, as its tokens must never work again.
   */
  async createOnce(list: NewWatchlist, request: Repeatable): Promise<CreatedWatchlist> {
    const { seeds, remember } = await this.#quotas.repeatable(request, this.#clock.now());
    const tokensOf = (seed: string): Tokens => [derivedToken("sidw", seed), derivedToken("sidr", seed)];
    const [today, yesterday] = [tokensOf(seeds[0]), tokensOf(seeds[1])];
    const find = async () => (await this.#findCreated(today)) ?? this.#findCreated(yesterday);
    const found = await find();
    if (found !== undefined) return found;
    try {
      return await this.#create(list, today, remember);
    } catch (error) {
      // A repeat at the same time fails, as both have one token.
      const created = await find();
      if (created === undefined) throw error;
      return created;
    }
  }

  async #findCreated([token, shareToken]: Tokens): Promise<CreatedWatchlist | undefined> {
    try {
      return { watchlist: await this.get({ token }), token, shareToken };
    } catch (error) {
      if (error instanceof AppError && error.code === "NOT_FOUND") return undefined;
      throw error;
    }
  }

  async #create(
    { name, repositoryIds, adding }: NewWatchlist,
    [token, shareToken]: Tokens,
    remember?: (tx: Tx) => Promise<boolean>,
  ): Promise<CreatedWatchlist> {
    const { durable, dialect } = this.#database;
    const hashes = { token_hash: hashToken(token), share_token_hash: hashToken(shareToken) };
    const at = this.#clock.now();
    const count = await this.#quotas.counterOf(adding);
    const watchlist = await durable.transaction().execute(async (tx) => {
      if (await remember?.(tx))
        throw new AppError(
          "WATCHLIST_DELETED",
          "The list that was created with this Idempotency-Key was deleted.",
        );
      const row = await insertRow(tx, hashes, { name, now: at });
      const items = await appendItems(tx, dialect, { id: row.id, repositoryIds, at });
      await count(tx, { kind: "lists", amount: 1, now: at });
      await count(tx, { kind: "items", amount: items, now: at });
      return this.#readWatchlist(tx, row, { token });
    });
    return { watchlist, token, shareToken };
  }

  /** The list with all its items. Throws the same NOT_FOUND for a token that is malformed, unknown or deleted. */
  async get(access: WatchlistAccess): Promise<Watchlist> {
    const { read } = this.#database;
    return this.#readWatchlist(read, await this.#getRow(read, access), access);
  }

  /** The id of the list, without reading its items; 0 for an account that has not saved anything yet. */
  async idOf(access: WatchlistAccess): Promise<number> {
    const row = await this.#getRow(this.#database.read, access);
    this.#openings.note(row);
    return row.id;
  }

  async size(access: WatchlistAccess): Promise<number> {
    const items = sql`select count(*) from watchlist_items where watchlist_id = ${await this.idOf(access)}`;
    return readNumber(this.#database.read, items);
  }

  /** Repositories on the watchlists that were used last, of all people; at most `most`. For a worker. */
  watched(most: number): Promise<number[]> {
    return readWatched(this.#database.read, most);
  }

  /** Which of these repositories are in the list. Costs one index lookup per repository. */
  async contains(access: WatchlistAccess, repositoryIds: readonly number[]): Promise<ReadonlySet<number>> {
    if (repositoryIds.length === 0) return new Set();
    const { read, dialect } = this.#database;
    const rows = await read
      .selectFrom("watchlist_items")
      .select("repository_id")
      .where("watchlist_id", "=", await this.idOf(access))
      .where(dialect.among(sql.ref("repository_id"), repositoryIds))
      .execute();
    return new Set(rows.map((row) => row.repository_id));
  }

  /** When repositories were added to the list with this id, in ms since 1970; those that are not in it are absent. */
  async addedAt(id: number, repositoryIds: readonly number[]): Promise<Map<number, number>> {
    if (repositoryIds.length === 0) return new Map();
    const { read, dialect } = this.#database;
    const rows = await read
      .selectFrom("watchlist_items")
      .select(["repository_id", "added_at"])
      .where("watchlist_id", "=", id)
      .where(dialect.among(sql.ref("repository_id"), repositoryIds))
      .execute();
    return new Map(rows.map((row) => [row.repository_id, row.added_at]));
  }

  rename(access: WatchlistAccess, name: string, precondition?: Precondition): Promise<Watchlist> {
    return this.#change(access, precondition, async (tx, row) => {
      await tx.updateTable("watchlists").set({ name }).where("id", "=", row.id).execute();
      return true;
    });
  }

  /**
   * Appends repositories, all or none; those already in the list keep their order. Returns how many were new. Throws
   * UnknownRepositories, LIMIT_REACHED when they do not fit, and RATE_LIMITED beyond the quota of the caller. `adding`: as for
   * `create`.
   */
  async add(
    access: WatchlistAccess,
    repositoryIds: readonly number[],
    { precondition, adding }: { precondition?: Precondition | undefined; adding?: Adding | undefined } = {},
  ): Promise<{ watchlist: Watchlist; added: number }> {
    let added = 0;
    const count = await this.#quotas.counterOf(adding);
    const watchlist = await this.#change(access, precondition, async (tx, { id }) => {
      const at = this.#clock.now();
      added = await appendItems(tx, this.#database.dialect, { id, repositoryIds, at });
      await count(tx, { kind: "items", amount: added, now: at });
      return added > 0;
    });
    return { watchlist, added };
  }

  /** Appends a repository to a list in the caller's transaction, unless the list is full or has been deleted. */
  async appendIn(tx: Tx, { id, repositoryId }: { id: number; repositoryId: number }): Promise<void> {
    const { dialect } = this.#database;
    const at = this.#clock.now();
    const { rows } = await sql<{ items: number }>`select
      (select count(*) from watchlist_items where watchlist_id = w.id) as items
      from watchlists w where w.id = ${id} ${dialect.lockRow}`.execute(tx);
    const [row] = rows;
    if (row === undefined || Number(row.items) >= MAX_ITEMS) return;
    if ((await appendItems(tx, dialect, { id, repositoryIds: [repositoryId], at })) === 0) return;
    await sql`update watchlists set version = version + 1, updated_at = ${at} where id = ${id}`.execute(tx);
  }

  /** Removes these repositories from the list, or all. Does nothing for those that are not in the list. */
  removeItems(
    access: WatchlistAccess,
    repositoryIds: readonly number[] | "all",
    precondition?: Precondition,
  ): Promise<Watchlist> {
    const { dialect } = this.#database;
    return this.#change(access, precondition, async (tx, row) => {
      let removal = tx.deleteFrom("watchlist_items").where("watchlist_id", "=", row.id);
      if (repositoryIds !== "all") {
        const remaining = await remainingIds(tx, dialect, repositoryIds);
        const ids = repositoryIds.map((id) => remaining.get(id) ?? id);
        removal = removal.where(dialect.among(sql.ref("repository_id"), ids));
      }
      return (await removal.executeTakeFirst()).numDeletedRows > 0n;
    });
  }

  /** Deletes the list for good; both its tokens stop working. */
  async remove(access: WatchlistAccess, precondition?: Precondition): Promise<void> {
    await this.#database.durable.transaction().execute(async (tx) => {
      const row = await this.#lock(tx, access, precondition);
      await tx.deleteFrom("watchlists").where("id", "=", row.id).execute();
    });
  }

  /** Deletes lists that nobody has opened for a year. Returns their number. */
  removeExpired(now: number, signal: AbortSignal): Promise<number> {
    return removeUnopened(this.#database, { now, signal });
  }

  /** Resolves when all background writes have ended. */
  flush(): Promise<void> {
    return this.#writes.flush();
  }

  /** The changes since a time. Which repositories were archived or unavailable then is unknown without visits of an owner. */
  changes(listed: readonly Listed[], since: number): Promise<Changes> {
    return changesSince(this.#database, listed, { since, now: this.#clock.now() });
  }

  /** Runs a change on the locked list. `work` returns whether it changed anything. */
  async #change(
    access: WatchlistAccess,
    precondition: Precondition | undefined,
    work: (tx: Tx, row: WatchlistRow) => Promise<boolean>,
  ): Promise<Watchlist> {
    return this.#database.durable.transaction().execute(async (tx) => {
      const row = await this.#lock(tx, access, precondition);
      if (await work(tx, row)) {
        const now = Math.max(this.#clock.now(), row.updated_at);
        // In the same transaction: once the change is confirmed, the list may not expire.
        const opened_at = row.opened_at === null ? null : Math.max(now, row.opened_at);
        const updated = { version: row.version + 1, updated_at: now, opened_at };
        await tx.updateTable("watchlists").set(updated).where("id", "=", row.id).execute();
      }
      return this.#readWatchlist(tx, await this.#getRow(tx, access), access);
    });
  }

  #getRow(db: Db, access: WatchlistAccess): Promise<WatchlistRow> {
    return getRow(db, access, this.#clock.now());
  }

  #readWatchlist(db: Db, row: WatchlistRow, access: WatchlistAccess): Promise<Watchlist> {
    return readWatchlist(db, row, { access, expiresAt: this.#openings.note(row) });
  }

  async #lock(
    tx: Tx,
    access: WatchlistAccess,
    precondition: Precondition | undefined,
  ): Promise<WatchlistRow> {
    const { dialect } = this.#database;
    const row = await lockRow(tx, access, { dialect, now: this.#clock.now() });
    if (precondition !== undefined && !precondition(row.version))
      throw new AppError("PRECONDITION_FAILED", "The watchlist has changed since it was read.");
    return row;
  }
}
