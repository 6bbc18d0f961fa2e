import { sql } from "kysely";
import { findRepositories } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";
import type { Database, Db } from "../database/database.js";
import { AppError, invalidParameter } from "../errors.js";
import { Visits } from "./visits.js";
import { MAX_ITEMS, type WatchlistItem } from "./watchlists.js";

/** The one list that each account has, without tokens. It is there from the start, and goes with the account. */
export class PersonalWatchlists {
  readonly #database: Database;
  readonly #clock: Clock;
  /** What changed between the visits of the owners. */
  readonly visits: Visits;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
    this.visits = new Visits(database, clock);
  }

  /** In the order in which they were added. */
  items(accountId: string): Promise<WatchlistItem[]> {
    return this.#items(this.#database.read, accountId);
  }

  /** Which repositories are in the list. */
  async ids(accountId: string): Promise<ReadonlySet<number>> {
    const items = await this.items(accountId);
    return new Set(items.map((item) => item.repositoryId));
  }

  /**
   * Adds repositories; those that are there stay as they are. All or none: throws LIMIT_REACHED where they do not fit, and
   * VALIDATION_FAILED about `parameter` for an id that no repository has. Returns the list, and how many were new.
   */
  async add(
    accountId: string,
    repositoryIds: readonly number[],
    parameter: string,
  ): Promise<{ items: WatchlistItem[]; added: number }> {
    const { durable, dialect } = this.#database;
    return durable.transaction().execute(async (tx) => {
      const account = await sql`select id from accounts where id = ${accountId} ${dialect.lockRow}`.execute(
        tx,
      );
      if (account.rows.length === 0) throw new AppError("UNAUTHENTICATED", "The account is gone.");
      const existing = await findRepositories(tx, dialect, repositoryIds);
      const known = new Set(existing.map((repository) => repository.id));
      if (repositoryIds.some((id) => !known.has(id)))
        throw invalidParameter(parameter, "no repository has this id");
      const present = await tx
        .selectFrom("account_watchlist_items")
        .select(["repository_id", "place"])
        .where("account_id", "=", accountId)
        .orderBy("place")
        .execute();
      const there = new Set(present.map((item) => item.repository_id));
      const fresh = repositoryIds.filter((id) => !there.has(id));
      if (present.length + fresh.length > MAX_ITEMS)
        throw new AppError("LIMIT_REACHED", `A watchlist holds at most ${MAX_ITEMS} repositories.`);
      const first = (present.at(-1)?.place ?? -1) + 1;
      const added_at = this.#clock.now();
      const rows = fresh.map((repository_id, i) => ({
        account_id: accountId,
        repository_id,
        place: first + i,
        added_at,
      }));
      if (rows.length > 0) await tx.insertInto("account_watchlist_items").values(rows).execute();
      return { items: await this.#items(tx, accountId), added: rows.length };
    });
  }

  /** Takes a repository out. Nothing happens where it is not in the list. */
  async remove(accountId: string, repositoryId: number): Promise<void> {
    await this.#database.durable
      .deleteFrom("account_watchlist_items")
      .where("account_id", "=", accountId)
      .where("repository_id", "=", repositoryId)
      .execute();
  }

  async #items(db: Db, accountId: string): Promise<WatchlistItem[]> {
    const rows = await db
      .selectFrom("account_watchlist_items")
      .select(["repository_id", "added_at"])
      .where("account_id", "=", accountId)
      .orderBy("place")
      .execute();
    return rows.map((row) => ({ repositoryId: row.repository_id, addedAt: row.added_at }));
  }
}
