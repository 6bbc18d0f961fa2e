import { sql } from "kysely";
import type { Migration } from "../migrate.js";

/**
 * What API keys were used for. Each table is led by the key, so that a view reads one stretch of it, and its rows go with
 * the key when the account goes. Sums of 1, 6 and 24 hours are kept beside each other (`span_hours`), so that a view costs
 * much the same whatever its period.
 */
export const usage: Migration = {
  name: "usage",
  async up(tx, dialect) {
    const { integer, ownId, text } = dialect.types;
    const key = sql`key_id ${integer} not null references api_keys (id) on delete cascade`;
    await sql`create table usage_routes (
      ${key},
      span_hours ${integer} not null,
      from_at ${integer} not null,
      route ${text} not null,
      outcome ${text} not null,
      requests ${integer} not null,
      bytes ${integer} not null,
      micros ${integer} not null,
      primary key (key_id, span_hours, from_at, route, outcome)
    ) ${dialect.clustered}`.execute(tx);
    await sql`create table usage_allowances (
      ${key},
      span_hours ${integer} not null,
      from_at ${integer} not null,
      bucket ${text} not null,
      allowance ${integer} not null,
      lowest ${integer} not null,
      lowest_at ${integer} not null,
      primary key (key_id, span_hours, from_at, bucket)
    ) ${dialect.clustered}`.execute(tx);
    await sql`create table usage_callers (
      ${key},
      span_hours ${integer} not null,
      from_at ${integer} not null,
      kind ${text} not null,
      name ${text} not null,
      requests ${integer} not null,
      last_at ${integer} not null,
      primary key (key_id, span_hours, from_at, kind, name)
    ) ${dialect.clustered}`.execute(tx);
    await sql`create table usage_events (
      id ${ownId} primary key,
      ${key},
      at ${integer} not null,
      route ${text} not null,
      status ${integer} not null,
      code ${text},
      bucket ${text}
    )`.execute(tx);
    await sql`create index usage_events_key on usage_events (key_id, at)`.execute(tx);
  },
};
