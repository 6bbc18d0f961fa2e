import { type RawBuilder, sql } from "kysely";
import type { Migration, MigrationEngine } from "../migration.js";

/** Renames are those that an operator states: suspected ones are two repositories again, accepted ones stay joined. */
const manualRenames: Migration = {
  name: "manual-renames",
  async up(tx, engine) {
    const { integer, text } = engine.types;
    const suspected = sql`select from_id from renames where status = 'SUSPECTED'`;
    const statements = [
      // Their growth and words are computed again, and those of the names that seemed to continue them.
      ...["rollups", "words"].map(
        (kind) => sql`insert into outdated (kind, repository_id)
          select ${kind}, from_id from renames where status = 'SUSPECTED'
          union select ${kind}, to_id from renames where status = 'SUSPECTED' on conflict do nothing`,
      ),
      sql`update repositories set availability = 'AVAILABLE'
        where availability = 'RENAMED' and id in (${suspected})`,
      sql`create table stated_renames (
        from_id ${integer} not null primary key references repositories (id),
        to_id ${integer} not null references repositories (id),
        availability ${text} not null, -- what from_id had before
        discovered_at ${integer} not null, -- what to_id had before
        both_at ${text} not null -- JSON array of the times at which both had a snapshot
      )`,
      sql`insert into stated_renames (from_id, to_id, availability, discovered_at, both_at)
        select from_id, to_id, 'AVAILABLE', joined_before, '[]' from renames where status = 'ACCEPTED'`,
      sql`drop table renames`,
      ...renameTable(engine, ["stated_renames", "renames"], ["pkey", "from_id_fkey", "to_id_fkey"]),
      sql`drop index repositories_import_first`,
      sql`delete from marks where name like 'renames_detected_%'`,
      sql`alter table rollups drop column predecessor_id`,
      sql`update revision set value = value + 1 where id = 1`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};

/** Each avatar has its image, so that both are written and removed together. */
const ownedAvatars: Migration = {
  name: "owned-avatars",
  async up(tx, engine) {
    const { integer, text, bytes } = engine.types;
    const statements = [
      sql`create table owned_avatars (
        provider ${text} not null,
        owner_key ${text} not null, -- the owner in small letters
        owner ${text} not null,
        address ${text}, -- as its forge reported it; null: not yet
        version ${text}, -- of the image: the beginning of the SHA-256 of its bytes; null: none
        png ${bytes}, -- null: none
        next_at ${integer} not null, -- when it is to be requested
        wanted_at ${integer} not null, -- when its owner was last on a list
        primary key (provider, owner_key)
      )`,
      sql`insert into owned_avatars select a.provider, a.owner_key, a.owner, a.address, i.version, i.png, a.next_at, a.wanted_at
        from avatars a left join avatar_images i on i.version = a.version`,
      sql`drop table avatars`,
      sql`drop table avatar_images`,
      ...renameTable(engine, ["owned_avatars", "avatars"], ["pkey"]),
      sql`create index avatars_next on avatars (provider, next_at)`,
      sql`create index avatars_wanted on avatars (wanted_at)`,
      // Pages read all versions, without the images beside them.
      sql`create index avatars_version on avatars (version, provider, owner_key) where version is not null`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};

/** Growth that does not count the return to an earlier level, however long the fall before it lasted. */
const returnedLevels: Migration = {
  name: "returned-levels",
  async up(tx) {
    // Scales of a day long past: the next update rebuilds growth, in a second table beside the one that is served.
    await sql`update score_scales set as_of = 0`.execute(tx);
  },
};

const HOUR_MS = 3_600_000;

/** Usage of keys by hour only. Sums of six hours and of days, as far as hours do not hold them, move to their first hour. */
const hourlyUsage: Migration = {
  name: "hourly-usage",
  async up(tx, engine) {
    const { clustered } = engine;
    const { integer, text } = engine.types;
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
        ...renameTable(engine, [`hourly_${name}`, `usage_${name}`], ["pkey", "key_id_fkey"]),
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

/**
 * One table of account events, without counted ones and refusals of nobody; one of all quotas; operators' codes among those to sign in.
 * Counts of the current hour and day, and codes in use, begin again.
 */
const accountEvents: Migration = {
  name: "account-events",
  async up(tx, { types: { integer, ownId, text }, clustered }) {
    const statements = [
      // No reference to the account: what led to its end is kept as long as the rest.
      sql`create table account_events (
        id ${ownId} primary key,
        at ${integer} not null,
        account_id ${text}, -- null: an operator at the machine
        event ${text} not null,
        network ${text} not null, -- of the sender, shortened
        detail ${text} not null -- JSON object without secrets
      )`,
      sql`insert into account_events (at, account_id, event, network, detail)
        select at, account_id, event, network, case when times = 1 then detail
          when detail = '{}' then '{"times":' || times || '}'
          else substr(detail, 1, length(detail) - 1) || ',"times":' || times || '}' end
        from security_events
        where event not in ('sign_in_refused', 'key_refused', 'cross_site_refused', 'rate_limited') order by id`,
      sql`create index account_events_account on account_events (account_id, id) where account_id is not null`,
      sql`create index account_events_at on account_events (at)`,
      sql`create table quota_use (
        quota ${text} not null,
        holder ${text} not null, -- HMAC of the period and the holder; or a word
        ends_at ${integer} not null, -- end of the period
        used ${integer} not null,
        primary key (quota, holder, ends_at)
      ) ${clustered}`,
      ...["security_events", "daily_use", "mail_use", "operator_codes"].map(
        (name) => sql`drop table ${sql.table(name)}`,
      ),
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};

/** One worker is active, by a lease; repositories, walks and requests are no longer leased, and quotas no longer shared. */
const oneWorker: Migration = {
  name: "one-worker",
  async up(tx, { types: { integer, text }, clustered }) {
    const statements = [
      sql`create table worker_lease (
        id ${integer} primary key, -- always 1
        holder ${text} not null,
        ends_at ${integer} not null -- by the clock of the database
      )`,
      sql`drop index tracking_leased`,
      sql`alter table tracking drop column leased_until`,
      sql`alter table walks drop column leased_until`,
      sql`alter table track_requests rename column leased_until to retry_at`,
      sql`alter table track_lists rename column leased_until to retry_at`,
      sql`drop table forge_states`,
      sql`drop table track_lanes`,
      // One report for each provider; the worker writes it again within seconds.
      sql`drop table worker_reports`,
      sql`create table worker_reports (
        provider ${text} primary key,
        at ${integer} not null,
        body ${text} not null -- JSON
      ) ${clustered}`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};

/** Lists, search, ranks and facets are found in memory; the database keeps what changed last. */
const inMemory: Migration = {
  name: "in-memory",
  async up(tx, { engine, types: { integer } }) {
    const dropped = [
      "leaderboards",
      "repository_ranks",
      "facets",
      "facet_parts",
      "search_state",
      "search_pages",
      "search_additions",
      "search_words",
      "repository_topics",
    ];
    const ofRepositories = [
      "by_stars",
      "by_forks",
      "by_pushed_at",
      "by_created_at",
      "language",
      "provider",
      "license",
      "archived",
      "fork",
    ];
    const valued = ["stars", "forks", "pushed_at", "created_at", "archived", "fork"];
    const statements = [
      ...dropped.map((name) => sql`drop table ${sql.table(name)}`),
      ...ofRepositories.map((name) => sql`drop index ${sql.ref(`repositories_${name}`)}`),
      ...(engine === "sqlite"
        ? []
        : valued.map((name) => sql`drop statistics if exists ${sql.ref(`repositories_${name}_value`)}`)),
      ...(await rollupIndexes(tx, engine)).map((name) => sql`drop index ${sql.ref(name)}`),
      sql`delete from summaries where id = 2`,
      sql`delete from runs where id = 3`,
      sql`update runs set owner = null`,
      sql`delete from outdated where kind in ('words', 'words_in_rebuild', 'ranks')`,
      sql`create table changes (repository_id ${integer} primary key, revision ${integer} not null)`,
      sql`create index changes_revision on changes (revision)`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};

/** The indexes that lists needed, whose names end in the number of the last rebuild. */
async function rollupIndexes(
  tx: Parameters<Migration["up"]>[0],
  engine: MigrationEngine["engine"],
): Promise<string[]> {
  const { rows } = await (engine === "sqlite"
    ? sql<{ name: string }>`select name from sqlite_master where type = 'index' and tbl_name = 'rollups'`
    : sql<{ name: string }>`select indexname as name from pg_indexes
        where schemaname = current_schema() and tablename = 'rollups'`
  ).execute(tx);
  return rows.map(({ name }) => name).filter((name) => /^rollups_(?!key|age)/.test(name));
}

/** Renames a table, and on PostgreSQL its constraints, which would keep the name that it was made with. */
function renameTable({ engine }: MigrationEngine, [from, to]: [string, string], constraints: string[]) {
  const names = engine === "sqlite" ? [] : constraints;
  return [
    sql`alter table ${sql.table(from)} rename to ${sql.table(to)}`,
    ...names.map(
      (name) =>
        sql`alter table ${sql.table(to)} rename constraint ${sql.ref(`${from}_${name}`)} to ${sql.ref(`${to}_${name}`)}`,
    ),
  ];
}

/** What brings a store of version 17 to the schema of version 24: the first step to 18, and so on. */
export const adoption: readonly Migration[] = [
  manualRenames,
  ownedAvatars,
  returnedLevels,
  hourlyUsage,
  accountEvents,
  oneWorker,
  inMemory,
];
