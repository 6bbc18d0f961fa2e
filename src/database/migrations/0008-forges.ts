import { sql } from "kysely";
import type { Migration } from "../migration.js";

/**
 * What tracking needs to know about forges: when a repository's own record was last read, losses that were reported and not
 * believed yet, and repositories that somebody asked to be tracked. Growth is rebuilt.
 */
export const forges: Migration = {
  name: "forges",
  async up(tx, { types: { integer, text, ownId }, clustered }) {
    const statements = [
      // Lists have fewer fields than a repository's own record.
      sql`alter table tracking add column detailed_at ${integer}`,
      sql`alter table tracking add column details_due ${integer}`, // null: not needed, or not known yet
      sql`create index tracking_details on tracking (provider, details_due) where details_due is not null`,

      sql`alter table walks add column pages ${integer} not null default 0`, // in this walk
      sql`alter table walks add column took_ms ${integer}`, // the last one that is complete

      sql`alter table tracking add column missing_since ${integer}`, // reported lost, not recorded; null: not
      sql`create index tracking_missing on tracking (provider, missing_since) where missing_since is not null`,
      // Some were recorded as gone because their node ids had expired: they are requested by number.
      sql`update tracking set node_id = null where repository_id in
        (select id from repositories where availability <> 'AVAILABLE')`,
      // Repositories per provider and day (UTC) that were recorded as lost.
      sql`create table lost_days (
        provider ${text} not null,
        day ${integer} not null,
        lost ${integer} not null,
        primary key (provider, day)
      ) ${clustered}`,

      sql`create table track_requests (
        id ${ownId} primary key,
        public_id ${text} not null unique,
        provider ${text} not null,
        full_name ${text} not null, -- as requested
        name_key ${text} not null,
        is_batch ${integer} not null, -- 1: one of many, after those of people who wait
        requested_at ${integer} not null,
        leased_until ${integer} not null,
        attempts ${integer} not null,
        failing_since ${integer}, -- the forge fails as a whole; null: it does not
        repository_id ${integer}, -- once it is recorded
        pages ${integer} not null, -- of its history, read so far
        failure ${text}, -- one of providers' FAILURE_KINDS
        finished_at ${integer} -- its history is read, or it has failed
      )`,
      sql`create index track_requests_open on track_requests (provider, is_batch, id) where finished_at is null`,
      sql`create unique index track_requests_name on track_requests (provider, name_key) where finished_at is null`,
      sql`create index track_requests_finished on track_requests (finished_at) where finished_at is not null`,
      // The lists to add the repository of a request to.
      sql`create table track_request_lists (
        request_id ${integer} not null references track_requests (id) on delete cascade,
        watchlist_id ${integer} not null,
        primary key (request_id, watchlist_id)
      ) ${clustered}`,
      // What the lane of a provider last reported about its pace, for estimates.
      sql`create table track_lanes (
        provider ${text} primary key,
        at ${integer} not null,
        ready_at ${integer} not null,
        remaining ${integer},
        quota ${integer},
        reset_at ${integer}
      )`,

      // Growth no longer compares totals with counts of stars still held (source 2). With no scales the next update rebuilds it
      // all; what such a comparison gave is not shown until then.
      sql`delete from rollups where from_source = 2`,
      sql`delete from score_scales`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
