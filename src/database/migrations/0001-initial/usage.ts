import { type RawBuilder, sql } from "kysely";
import type { MigrationEngine } from "../../migration.js";

/**
 * Usage of API keys. Every table is keyed by the API key first, so that a view reads one contiguous range, and its rows are
 * deleted with the key. Totals of 1, 6 and 24 hours are stored side by side (`span_hours`), so that a view costs about the
 * same whatever period it covers.
 */
export function usageTables({
  types: { integer, ownId, text },
  clustered,
}: MigrationEngine): RawBuilder<unknown>[] {
  const key = sql`key_id ${integer} not null references api_keys (id) on delete cascade`;
  const span = sql`${key},
      span_hours ${integer} not null,
      from_at ${integer} not null`;
  return [
    sql`create table usage_routes (
      ${span},
      method ${text} not null, -- empty with the route "other"
      route ${text} not null, -- path pattern, or "other"
      outcome ${text} not null,
      requests ${integer} not null,
      bytes ${integer} not null, -- response bodies as sent
      micros ${integer} not null, -- time spent on responses
      primary key (key_id, span_hours, from_at, method, route, outcome)
    ) ${clustered}`,

    // How close a key came to its limits.
    sql`create table usage_allowances (
      ${span},
      bucket ${text} not null,
      allowance ${integer} not null, -- the limit when the key was last used
      lowest ${integer} not null, -- the lowest remaining count reported
      lowest_at ${integer} not null,
      primary key (key_id, span_hours, from_at, bucket)
    ) ${clustered}`,

    // Networks and user agents that used a key.
    sql`create table usage_callers (
      ${span},
      kind ${text} not null, -- address or agent
      name ${text} not null, -- a network, never a whole address; or a family of user agents
      requests ${integer} not null,
      last_at ${integer} not null,
      primary key (key_id, span_hours, from_at, kind, name)
    ) ${clustered}`,

    // Recent errors and refused requests; only a few are kept per key.
    sql`create table usage_events (
      id ${ownId} primary key,
      ${key},
      at ${integer} not null,
      method ${text}, -- null with the route "other"
      route ${text} not null,
      status ${integer} not null,
      code ${text}, -- error code of the response; null if it had none
      bucket ${text}, -- null: counted against no limit
      path ${text} -- decoded, without query and tokens
    )`,
    sql`create index usage_events_key on usage_events (key_id, at)`,
  ];
}
