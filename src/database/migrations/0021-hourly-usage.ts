import { type RawBuilder, sql } from "kysely";
import type { Migration } from "../migration.js";

const HOUR_MS = 3_600_000;

/** Usage of keys by hour only. Sums of six hours and of days, as far as hours do not hold them, move to their first hour. */
export const hourlyUsage: Migration = {
  name: "hourly-usage",
  async up(tx, { types: { integer, text }, clustered }) {
    const hour = sql`key_id ${integer} not null references api_keys (id) on delete cascade,
      from_at ${integer} not null`;
    const statements = [
      sql`create table hourly_routes (
        ${hour},
        method ${text} not null, -- empty with the route "other"
        route ${text} not null, -- path pattern, or "other"
        outcome ${text} not null,
        requests ${integer} not null,
        bytes ${integer} not null, -- response bodies as sent
        micros ${integer} not null, -- time spent on responses
        primary key (key_id, from_at, method, route, outcome)
      ) ${clustered}`,
      sql`create table hourly_allowances (
        ${hour},
        bucket ${text} not null,
        allowance ${integer} not null, -- the limit when the key was last used
        lowest ${integer} not null, -- the lowest remaining count reported
        lowest_at ${integer} not null,
        primary key (key_id, from_at, bucket)
      ) ${clustered}`,
      sql`create table hourly_callers (
        ${hour},
        kind ${text} not null, -- address or agent
        name ${text} not null, -- a network, never a whole address; or a family of user agents
        requests ${integer} not null,
        last_at ${integer} not null,
        primary key (key_id, from_at, kind, name)
      ) ${clustered}`,
      ...[1, 6, 24].flatMap(movedRows),
      ...["routes", "allowances", "callers"].flatMap((name) => [
        sql`drop table ${sql.table(`usage_${name}`)}`,
        sql`alter table ${sql.table(`hourly_${name}`)} rename to ${sql.table(`usage_${name}`)}`,
      ]),
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};

function movedRows(spanHours: number): RawBuilder<unknown>[] {
  const isHeld = sql`h.from_at >= s.from_at and h.from_at < s.from_at + ${sql.lit(spanHours * HOUR_MS)}`;
  const isSpan = sql`s.span_hours = ${sql.lit(spanHours)}`;
  return [
    sql`insert into hourly_routes
      select key_id, from_at, method, route, outcome, requests, bytes, micros from (
        select s.key_id, s.from_at, s.method, s.route, s.outcome,
          s.requests - coalesce(sum(h.requests), 0) as requests, s.bytes - coalesce(sum(h.bytes), 0) as bytes,
          s.micros - coalesce(sum(h.micros), 0) as micros
        from usage_routes s left join hourly_routes h on h.key_id = s.key_id and ${isHeld}
          and h.method = s.method and h.route = s.route and h.outcome = s.outcome
        where ${isSpan}
        group by s.key_id, s.from_at, s.method, s.route, s.outcome, s.requests, s.bytes, s.micros
      ) as rest where requests > 0
      on conflict (key_id, from_at, method, route, outcome) do update set
        requests = hourly_routes.requests + excluded.requests, bytes = hourly_routes.bytes + excluded.bytes,
        micros = hourly_routes.micros + excluded.micros`,
    sql`insert into hourly_callers
      select key_id, from_at, kind, name, requests, last_at from (
        select s.key_id, s.from_at, s.kind, s.name, s.requests - coalesce(sum(h.requests), 0) as requests, s.last_at
        from usage_callers s left join hourly_callers h on h.key_id = s.key_id and ${isHeld}
          and h.kind = s.kind and h.name = s.name
        where ${isSpan}
        group by s.key_id, s.from_at, s.kind, s.name, s.requests, s.last_at
      ) as rest where requests > 0
      on conflict (key_id, from_at, kind, name) do update set
        requests = hourly_callers.requests + excluded.requests, last_at = excluded.last_at`,
    sql`insert into hourly_allowances
      select s.key_id, s.from_at, s.bucket, s.allowance, s.lowest, s.lowest_at from usage_allowances s where ${isSpan}
      on conflict (key_id, from_at, bucket) do update set lowest = excluded.lowest, lowest_at = excluded.lowest_at
        where excluded.lowest < hourly_allowances.lowest`,
  ];
}
