import { sql } from "kysely";
import type { Migration } from "../migrate.js";

/**
 * Accounts, what signs them in, and what belongs to them. Whatever belongs to an account goes with its row. The sign-in
 * library writes the first four tables; test/accounts/library.test.ts proves that it finds nothing missing.
 */
export const accounts: Migration = {
  name: "accounts",
  async up(tx, dialect) {
    const { integer, ownId, text, libraryTime: time, libraryFlag: flag } = dialect.types;
    await sql`create table accounts (
      id ${text} not null primary key,
      name ${text} not null,
      email ${text} not null unique,
      email_verified ${flag} not null,
      image ${text},
      created_at ${time} not null,
      updated_at ${time} not null
    )`.execute(tx);
    await sql`create table identities (
      id ${text} not null primary key,
      provider ${text} not null,
      provider_account_id ${text} not null,
      account_id ${text} not null references accounts (id) on delete cascade,
      access_token ${text},
      refresh_token ${text},
      id_token ${text},
      access_token_expires_at ${time},
      refresh_token_expires_at ${time},
      scope ${text},
      password ${text},
      created_at ${time} not null,
      updated_at ${time} not null
    )`.execute(tx);
    await sql`create unique index identities_provider on identities (provider, provider_account_id)`.execute(
      tx,
    );
    await sql`create index identities_account on identities (account_id)`.execute(tx);
    await sql`create table sessions (
      id ${text} not null primary key,
      token_hash ${text} not null unique,
      account_id ${text} not null references accounts (id) on delete cascade,
      ip_address ${text},
      user_agent ${text},
      expires_at ${time} not null,
      created_at ${time} not null,
      updated_at ${time} not null
    )`.execute(tx);
    await sql`create index sessions_account on sessions (account_id)`.execute(tx);
    await sql`create index sessions_expiry on sessions (expires_at)`.execute(tx);
    await sql`create table verifications (
      id ${text} not null primary key,
      identifier ${text} not null,
      value ${text} not null,
      expires_at ${time} not null,
      created_at ${time} not null,
      updated_at ${time} not null
    )`.execute(tx);
    await sql`create index verifications_identifier on verifications (identifier)`.execute(tx);
    await sql`create index verifications_expiry on verifications (expires_at)`.execute(tx);

    await sql`create table api_keys (
      id ${ownId} primary key,
      account_id ${text} not null references accounts (id) on delete cascade,
      name ${text} not null,
      hash ${text} not null unique,
      hint ${text} not null,
      created_at ${integer} not null,
      last_used_at ${integer},
      revoked_at ${integer}
    )`.execute(tx);
    await sql`create index api_keys_account on api_keys (account_id, id)`.execute(tx);
    await sql`create table account_watchlist_items (
      account_id ${text} not null references accounts (id) on delete cascade,
      repository_id ${integer} not null references repositories (id),
      place ${integer} not null,
      added_at ${integer} not null,
      primary key (account_id, repository_id)
    ) ${dialect.clustered}`.execute(tx);
  },
};
