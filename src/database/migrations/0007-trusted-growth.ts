import { sql } from "kysely";
import type { Migration } from "../migration.js";

/**
 * What growth needs to be trusted: the part of a gain that counts, how long a reading stays recent, the files that imports have
 * read, and suspected renames. Growth keeps its old scores until the next update rebuilds it.
 */
export const trustedGrowth: Migration = {
  name: "trusted-growth",
  async up(tx, { engine, types: { integer, text, real, ownId }, clustered }) {
    const statements = [
      sql`alter table repositories add column import_source ${text}`, // the archive that reported it last
      sql`alter table repositories add column refresh_interval ${integer}`, // ms; 0: no longer tracked; null: never
      // As far as it shows; the next refresh sets it. A retry after failures may be any time away.
      sql`update repositories set refresh_interval =
          case when next_refresh_at - refreshed_at between 3600000 and 700000000
            then next_refresh_at - refreshed_at else 86400000 end
        where next_refresh_at is not null`,
      sql`create index repositories_import_source on repositories (import_source, counted_at)
        where import_source is not null`,

      // Doubtful readings are requested a second time.
      sql`alter table tracking add column doubted_at ${integer}`, // when the last one was recorded that is read twice
      sql`alter table tracking add column recheck_at ${integer}`, // when the second reading is due; null: not
      sql`create index tracking_doubted on tracking (provider, doubted_at) where doubted_at is not null`,
      sql`create index tracking_recheck on tracking (provider, recheck_at) where recheck_at is not null`,

      // The same as a full rebuild creates (rollup-tables.ts).
      sql`alter table rollups rename to rollups_old`,
      sql`create table rollups (
        repository_id ${integer} not null,
        window_hours ${integer} not null,
        provider ${text} not null,
        from_at ${integer} not null,
        to_at ${integer} not null,
        stars_delta ${integer} not null,
        forks_delta ${integer},
        open_issues_delta ${integer},
        stars_counted ${integer} not null, -- the part of the deltas that counts
        forks_counted ${integer},
        stars_growth ${real}, -- stars_delta / stars_from; null where stars_from is 0
        stars_from ${integer} not null,
        forks_from ${integer},
        open_issues_from ${integer},
        from_source smallint not null, -- index into SNAPSHOT_SOURCES
        predecessor_id ${integer}, -- whose snapshot from_at is, if the repository's name is suspected to have changed
        first_seen_at ${integer}, -- where youth counts from, if the date of creation is unknown
        snapshots ${integer} not null, -- from from_at to to_at, both included
        fresh_until ${integer} not null, -- the growth counts while the provider's newest snapshot is at most this old
        anomalies ${text}, -- JSON array; null for none
        anomalous smallint not null, -- whether one of them is not cleared
        trending ${integer}, -- scores in hundredths; null where they cannot be computed
        rising ${integer},
        new_hot ${integer},
        star_momentum ${integer},
        fork_momentum ${integer},
        activity ${integer},
        confidence ${integer} not null, -- in hundredths
        reliable smallint not null,
        constraint rollups_key_new primary key (repository_id, window_hours)
      ) ${clustered}`,
      sql`insert into rollups (repository_id, window_hours, provider, from_at, to_at, stars_delta, forks_delta,
          open_issues_delta, stars_counted, forks_counted, stars_growth, stars_from, forks_from, open_issues_from,
          from_source, snapshots, fresh_until, anomalies, anomalous, trending, rising, new_hot, star_momentum, fork_momentum,
          activity, confidence, reliable)
        select repository_id, window_hours, provider, from_at, to_at, stars_delta, forks_delta,
          open_issues_delta, cast(round(stars_delta * counted) as bigint), cast(round(forks_delta * counted) as bigint),
          stars_growth, stars_from, forks_from, open_issues_from,
          from_source, snapshots, to_at + window_hours * 1800000, anomalies,
          case when anomalies is null then 0 else 1 end, trending, rising, new_hot, star_momentum,
          fork_momentum, activity, confidence, reliable
        from rollups_old`,
      sql`drop table rollups_old`,
      ...(engine === "postgres" ? [sql`alter index rollups_key_new rename to rollups_key_0`] : []),
      sql`create index rollups_stars_0 on rollups (window_hours, stars_counted desc, repository_id desc)`,
      sql`create index rollups_forks_0 on rollups (window_hours, forks_counted desc, repository_id desc)
        where forks_counted is not null`,
      ...["stars_delta", "forks_delta", "trending", "rising", "new_hot", "fork_momentum", "activity"].map(
        (column) => sql`create index ${sql.raw(`rollups_${column}_0`)} on rollups
          (window_hours, ${sql.raw(column)} desc, repository_id desc) where ${sql.raw(column)} > 0`,
      ),
      sql`create index rollups_reliable_0 on rollups (window_hours, repository_id) where reliable = 1`,
      sql`create index rollups_age_0 on rollups (provider, window_hours, fresh_until)`,
      // With no scales the next update rebuilds all growth.
      sql`delete from score_scales`,

      sql`drop table fall_days`,
      // Repositories per provider and day whose stars fell, or jumped far beyond the usual, since their previous snapshot.
      sql`create table moved_days (
        provider ${text} not null,
        day ${integer} not null,
        fell ${integer} not null,
        jumped ${integer} not null,
        compared ${integer} not null, -- repositories with a snapshot on that day and one before
        primary key (provider, day)
      ) ${clustered}`,

      // On SQLite, lists of facets are sorted by the thread that serves, so reading them needs the index alone. PostgreSQL
      // would have to write each index for each change of a total.
      ...(engine === "sqlite"
        ? [
            sql`drop index facets_popular`,
            sql`create index facets_popular on facets
              (kind, provider, repositories desc, name, stars, stars_gained_24h, stars_gained_7d, stars_gained_30d)`,
          ]
        : []),

      // Files of archives that imports have read.
      sql`create table import_files (
        source ${text} not null, -- name of the layout
        captured_at ${integer} not null, -- of its newest row
        file ${text} not null, -- its name without folders
        row_count ${integer} not null,
        zeros ${integer} not null, -- rows with 0 stars or 0 forks
        damage ${text}, -- JSON array; null: it is not damaged
        imported_at ${integer} not null,
        primary key (source, captured_at, file)
      ) ${clustered}`,

      // Names that seem to continue as others, in sources without ids.
      sql`create table renames (
        id ${ownId} primary key,
        from_id ${integer} not null references repositories (id),
        to_id ${integer} not null references repositories (id),
        status ${text} not null, -- SUSPECTED, ACCEPTED or REJECTED
        evidence ${text} not null, -- JSON
        continues_at ${integer} not null, -- since when the counts continue under to_id
        suspected_at ${integer} not null,
        decided_at ${integer},
        joined_before ${integer}, -- snapshots of to_id before this time came from from_id; null: not joined
        unique (from_id, to_id)
      )`,
      sql`create index renames_to on renames (to_id)`,
      // By the file in which a name was first seen; the other index has the file in which it was last seen.
      sql`create index repositories_import_first on repositories (import_source, discovered_at)
        where import_source is not null`,
    ];
    for (const statement of statements) await statement.execute(tx);
  },
};
