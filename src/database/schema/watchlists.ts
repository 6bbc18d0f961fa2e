import { integer, ownId, table, text } from "./describe.js";

/** A list of an account, or one without an owner that tokens address. */
export const watchlists = table(
  {
    id: ownId,
    /** The owner, with at most one list; null: the list is addressed by its tokens. */
    account_id: text.optional().references("accounts (id) on delete cascade"),
    /** SHA-256 of the token that can change the list; null for the list of an account. */
    token_hash: text.optional(),
    /** SHA-256 of the read-only token; null for the list of an account. */
    share_token_hash: text.optional(),
    name: text,
    /** Incremented by every change; the ETag of the list. */
    version: integer,
    created_at: integer,
    updated_at: integer,
    /** When somebody last opened the list, to the day; null for the list of an account. */
    opened_at: integer.optional(),
    /** SHA-256 of the token that reads the feed of the list of an account; null: it has no feed. */
    feed_token_hash: text.optional(),
  },
  {
    key: ["id"],
    constraints: [
      "unique (account_id)",
      "unique (token_hash)",
      "unique (share_token_hash)",
      "check ((account_id is null) = (token_hash is not null) and (account_id is null) = (share_token_hash is not null))",
    ],
    indexes: [
      "index watchlists_opened on watchlists (opened_at) where opened_at is not null",
      "unique index watchlists_feed on watchlists (feed_token_hash) where feed_token_hash is not null",
    ],
  },
);

export const watchlistItems = table(
  {
    watchlist_id: integer.references("watchlists (id) on delete cascade"),
    repository_id: integer.references("repositories (id)"),
    /** Ascends in the order in which repositories were added; may have gaps. */
    sort_order: integer,
    added_at: integer,
    /** The id that was added, if its repository was joined to this one. */
    from_id: integer.optional(),
  },
  {
    key: ["watchlist_id", "repository_id"],
    isClustered: true,
    indexes: ["index watchlist_items_repository on watchlist_items (repository_id)"],
  },
);

/** When the owner of a list last looked at it, in the current visit and in the previous one. */
export const watchlistVisits = table(
  {
    account_id: text.references("accounts (id) on delete cascade"),
    /** To the minute. */
    seen_at: integer,
    /** JSON of watchlists' ListState at that time. */
    seen_state: text,
    /** End of the previous visit; null: this is the first one. */
    previous_seen_at: integer.optional(),
    previous_state: text.optional(),
  },
  { key: ["account_id"] },
);
