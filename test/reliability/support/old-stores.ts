/** Stores of earlier versions, made by the migrations up to them. */
import { type KyselyPlugin, sql } from "kysely";
import type { Db, Dialect } from "../../../src/database/dialect.js";
import { MIGRATIONS, migrate } from "../../../src/database/migrate.js";
import { systemClock } from "../../../src/lib/clock.js";

/** A connection to a store of any version. */
export interface OldStore {
  db: Db;
  dialect: Dialect;
}

/** Versions that a store may have; 0 is an empty one. */
export const NEWEST = MIGRATIONS.length;

const AT = Date.UTC(2026, 3, 30, 12);
const TIME = new Date(AT).toISOString();

/** What a store of the first version holds: a little of everything that people made, and of the catalogue. */
const ROWS = [
  sql`insert into accounts (id, email, email_verified, name, created_at, updated_at)
    values ('one', 'one@example.org', '1', 'One', ${TIME}, ${TIME})`,
  sql`insert into sessions (id, account_id, token_hash, created_at, updated_at, expires_at)
    values ('s', 'one', 'hash of a session', ${TIME}, ${TIME}, ${TIME})`,
  sql`insert into api_keys (account_id, name, hash, hint, created_at, revoked_at)
    values ('one', 'active', 'hash a', 'aaaa', ${AT}, null), ('one', 'revoked', 'hash b', 'bbbb', ${AT}, ${AT})`,
  sql`insert into repositories (id, provider, provider_id, owner, name, name_key, url, topics, stars, forks,
      availability, created_at, discovered_at, refreshed_at, counted_at, next_refresh_at, known_facts)
    values (1, 'GITHUB', '11', 'a', 'One', 'a/one', 'https://github.com/a/One', '["x"]', 10, 1,
        'AVAILABLE', ${AT}, ${AT}, ${AT}, ${AT}, ${AT + 86_400_000}, 255),
      (2, 'GITHUB', null, 'b', 'two', 'b/two', 'https://github.com/b/two', '[]', null, null,
        'GONE', null, ${AT}, null, null, null, 0)`,
  sql`insert into repository_topics (repository_id, topic) values (1, 'x')`,
  sql`insert into previous_names (repository_id, provider, name_key, full_name, until)
    values (1, 'GITHUB', 'a/earlier', 'a/earlier', ${AT})`,
  ...[1, 2, 3, 4, 5, 6, 7].map(
    (day) => sql`insert into snapshots (repository_id, captured_at, stars, forks, source)
      values (1, ${AT - day * 86_400_000}, ${10 - day}, null, 1)`,
  ),
  sql`insert into watchlists (account_id, token_hash, share_token_hash, name, version, created_at, updated_at)
    values ('one', null, null, 'Own', 1, ${AT}, ${AT}), (null, 'hash t', 'hash s', 'By token', 3, ${AT}, ${AT})`,
  sql`insert into watchlist_items (watchlist_id, repository_id, sort_order, added_at)
    select id, 1, 1, created_at from watchlists`,
  sql`insert into watchlist_visits (account_id, seen_at, seen_state) values ('one', ${AT}, '{}')`,
  sql`insert into marks (name, value) values ('kept', 'yes')`,
];

/** Migrates a store to a version. The first statement reads its version, outside the transaction. */
export function migrateTo({ db, dialect }: OldStore, version: number): Promise<void> {
  return migrate(db, dialect, { clock: systemClock, migrations: MIGRATIONS.slice(0, version) });
}

/** Fills a store of version 1. */
export async function fillOldStore({ db }: OldStore): Promise<void> {
  for (const row of ROWS) await row.execute(db);
}

/** The version of a store; 0 for an empty one. */
export async function versionOf(db: Db): Promise<number> {
  const found = await sql<{ n: number }>`select max(version) as n from schema_version`
    .execute(db)
    .catch(() => undefined);
  return found?.rows[0]?.n ?? 0;
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
const CLOCKED = new Set(["schema_version.applied_at", "watchlists.opened_at", "sessions.seen_at"]);

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
