import { type RawBuilder, sql } from "kysely";
import type { MigrationEngine } from "../../migration.js";

/**
 * Accounts and API keys. Deleting an account deletes all rows that reference it. The sign-in library writes the first four
 * tables; test/accounts/library.test.ts checks that they have every column it needs.
 */
export function accountTables({
  types: { integer, ownId, text, libraryTime: time, libraryFlag: flag },
}: MigrationEngine): RawBuilder<unknown>[] {
  return [
    sql`create table accounts (
      id ${text} not null primary key,
      email ${text} not null unique, -- lower case
      email_verified ${flag} not null,
      name ${text} not null,
      image ${text},
      created_at ${time} not null,
      updated_at ${time} not null
    )`,

    // Sign-ins through other sites.
    sql`create table identities (
      id ${text} not null primary key,
      account_id ${text} not null references accounts (id) on delete cascade,
      provider ${text} not null,
      provider_account_id ${text} not null,
      access_token ${text},
      access_token_expires_at ${time},
      refresh_token ${text},
      refresh_token_expires_at ${time},
      id_token ${text},
      scope ${text},
      password ${text},
      created_at ${time} not null,
      updated_at ${time} not null
    )`,
    sql`create unique index identities_provider on identities (provider, provider_account_id)`,
    sql`create index identities_account on identities (account_id)`,

    sql`create table sessions (
      id ${text} not null primary key,
      account_id ${text} not null references accounts (id) on delete cascade,
      token_hash ${text} not null unique,
      ip_address ${text},
      user_agent ${text},
      created_at ${time} not null,
      updated_at ${time} not null,
      expires_at ${time} not null
    )`,
    sql`create index sessions_account on sessions (account_id)`,
    sql`create index sessions_expiry on sessions (expires_at)`,

    // Sign-in links and OAuth states in progress.
    sql`create table verifications (
      id ${text} not null primary key,
      identifier ${text} not null,
      value ${text} not null,
      created_at ${time} not null,
      updated_at ${time} not null,
      expires_at ${time} not null
    )`,
    sql`create index verifications_identifier on verifications (identifier)`,
    sql`create index verifications_expiry on verifications (expires_at)`,

    sql`create table api_keys (
      id ${ownId} primary key,
      account_id ${text} not null references accounts (id) on delete cascade,
      name ${text} not null,
      hash ${text} not null unique, -- SHA-256 in hex; the key itself is never stored
      hint ${text} not null, -- the last four characters
      created_at ${integer} not null,
      last_used_at ${integer}, -- to the minute; null: never
      revoked_at ${integer} -- null: active
    )`,
    sql`create index api_keys_account on api_keys (account_id, id)`,
  ];
}
