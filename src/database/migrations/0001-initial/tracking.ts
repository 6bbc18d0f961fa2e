import { type RawBuilder, sql } from "kysely";
import type { MigrationEngine } from "../../migration.js";

/** What workers remember between runs. When a repository is due is `repositories.next_refresh_at`. */
export function trackingTables({
  types: { integer, text },
  clustered,
}: MigrationEngine): RawBuilder<unknown>[] {
  return [
    sql`create table tracking (
      repository_id ${integer} primary key,
      provider ${text} not null,
      node_id ${text},
      etag ${text}, -- validator of the provider's last response
      leased_until ${integer} not null, -- a worker holds it until then; 0: free
      failures ${integer} not null, -- consecutive
      history_cursor ${text}, -- progress of the backfill; null: not started
      history_due ${integer} -- when the backfill continues; null: complete
    )`,
    sql`create index tracking_history on tracking (provider, history_due) where history_due is not null`,
    sql`create index tracking_leased on tracking (provider, leased_until) where leased_until > 0`,

    // Walks over all repositories of a provider, which discover new ones.
    sql`create table walks (
      provider ${text} primary key,
      cursor ${text}, -- null: at the start
      next_at ${integer} not null,
      started_at ${integer} not null,
      found ${integer} not null, -- new repositories in the current walk
      walks ${integer} not null, -- completed walks
      leased_until ${integer} not null
    )`,

    // The last status report of each worker.
    sql`create table worker_reports (
      worker ${text} not null,
      provider ${text} not null,
      at ${integer} not null,
      body ${text} not null, -- JSON
      primary key (worker, provider)
    ) ${clustered}`,
  ];
}
