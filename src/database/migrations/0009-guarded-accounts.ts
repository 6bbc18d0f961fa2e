import { sql } from "kysely";
import type { Migration } from "../migration.js";

/** Sessions that end when they are not used, passkeys, what has happened to accounts, and how much mail was sent to whom. */
export const guardedAccounts: Migration = {
  name: "guarded-accounts",
  async up(tx, { engine, types: { integer, ownId, text, libraryTime: time, libraryFlag: flag }, clustered }) {
    const now =
      engine === "sqlite" ? sql`unixepoch() * 1000` : sql`cast(extract(epoch from now()) * 1000 as bigint)`;
    const statements = [
      // When existing sessions were last used is not known: their time begins now.
      sql`alter table sessions add column seen_at ${integer} not null default 0`,
      sql`update sessions set seen_at = ${now}`,
      sql`create index sessions_seen on sessions (seen_at)`,

      sql`create table sign_in_requests (
        token_hash ${text} not null primary key, -- SHA-256 of the token in the mailed link
        browser_hash ${text} not null, -- SHA-256 of the secret of the browser that requested it
        code_hash ${text} not null, -- HMAC of the browser and the mailed code
        email ${text} not null,
        next ${text} not null, -- path to continue to
        tries ${integer} not null, -- codes compared with this one
        requested_at ${integer} not null
      ) ${clustered}`,
      sql`create index sign_in_requests_browser on sign_in_requests (browser_hash)`,
      sql`create index sign_in_requests_time on sign_in_requests (requested_at)`,

      // Written by the sign-in library, like the other tables of people.
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

      // No reference to the account: what led to its end is kept as long as the rest.
      sql`create table security_events (
        id ${ownId} primary key,
        at ${integer} not null,
        account_id ${text}, -- null: nobody was signed in
        event ${text} not null,
        network ${text} not null, -- of the caller, shortened
        detail ${text} not null, -- JSON object without secrets
        times ${integer} not null -- how many events alike the row stands for
      )`,
      sql`create index security_events_account on security_events (account_id, id) where account_id is not null`,
      sql`create index security_events_at on security_events (at)`,

      sql`create table mail_use (
        span ${integer} not null, -- hours since 1970, UTC
        counted ${text} not null, -- HMAC of the hour and what is counted; or a word
        used ${integer} not null,
        primary key (span, counted)
      ) ${clustered}`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
