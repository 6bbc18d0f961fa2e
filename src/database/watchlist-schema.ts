import type { Generated } from "kysely";

/** The tables of `watchlists`. Times are in ms since 1970. */

/** A list of an account, or one without an owner that tokens address. */
export interface WatchlistTable {
  id: Generated<number>;
  /** The owner, with at most one list; null: whoever holds a token. */
  account_id: string | null;
  /** SHA-256 of the token that can change the list; null for the list of an account. */
  token_hash: string | null;
  /** SHA-256 of the read-only token; null for the list of an account. */
  share_token_hash: string | null;
  /** SHA-256 of the token that reads the feed of the list of an account; null: it has no feed. */
  feed_token_hash: string | null;
  name: string;
  /** Incremented by every change; the ETag of the list. */
  version: number;
  created_at: number;
  updated_at: number;
  /** When somebody last opened the list, to the day; null for the list of an account. */
  opened_at: number | null;
}

export interface WatchlistItemTable {
  watchlist_id: number;
  repository_id: number;
  /** Ascends in the order in which repositories were added; may have gaps. */
  sort_order: number;
  added_at: number;
}

/** When the owner of a list last looked at it, in the current visit and in the previous one. */
export interface WatchlistVisitTable {
  account_id: string;
  /** To the minute. */
  seen_at: number;
  /** JSON of watchlists' ListState at that time. */
  seen_state: string;
  /** End of the previous visit; null: this is the first one. */
  previous_seen_at: number | null;
  previous_state: string | null;
}
