import { sql } from "kysely";
import type { Database, Db, Tx } from "../database/database.js";
import { AppError } from "../lib/errors.js";
import { createToken, hashToken, tokenPrefix } from "../lib/tokens.js";
import { renamedSince } from "./changes.js";
import type { Openings } from "./expiry.js";
import { getRow, lockRow, noList } from "./store.js";

/** A list that is read as a feed. */
export interface FollowedList {
  id: number;
  name: string;
}

/** The changes that a feed reports besides growth. */
export interface FeedNews {
  /** Earlier names of the repositories that were renamed since a time. */
  renamed: readonly { repositoryId: number; from: string }[];
  /** Repositories that are gone, private or blocked. */
  unavailable: readonly number[];
}

/**
 * The feeds of lists. The share token of a list without an owner reads its feed. The list of an account has a feed token, which
 * reads the feed and nothing else; making another replaces it.
 */
export class Feeds {
  readonly #database: Database;
  readonly #now: () => number;
  readonly #openings: Openings;

  constructor({ database, now, openings }: { database: Database; now: () => number; openings: Openings }) {
    this.#database = database;
    this.#now = now;
    this.#openings = openings;
  }

  /** Makes a feed token for an account's list. Only its hash is stored. `hasReplaced`: it ended the one before. */
  async create(accountId: string): Promise<{ token: string; hasReplaced: boolean }> {
    const token = createToken("sidf");
    const { durable, dialect } = this.#database;
    return durable.transaction().execute(async (tx) => {
      const { id } = await lockRow(tx, { accountId }, { dialect, now: this.#now() });
      const hasReplaced = await hasFeed(tx, accountId);
      const values = { feed_token_hash: hashToken(token) };
      await tx.updateTable("watchlists").set(values).where("id", "=", id).execute();
      return { token, hasReplaced };
    });
  }

  /** Ends the feed of an account's list. Returns false without one. */
  async revoke(accountId: string): Promise<boolean> {
    const { numUpdatedRows } = await this.#database.durable
      .updateTable("watchlists")
      .set({ feed_token_hash: null })
      .where("account_id", "=", accountId)
      .where("feed_token_hash", "is not", null)
      .executeTakeFirstOrThrow();
    return numUpdatedRows > 0n;
  }

  /** Whether an account's list has a feed. */
  has(accountId: string): Promise<boolean> {
    return hasFeed(this.#database.read, accountId);
  }

  /** The list whose feed a token reads. Throws NOT_FOUND, and FORBIDDEN for the token that changes a list. */
  async get(token: string): Promise<FollowedList> {
    const { read } = this.#database;
    const prefix = tokenPrefix(token);
    if (prefix === "sidf") {
      const row = await read
        .selectFrom("watchlists")
        .select(["id", "name"])
        .where("feed_token_hash", "=", hashToken(token))
        .executeTakeFirst();
      if (row === undefined) throw noList();
      return row;
    }
    const row = await getRow(read, { token }, this.#now());
    // Readers of feeds store addresses in the open, and many send them to a service.
    if (prefix !== "sidr")
      throw new AppError(
        "FORBIDDEN",
        "This token can change the watchlist. Use its share token for the feed.",
      );
    this.#openings.note(row);
    return { id: row.id, name: row.name };
  }

  /** The changes that a feed reports besides growth. Costs a lookup for each repository of the list. */
  async news(list: Pick<FollowedList, "id">, since: number): Promise<FeedNews> {
    const { read } = this.#database;
    const rows = await read
      .selectFrom("watchlist_items")
      .innerJoin("repositories", "repositories.id", "watchlist_items.repository_id")
      .select([
        "repositories.id",
        sql<number>`case when availability = 'AVAILABLE' then 1 else 0 end`.as("here"),
      ])
      .where("watchlist_id", "=", list.id)
      .orderBy("watchlist_items.sort_order")
      .execute();
    return {
      renamed: await renamedSince(
        this.#database,
        rows.map(({ id }) => id),
        since,
      ),
      unavailable: rows.filter(({ here }) => here === 0).map(({ id }) => id),
    };
  }
}

async function hasFeed(db: Db | Tx, accountId: string): Promise<boolean> {
  const row = await db
    .selectFrom("watchlists")
    .select("id")
    .where("account_id", "=", accountId)
    .where("feed_token_hash", "is not", null)
    .executeTakeFirst();
  return row !== undefined;
}
