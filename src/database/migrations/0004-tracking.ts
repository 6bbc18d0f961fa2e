import { sql } from "kysely";
import type { Migration } from "../migrate.js";

/** What the worker must remember: the schedule of each repository, how far walks have come, what it last reported. */
export const tracking: Migration = {
  name: "tracking",
  async up(tx, dialect) {
    const { integer, text } = dialect.types;
    await sql`create table tracking (
      repository_id ${integer} primary key,
      provider ${text} not null,
      node_id ${text},
      etag ${text},
      leased_until ${integer} not null,
      failures ${integer} not null,
      history_cursor ${text},
      history_due ${integer}
    )`.execute(tx);
    await sql`create index tracking_history on tracking (provider, history_due) where history_due is not null`.execute(
      tx,
    );
    await sql`create index tracking_leased on tracking (provider, leased_until) where leased_until > 0`.execute(
      tx,
    );
    // Without a condition: repositories that nobody has scheduled yet are found by it too.
    await sql`create index repositories_schedule on repositories (provider, next_refresh_at)`.execute(tx);
    await sql`create table walks (
      provider ${text} primary key,
      cursor ${text},
      next_at ${integer} not null,
      started_at ${integer} not null,
      found ${integer} not null,
      walks ${integer} not null,
      leased_until ${integer} not null
    )`.execute(tx);
    await sql`create table worker_reports (
      worker ${text} not null,
      provider ${text} not null,
      at ${integer} not null,
      body ${text} not null,
      primary key (worker, provider)
    ) ${dialect.clustered}`.execute(tx);
  },
};
