import { type RawBuilder, sql } from "kysely";
import type { MigrationEngine } from "../../migration.js";

/**
 * What the worker remembers between runs, and what it is asked for. When a repository is due is `repositories.next_refresh_at`.
 */
export function trackingTables({
  types: { integer, ownId, text, bytes },
  clustered,
}: MigrationEngine): RawBuilder<unknown>[] {
  return [
    // The active worker: at most one row.
    sql`create table worker_lease (
      id ${integer} primary key, -- always 1
      holder ${text} not null,
      ends_at ${integer} not null -- by the clock of the database
    )`,

    sql`create table tracking (
      repository_id ${integer} primary key,
      provider ${text} not null,
      node_id ${text},
      etag ${text}, -- validator of the provider's last response
      failures ${integer} not null, -- consecutive
      history_cursor ${text}, -- progress of the backfill; null: not started
      history_due ${integer}, -- when the backfill continues; null: complete
      doubted_at ${integer}, -- when the last reading was recorded that is requested a second time
      recheck_at ${integer}, -- when the second reading is due; null: not
      detailed_at ${integer}, -- when its own record was last read: lists have fewer fields
      details_due ${integer}, -- null: not needed, or not known yet
      missing_since ${integer} -- reported lost, not recorded; null: not
    )`,
    sql`create index tracking_history on tracking (provider, history_due) where history_due is not null`,
    sql`create index tracking_doubted on tracking (provider, doubted_at) where doubted_at is not null`,
    sql`create index tracking_recheck on tracking (provider, recheck_at) where recheck_at is not null`,
    sql`create index tracking_details on tracking (provider, details_due) where details_due is not null`,
    sql`create index tracking_missing on tracking (provider, missing_since) where missing_since is not null`,

    // Walks over all repositories of a provider, which discover new ones.
    sql`create table walks (
      provider ${text} primary key,
      cursor ${text}, -- null: at the start
      next_at ${integer} not null,
      started_at ${integer} not null,
      found ${integer} not null, -- new repositories in the current walk
      walks ${integer} not null, -- completed walks
      pages ${integer} not null default 0, -- in this walk
      took_ms ${integer} -- the last one that is complete
    )`,

    // Repositories per provider and day that were recorded as lost.
    sql`create table lost_days (
      provider ${text} not null,
      day ${integer} not null,
      lost ${integer} not null,
      primary key (provider, day)
    ) ${clustered}`,

    // New repositories on lists per provider and day.
    sql`create table new_days (
      provider ${text} not null,
      day ${integer} not null,
      added ${integer} not null,
      surplus ${integer} not null, -- rows beyond the limit of the day
      primary key (provider, day)
    ) ${clustered}`,

    // The last status report of the worker.
    sql`create table worker_reports (
      provider ${text} primary key,
      at ${integer} not null,
      body ${text} not null -- JSON
    ) ${clustered}`,

    // What the worker prepares for pages of operators.
    sql`create table status_documents (
      name ${text} primary key,
      at ${integer} not null,
      body ${text} not null
    ) ${clustered}`,

    // Tokens of forges that operators have entered on a page.
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

    // Repositories that somebody asked to be tracked.
    sql`create table track_requests (
      id ${ownId} primary key,
      public_id ${text} not null unique,
      provider ${text} not null,
      full_name ${text} not null, -- as requested
      name_key ${text} not null,
      is_batch ${integer} not null, -- 1: one of many, after those of people who wait
      requested_at ${integer} not null,
      retry_at ${integer} not null,
      attempts ${integer} not null,
      failing_since ${integer}, -- the forge fails as a whole; null: it does not
      repository_id ${integer}, -- once it is recorded
      pages ${integer} not null, -- of its history, read so far
      failure ${text}, -- one of providers' FAILURE_KINDS
      finished_at ${integer}, -- its history is read, or it has failed
      list_id ${integer} -- the track_lists row that it came with; null: none
    )`,
    sql`create index track_requests_open on track_requests (provider, is_batch, id) where finished_at is null`,
    sql`create unique index track_requests_name on track_requests (provider, name_key) where finished_at is null`,
    sql`create index track_requests_finished on track_requests (finished_at) where finished_at is not null`,
    sql`create index track_requests_list on track_requests (list_id) where list_id is not null`,
    // The watchlists to add the repository of a request to.
    sql`create table track_request_lists (
      request_id ${integer} not null references track_requests (id) on delete cascade,
      watchlist_id ${integer} not null,
      primary key (request_id, watchlist_id)
    ) ${clustered}`,

    // Lists of repositories that are requested together.
    sql`create table track_lists (
      id ${ownId} primary key,
      public_id ${text} not null unique,
      provider ${text}, -- of the repository whose README has the links; null: they were pasted
      full_name ${text},
      requested_at ${integer} not null,
      retry_at ${integer} not null,
      attempts ${integer} not null,
      found ${integer} not null, -- repositories that it links to
      known ${integer} not null, -- those that were tracked already
      left_out ${integer} not null,
      failure ${text}, -- one of providers' FAILURE_KINDS
      read_at ${integer} -- null: its README is to be read
    )`,
    sql`create index track_lists_unread on track_lists (provider, id) where read_at is null`,
    sql`create index track_lists_requested on track_lists (requested_at)`,

    // Avatars of the owners on lists, with their images.
    sql`create table avatars (
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
    sql`create index avatars_next on avatars (provider, next_at)`,
    sql`create index avatars_wanted on avatars (wanted_at)`,
    // Pages read all versions, without the images beside them.
    sql`create index avatars_version on avatars (version, provider, owner_key) where version is not null`,
  ];
}
