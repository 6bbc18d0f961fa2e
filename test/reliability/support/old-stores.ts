/** A store of version 17, the oldest that is adopted, with a little of everything that people made and of the catalogue. */
import { type KyselyPlugin, sql } from "kysely";
import type { Db, Dialect } from "../../../src/database/dialect.js";
import { migrate } from "../../../src/database/migrate.js";
import { systemClock } from "../../../src/lib/clock.js";

/** A connection to a store of any version. */
export interface OldStore {
  db: Db;
  dialect: Dialect;
}

const AT = Date.UTC(2026, 3, 30, 12);
const TIME = new Date(AT).toISOString();
const DAY = AT - (AT % 86_400_000);
const HOUR = 3_600_000;

/** The tables of version 17 that are different now. */
function earlierTables({ types: { integer, text, real, bytes, ownId }, clustered }: Dialect) {
  const span = sql`key_id ${integer} not null references api_keys (id) on delete cascade, span_hours ${integer} not null,
    from_at ${integer} not null`;
  return [
    ...["worker_lease", "worker_reports", "account_events", "quota_use", "avatars", "renames"].map(
      (name) => sql`drop table ${sql.table(name)}`,
    ),
    ...["usage_routes", "usage_allowances", "usage_callers"].map(
      (name) => sql`drop table ${sql.table(name)}`,
    ),
    sql`alter table tracking add column leased_until ${integer} not null default 0`,
    sql`create index tracking_leased on tracking (provider, leased_until) where leased_until > 0`,
    sql`alter table walks add column leased_until ${integer} not null default 0`,
    sql`alter table track_requests rename column retry_at to leased_until`,
    sql`alter table track_lists rename column retry_at to leased_until`,
    sql`create table forge_states (provider ${text} primary key, body ${text} not null) ${clustered}`,
    sql`create table track_lanes (provider ${text} primary key, at ${integer} not null, ready_at ${integer} not null,
      remaining ${integer}, quota ${integer}, reset_at ${integer})`,
    sql`create table worker_reports (worker ${text} not null, provider ${text} not null, at ${integer} not null,
      body ${text} not null, primary key (worker, provider)) ${clustered}`,
    sql`create table security_events (id ${ownId} primary key, at ${integer} not null, account_id ${text},
      event ${text} not null, network ${text} not null, detail ${text} not null, times ${integer} not null)`,
    sql`create index security_events_account on security_events (account_id, id) where account_id is not null`,
    sql`create index security_events_at on security_events (at)`,
    sql`create table daily_use (day ${integer} not null, quota ${text} not null, caller ${text} not null,
      used ${integer} not null, primary key (day, quota, caller)) ${clustered}`,
    sql`create table mail_use (span ${integer} not null, counted ${text} not null, used ${integer} not null,
      primary key (span, counted)) ${clustered}`,
    sql`create table operator_codes (browser_hash ${text} primary key, code_hash ${text} not null,
      tries ${integer} not null, requested_at ${integer} not null) ${clustered}`,
    sql`create table usage_routes (${span}, method ${text} not null, route ${text} not null, outcome ${text} not null,
      requests ${integer} not null, bytes ${integer} not null, micros ${integer} not null,
      primary key (key_id, span_hours, from_at, method, route, outcome)) ${clustered}`,
    sql`create table usage_allowances (${span}, bucket ${text} not null, allowance ${integer} not null,
      lowest ${integer} not null, lowest_at ${integer} not null, primary key (key_id, span_hours, from_at, bucket)) ${clustered}`,
    sql`create table usage_callers (${span}, kind ${text} not null, name ${text} not null, requests ${integer} not null,
      last_at ${integer} not null, primary key (key_id, span_hours, from_at, kind, name)) ${clustered}`,
    sql`create table avatars (provider ${text} not null, owner_key ${text} not null, owner ${text} not null, address ${text},
      version ${text}, bytes ${integer} not null, etag ${text}, next_at ${integer} not null, failures ${integer} not null,
      problem ${text}, wanted_at ${integer} not null, position ${integer} not null, changed_at ${integer} not null,
      primary key (provider, owner_key)) ${clustered}`,
    sql`create index avatars_next on avatars (provider, next_at)`,
    sql`create index avatars_wanted on avatars (wanted_at)`,
    sql`create index avatars_position on avatars (position) where version is not null`,
    sql`create index avatars_version on avatars (version, changed_at) where version is not null`,
    sql`create table avatar_images (version ${text} not null primary key, png ${bytes} not null)`,
    sql`create table renames (id ${ownId} primary key, from_id ${integer} not null references repositories (id),
      to_id ${integer} not null references repositories (id), status ${text} not null, evidence ${text} not null,
      continues_at ${integer} not null, suspected_at ${integer} not null, decided_at ${integer}, joined_before ${integer},
      unique (from_id, to_id))`,
    sql`create index renames_to on renames (to_id)`,
    sql`create index repositories_import_first on repositories (import_source, discovered_at)
      where import_source is not null`,
    sql`create table runs (id ${integer} primary key, generation ${integer} not null, owner ${text}, seen_at ${integer} not null)`,
    sql`create table moved_days (provider ${text} not null, day ${integer} not null, fell ${integer} not null,
      jumped ${integer} not null, compared ${integer} not null, primary key (provider, day)) ${clustered}`,
    sql`create table score_scales (provider ${text} not null, window_hours ${integer} not null, as_of ${integer} not null,
      stars ${real} not null, forks ${real} not null, primary key (provider, window_hours)) ${clustered}`,
    sql`alter table rollups add column predecessor_id ${integer}`,
    ...["held_until", "held_delta", "totals_from"].map(
      (name) => sql`alter table rollups drop column ${sql.ref(name)}`,
    ),
    sql`alter table rollups add column fresh_until ${integer} not null default 0`,
    sql`create index rollups_age_0 on rollups (provider, window_hours, fresh_until)`,
    sql`drop table changes`,
    sql`create table repository_topics (repository_id ${integer} not null references repositories (id), topic ${text} not null,
      primary key (repository_id, topic)) ${clustered}`,
    ...[
      "leaderboards",
      "repository_ranks",
      "facets",
      "facet_parts",
      "search_state",
      "search_pages",
      "search_additions",
      "search_words",
    ].map((name) => sql`create table ${sql.table(name)} (id ${integer} primary key)`),
    ...[
      "by_stars",
      "by_forks",
      "by_pushed_at",
      "by_created_at",
      "language",
      "provider",
      "license",
      "archived",
      "fork",
    ].map((name) => sql`create index ${sql.ref(`repositories_${name}`)} on repositories (id)`),
    ...["stars", "trending", "reliable"].map(
      (name) => sql`create index ${sql.ref(`rollups_${name}_0`)} on rollups (window_hours)`,
    ),
    sql`insert into runs (id, generation, owner, seen_at) values (3, 0, null, 0)`,
    sql`update revision set value = 0`,
    sql`alter table previous_names drop column revision`,
    sql`drop table track_questions`,
    sql`drop table waiting_rows`,
    sql`alter table track_lists drop column left_out_names`,
    sql`alter table repositories drop column fact_times`,
    ...["store", "marks"].map((name) => sql`alter table revision drop column ${sql.ref(name)}`),
    sql`drop index changes_removed`,
    ...["added", "removed_at"].map((name) => sql`alter table changes drop column ${sql.ref(name)}`),
    sql`alter table watchlist_items drop column from_id`,
    sql`delete from schema_version`,
    sql`insert into schema_version (version, name, applied_at) values (17, 'expression-statistics', ${AT})`,
  ];
}

const repository = (id: number, key: string | null, availability: string) =>
  sql`insert into repositories (id, provider, owner, name, name_key, url, topics, stars, availability, discovered_at, known_facts)
    values (${id}, 'GITHUB', 'o', 'n', ${key}, 'https://github.com/o/n', '["x"]', 10, ${availability}, ${AT}, 255)`;

const ROWS = [
  sql`insert into accounts (id, email, email_verified, name, created_at, updated_at)
    values ('one', 'one@example.org', '1', 'One', ${TIME}, ${TIME})`,
  sql`insert into sessions (id, account_id, token_hash, created_at, updated_at, expires_at)
    values ('s', 'one', 'hash of a session', ${TIME}, ${TIME}, ${TIME})`,
  sql`insert into api_keys (account_id, name, hash, hint, created_at, revoked_at)
    values ('one', 'active', 'hash a', 'aaaa', ${AT}, null), ('one', 'revoked', 'hash b', 'bbbb', ${AT}, ${AT})`,
  repository(1, "o/one", "AVAILABLE"),
  repository(2, "o/suspected", "RENAMED"),
  repository(3, null, "RENAMED"),
  sql`insert into renames (from_id, to_id, status, evidence, continues_at, suspected_at, joined_before)
    values (2, 1, 'SUSPECTED', '{}', 20, 30, null), (3, 1, 'ACCEPTED', '{}', 40, 50, 40)`,
  sql`insert into repository_topics (repository_id, topic) values (1, 'x')`,
  sql`insert into previous_names (repository_id, provider, name_key, full_name, until)
    values (1, 'GITHUB', 'o/earlier', 'o/earlier', ${AT})`,
  ...[1, 2, 3].map(
    (day) => sql`insert into snapshots (repository_id, captured_at, stars, forks, source)
      values (1, ${AT - day * 86_400_000}, ${10 - day}, null, 1)`,
  ),
  sql`insert into tracking (repository_id, provider, failures, leased_until) values (1, 'GITHUB', 2, ${AT})`,
  sql`insert into walks (provider, next_at, started_at, found, walks, leased_until) values ('GITHUB', 1, 2, 3, 4, 5)`,
  sql`insert into track_requests (public_id, provider, full_name, name_key, is_batch, requested_at, leased_until, attempts, pages)
    values ('p', 'GITHUB', 'o/new', 'o/new', 0, ${AT}, 7, 1, 0)`,
  sql`insert into avatar_images (version, png) values ('0123', ${new Uint8Array([1, 2, 3])})`,
  ...["octo", "twin", "none"].map(
    (
      name,
    ) => sql`insert into avatars (provider, owner_key, owner, address, version, bytes, next_at, failures, wanted_at, position, changed_at)
      values ('GITHUB', ${name}, ${name}, 'https://a/', ${name === "none" ? null : "0123"}, 3, 1, 0, 2, 0, 3)`,
  ),
  sql`insert into watchlists (account_id, token_hash, share_token_hash, name, version, created_at, updated_at)
    values ('one', null, null, 'Own', 1, ${AT}, ${AT}), (null, 'hash t', 'hash s', 'By token', 3, ${AT}, ${AT})`,
  sql`insert into watchlist_items (watchlist_id, repository_id, sort_order, added_at)
    select id, 1, 1, created_at from watchlists`,
  sql`insert into watchlist_visits (account_id, seen_at, seen_state) values ('one', ${AT}, '{}')`,
  sql`insert into security_events (at, account_id, event, network, detail, times)
    values (1, 'one', 'signed_in', 'n', '{"method":"link"}', 1),
      (2, 'one', 'signed_in', 'n', '{"method":"link"}', 3), (3, 'one', 'key_refused', 'n', '{}', 9), (4, 'one', 'signed_out', 'n', '{}', 2)`,
  // Sums of 24 and 6 hours, and the hours that are known among them.
  ...[
    [24, DAY - 40 * 24 * HOUR, 50],
    [24, DAY, 30],
    [6, DAY, 7],
    [6, DAY + 12 * HOUR, 20],
    [1, DAY + 13 * HOUR, 5],
  ].flatMap(([hours, at, n]) => [
    sql`insert into usage_routes select id, ${hours}, ${at}, 'GET', '/a', '2xx', ${n}, ${n}, ${n} from api_keys where name = 'active'`,
    sql`insert into usage_callers select id, ${hours}, ${at}, 'agent', 'curl', ${n}, ${at} from api_keys where name = 'active'`,
    sql`insert into usage_allowances select id, ${hours}, ${at}, 'default', 99, ${90 - Number(n)}, ${at} from api_keys
      where name = 'active'`,
  ]),
  sql`insert into marks (name, value) values ('kept', 'yes')`,
];

/** Makes a store of version 17 in an empty database, or from one that nobody has written to. */
export async function makeOldStore({ db, dialect }: OldStore): Promise<void> {
  await migrate(db, dialect, { clock: systemClock });
  await db.transaction().execute(async (tx) => {
    for (const statement of [...earlierTables(dialect), ...ROWS]) await statement.execute(tx);
  });
}

/** Calls `before` with the number of each statement, from 1, before it is sent; it may throw. */
export function counting(before: (statement: number) => void): KyselyPlugin {
  let statements = 0;
  return {
    transformQuery({ node }) {
      before(++statements);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
}

/** Columns that a migration fills with the time. */
const CLOCKED = new Set(["schema_version.applied_at"]);

/** Everything that is stored: the definitions, and all rows of all tables as sorted texts. */
export async function dumpStore({ db, dialect }: OldStore): Promise<Record<string, unknown>> {
  const dump: Record<string, unknown> = {};
  const [definitions, tables] = dialect.engine === "sqlite" ? sqliteSchema : postgresSchema;
  dump.definitions = (await definitions.execute(db)).rows.map((row) => JSON.stringify(row));
  for (const { name } of (await tables.execute(db)).rows) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db);
    dump[name] = rows
      .map((row) =>
        JSON.stringify(Object.entries(row).filter(([column]) => !CLOCKED.has(`${name}.${column}`))),
      )
      .sort();
  }
  return dump;
}

type Table = { name: string };
const sqliteSchema = [
  sql`select type, name, tbl_name, sql from sqlite_schema where name not like 'sqlite_%' order by type, name`,
  sql<Table>`select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name`,
] as const;
const postgresSchema = [
  sql`select table_name as t, column_name as c, data_type || ' ' || is_nullable as d from information_schema.columns
    where table_schema = 'public' union all
    select tablename, indexname, indexdef from pg_indexes where schemaname = 'public' union all
    select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint
    where connamespace = 'public'::regnamespace order by 1, 2, 3`,
  sql<Table>`select table_name as name from information_schema.tables where table_schema = 'public' order by 1`,
] as const;
