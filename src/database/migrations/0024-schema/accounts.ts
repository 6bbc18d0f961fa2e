import { type RawBuilder, sql } from "kysely";
import type { MigrationEngine } from "../../migration.js";

/** Accounts and their API keys, with events and usage. Deleting an account deletes all rows that reference it. */
export function accountTables({
  types: { integer, ownId, text, libraryTime: time, libraryFlag: flag },
  clustered,
}: MigrationEngine): RawBuilder<unknown>[] {
  // Usage is keyed by the API key and the start of the hour first, so that a view reads one contiguous range.
  const key = sql`key_id ${integer} not null references api_keys (id) on delete cascade`;
  const hour = sql`${key},
      from_at ${integer} not null`;
  return [
    // The sign-in library writes the first five tables; test/accounts/library.test.ts checks that they have every column it needs.
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
      expires_at ${time} not null,
      seen_at ${integer} not null default 0 -- when it was last used
    )`,
    sql`create index sessions_account on sessions (account_id)`,
    sql`create index sessions_expiry on sessions (expires_at)`,
    sql`create index sessions_seen on sessions (seen_at)`,

    // OAuth states in progress.
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

    sql`create table passkeys (
      id ${text} not null primary key,
      account_id ${text} not null references accounts (id) on delete cascade,
      name ${text},
      public_key ${text} not null,
      credential_id ${text} not null unique,
      counter ${integer} not null,
      device_type ${text} not null,
      backed_up ${flag} not null,
      transports ${text},
      aaguid ${text},
      created_at ${time}
    )`,
    sql`create index passkeys_account on passkeys (account_id)`,

    // Codes and links to sign in, and codes for operators, that were not used yet.
    sql`create table sign_in_requests (
      token_hash ${text} not null primary key, -- SHA-256 of the token in the mailed link
      browser_hash ${text} not null, -- SHA-256 of the secret of the browser that requested it
      code_hash ${text} not null, -- HMAC of the browser and the mailed code
      email ${text} not null, -- empty: for an operator
      next ${text} not null, -- path to continue to
      tries ${integer} not null, -- codes compared with this one
      requested_at ${integer} not null
    ) ${clustered}`,
    sql`create index sign_in_requests_browser on sign_in_requests (browser_hash)`,
    sql`create index sign_in_requests_time on sign_in_requests (requested_at)`,

    // Browsers on this machine that began with an operator's code.
    sql`create table operator_sessions (
      token_hash ${text} primary key,
      began_at ${integer} not null
    ) ${clustered}`,

    // No reference to the account: what led to its end is kept as long as the rest.
    sql`create table account_events (
      id ${ownId} primary key,
      at ${integer} not null,
      account_id ${text}, -- null: an operator at the machine
      event ${text} not null,
      network ${text} not null, -- of the sender, shortened
      detail ${text} not null -- JSON object without secrets
    )`,
    sql`create index account_events_account on account_events (account_id, id) where account_id is not null`,
    sql`create index account_events_at on account_events (at)`,

    // How much of a quota was used up in a period.
    sql`create table quota_use (
      quota ${text} not null,
      holder ${text} not null, -- HMAC of the period and the holder; or a word
      ends_at ${integer} not null, -- end of the period
      used ${integer} not null,
      primary key (quota, holder, ends_at)
    ) ${clustered}`,

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

    sql`create table usage_routes (
      ${hour},
      method ${text} not null, -- empty with the route "other"
      route ${text} not null, -- path pattern, or "other"
      outcome ${text} not null,
      requests ${integer} not null,
      bytes ${integer} not null, -- response bodies as sent
      micros ${integer} not null, -- time spent on responses
      primary key (key_id, from_at, method, route, outcome)
    ) ${clustered}`,

    // How close a key came to its limits.
    sql`create table usage_allowances (
      ${hour},
      bucket ${text} not null,
      allowance ${integer} not null, -- the limit when the key was last used
      lowest ${integer} not null, -- the lowest remaining count reported
      lowest_at ${integer} not null,
      primary key (key_id, from_at, bucket)
    ) ${clustered}`,

    // Networks and user agents that used a key.
    sql`create table usage_callers (
      ${hour},
      kind ${text} not null, -- address or agent
      name ${text} not null, -- a network, never a whole address; or a family of user agents
      requests ${integer} not null,
      last_at ${integer} not null,
      primary key (key_id, from_at, kind, name)
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
