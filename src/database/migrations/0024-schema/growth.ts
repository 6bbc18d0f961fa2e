import { type RawBuilder, sql } from "kysely";
import type { MigrationEngine } from "../../migration.js";

/** Growth and scores, derived from the catalogue and rebuilt from it when needed, and the ranks of past days. */
export function growthTables({
  types: { integer, text, real, bytes },
  clustered,
}: MigrationEngine): RawBuilder<unknown>[] {
  return [
    // Growth and scores per repository and window. A full rebuild fills a twin table and swaps it in (rollup-tables.ts), so
    // the names of the key and of the index end in a generation number, here 0.
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
      stars_growth ${real}, -- stars_delta / stars_from; null if stars_from is 0
      stars_from ${integer} not null,
      forks_from ${integer},
      open_issues_from ${integer},
      from_source smallint not null, -- index into SNAPSHOT_SOURCES
      first_seen_at ${integer}, -- since when it is young, if the date of creation is unknown
      snapshots ${integer} not null, -- from from_at to to_at, both included
      fresh_until ${integer} not null, -- the growth counts while the provider's newest snapshot is at most this old
      anomalies ${text}, -- JSON array; null for none
      anomalous smallint not null, -- whether one of them is not cleared
      trending ${integer}, -- scores in hundredths; null if they cannot be computed
      rising ${integer},
      new_hot ${integer},
      star_momentum ${integer},
      fork_momentum ${integer},
      activity ${integer},
      confidence ${integer} not null, -- in hundredths
      reliable smallint not null,
      stars_usual ${integer}, -- gained on a usual day, in hundredths; null if unknown
      constraint rollups_key_0 primary key (repository_id, window_hours)
    ) ${clustered}`,
    sql`create index rollups_age_0 on rollups (provider, window_hours, fresh_until)`,

    // Which process runs a full rebuild; one row per kind of rebuild.
    sql`create table runs (
      id ${integer} primary key,
      generation ${integer} not null, -- grows with each run
      owner ${text}, -- null: nobody runs it
      seen_at ${integer} not null -- last sign of life of the owner
    )`,
    sql`insert into runs (id, generation, owner, seen_at) values (1, 0, null, 0), (2, 0, null, 0)`,

    // Repositories per provider and day whose stars fell, or jumped far beyond the usual, since their previous snapshot.
    sql`create table moved_days (
      provider ${text} not null,
      day ${integer} not null,
      fell ${integer} not null,
      jumped ${integer} not null,
      compared ${integer} not null, -- repositories with a snapshot on that day and one before
      primary key (provider, day)
    ) ${clustered}`,

    // A large gain per provider and window, against which scores are measured.
    sql`create table score_scales (
      provider ${text} not null,
      window_hours ${integer} not null,
      as_of ${integer} not null, -- the provider's newest snapshot when all its scores were last computed
      stars ${real} not null,
      forks ${real} not null,
      primary key (provider, window_hours)
    ) ${clustered}`,

    // Ranks on past days, overall and within the language: the newest days as rows, and older ones in blocks.
    sql`create table rank_history (
      repository_id ${integer} not null,
      day ${integer} not null,
      ranks ${text} not null, -- code of the ranking, hours, letter of the scope and position, such as t24o12,s0o3
      primary key (repository_id, day)
    ) ${clustered}`,
    sql`create index rank_history_day on rank_history (day)`,
    sql`create table rank_blocks (
      repository_id ${integer} not null,
      from_day ${integer} not null,
      to_day ${integer} not null,
      data ${bytes} not null,
      primary key (repository_id, from_day)
    ) ${clustered}`,
    sql`create index rank_blocks_day on rank_blocks (to_day)`,

    sql`create table summaries (
      id ${integer} primary key,
      body ${text} not null -- JSON
    )`,
  ];
}
