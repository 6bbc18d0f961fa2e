import { sql } from "kysely";
import type { Migration } from "../migration.js";

/**
 * Tokens of forges that operators enter on a page, how somebody at the machine becomes one for an hour, what the worker
 * prepares for their page, and lists of repositories that are requested together.
 */
export const forgeTokens: Migration = {
  name: "forge-tokens",
  async up(tx, { types: { integer, text, ownId }, clustered }) {
    const statements = [
      sql`create table forge_tokens (
        id ${ownId} primary key,
        provider ${text} not null,
        site ${text} not null, -- origin of the site that accepted it: it is sent nowhere else
        fingerprint ${text} not null, -- HMAC of the token under the key
        key_id ${text} not null, -- which key it is encrypted with
        sealed ${text} not null, -- nonce, ciphertext and tag of AES-256-GCM; bound to provider, site and fingerprint
        added_at ${integer} not null,
        checked_at ${integer} not null, -- when the forge accepted it
        allows ${text} not null, -- JSON of providers' TokenCheck
        unique (provider, fingerprint)
      )`,
      sql`create table operator_codes (
        browser_hash ${text} primary key, -- SHA-256 of the secret of the browser that requested it
        code_hash ${text} not null, -- HMAC of the browser and the code
        tries ${integer} not null,
        requested_at ${integer} not null
      ) ${clustered}`,
      sql`create table operator_sessions (
        token_hash ${text} primary key,
        began_at ${integer} not null
      ) ${clustered}`,
      sql`create table status_documents (
        name ${text} primary key,
        at ${integer} not null,
        body ${text} not null
      ) ${clustered}`,
      sql`create table track_lists (
        id ${ownId} primary key,
        public_id ${text} not null unique,
        provider ${text}, -- of the repository whose README has the links; null: they were pasted
        full_name ${text},
        requested_at ${integer} not null,
        leased_until ${integer} not null,
        attempts ${integer} not null,
        found ${integer} not null, -- repositories that it links to
        known ${integer} not null, -- those that were tracked already
        left_out ${integer} not null,
        failure ${text}, -- one of providers' FAILURE_KINDS
        read_at ${integer} -- null: its README is to be read
      )`,
      sql`create index track_lists_unread on track_lists (provider, id) where read_at is null`,
      sql`create index track_lists_requested on track_lists (requested_at)`,
      sql`alter table track_requests add column list_id ${integer}`, // the list that it came with; null: none
      sql`create index track_requests_list on track_requests (list_id) where list_id is not null`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
