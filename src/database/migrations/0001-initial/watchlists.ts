import { type RawBuilder, sql } from "kysely";
import type { MigrationEngine } from "../../migration.js";

/** Watchlists: those reached by a token, and the one of each account. */
export function watchlistTables({
  types: { integer, ownId, text },
  clustered,
}: MigrationEngine): RawBuilder<unknown>[] {
  return [
    sql`create table watchlists (
      id ${ownId} primary key,
      token_hash ${text} not null unique,
      share_token_hash ${text} not null unique,
      name ${text} not null,
      version ${integer} not null,
      created_at ${integer} not null,
      updated_at ${integer} not null
    )`,
    sql`create table watchlist_items (
      watchlist_id ${integer} not null references watchlists (id) on delete cascade,
      repository_id ${integer} not null references repositories (id),
      place ${integer} not null,
      added_at ${integer} not null,
      primary key (watchlist_id, repository_id)
    ) ${clustered}`,
    sql`create table account_watchlist_items (
      account_id ${text} not null references accounts (id) on delete cascade,
      repository_id ${integer} not null references repositories (id),
      place ${integer} not null,
      added_at ${integer} not null,
      primary key (account_id, repository_id)
    ) ${clustered}`,
    sql`create table account_visits (
      account_id ${text} not null primary key references accounts (id) on delete cascade,
      seen_at ${integer} not null,
      seen ${text} not null,
      before_at ${integer},
      before ${text}
    )`,
  ];
}
