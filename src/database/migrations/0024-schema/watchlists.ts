import { type RawBuilder, sql } from "kysely";
import type { MigrationEngine } from "../../migration.js";

export function watchlistTables({
  types: { integer, ownId, text },
  clustered,
}: MigrationEngine): RawBuilder<unknown>[] {
  return [
    // A list belongs to an account, or to whoever holds one of its two tokens.
    sql`create table watchlists (
      id ${ownId} primary key,
      account_id ${text} unique references accounts (id) on delete cascade,
      token_hash ${text} unique, -- SHA-256 in hex of the token that changes the list
      share_token_hash ${text} unique, -- of the one that only reads it
      name ${text} not null,
      version ${integer} not null, -- grows with every change
      created_at ${integer} not null,
      updated_at ${integer} not null,
      opened_at ${integer}, -- to the day; null for the list of an account
      feed_token_hash ${text}, -- of the token that reads the feed of an account's list, and nothing else; null: no feed
      check ((account_id is null) = (token_hash is not null) and (account_id is null) = (share_token_hash is not null))
    )`,
    sql`create index watchlists_opened on watchlists (opened_at) where opened_at is not null`,
    sql`create unique index watchlists_feed on watchlists (feed_token_hash) where feed_token_hash is not null`,

    sql`create table watchlist_items (
      watchlist_id ${integer} not null references watchlists (id) on delete cascade,
      repository_id ${integer} not null references repositories (id),
      sort_order ${integer} not null, -- ascends as repositories are added; may have gaps
      added_at ${integer} not null,
      primary key (watchlist_id, repository_id)
    ) ${clustered}`,
    sql`create index watchlist_items_repository on watchlist_items (repository_id)`,

    // When account holders looked at their lists.
    sql`create table watchlist_visits (
      account_id ${text} not null primary key references accounts (id) on delete cascade,
      seen_at ${integer} not null, -- to the minute
      seen_state ${text} not null, -- JSON: what was archived or unavailable then
      previous_seen_at ${integer}, -- the same of the previous visit; null: this is the first one
      previous_state ${text}
    )`,
  ];
}
