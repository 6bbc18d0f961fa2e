import { type RawBuilder, sql } from "kysely";
import type { MigrationEngine } from "../../migration.js";

/** Growth, scores, ranks and facets: all derived from the catalog, and rebuilt from it when needed. */
export function rankingTables({
  types: { integer, text, real },
  clustered,
}: MigrationEngine): RawBuilder<unknown>[] {
  return [
    // Growth and scores per repository and window. A full rebuild fills a twin table and swaps it in (rollup-tables.ts), so
    // the names of the key and of the indexes end in a generation number, here 0.
    sql`create table rollups (
      repository_id ${integer} not null,
      window_hours ${integer} not null,
      provider ${text} not null,
      from_at ${integer} not null,
      to_at ${integer} not null,
      stars_delta ${integer} not null,
      forks_delta ${integer},
      open_issues_delta ${integer},
      stars_growth ${real}, -- stars_delta / stars_from; null where stars_from is 0
      stars_from ${integer} not null,
      forks_from ${integer},
      open_issues_from ${integer},
      from_source smallint not null, -- index into SNAPSHOT_SOURCES
      snapshots ${integer} not null, -- from from_at to to_at, both included
      counted ${real} not null, -- the share of the gain that counts in scores
      anomalies ${text}, -- JSON array; null for none
      trending ${integer}, -- scores in hundredths; null where they cannot be computed
      rising ${integer},
      new_hot ${integer},
      star_momentum ${integer},
      fork_momentum ${integer},
      activity ${integer},
      confidence ${integer} not null, -- in hundredths
      reliable smallint not null,
      constraint rollups_key_0 primary key (repository_id, window_hours)
    ) ${clustered}`,
    sql`create index rollups_stars_0 on rollups (window_hours, stars_delta desc, repository_id desc)`,
    sql`create index rollups_forks_0 on rollups (window_hours, forks_delta desc, repository_id desc)
      where forks_delta is not null`,
    // Most repositories do not move in a window; the indexes of scores hold only those that do.
    ...["trending", "rising", "new_hot", "activity"].map(
      (score) => sql`create index ${sql.raw(`rollups_${score}_0`)} on rollups
        (window_hours, ${sql.raw(score)} desc, repository_id desc) where ${sql.raw(score)} > 0`,
    ),
    sql`create index rollups_reliable_0 on rollups (window_hours, repository_id) where reliable = 1`,
    sql`create index rollups_age_0 on rollups (provider, window_hours, to_at)`,

    // Which process runs a full rebuild; one row per kind of rebuild.
    sql`create table runs (
      id ${integer} primary key,
      generation ${integer} not null, -- grows with each run
      owner ${text}, -- null: nobody runs it
      seen_at ${integer} not null -- last sign of life of the owner
    )`,
    sql`insert into runs (id, generation, owner, seen_at) values (1, 0, null, 0), (2, 0, null, 0)`,

    // Repositories per provider and day that lost stars since their previous snapshot.
    sql`create table fall_days (
      provider ${text} not null,
      day ${integer} not null,
      fell ${integer} not null,
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

    // Leaderboards: the first repositories of each ranking and scope, with some in reserve.
    sql`create table ranks (
      ranking ${text} not null,
      window_hours ${integer} not null, -- 0 for rankings without a window
      scope ${text} not null, -- overall, provider, language or topic
      scope_name ${text} not null, -- which of them; empty overall
      position ${integer} not null, -- from 1
      repository_id ${integer} not null,
      value ${integer} not null, -- what the repository is ranked by
      primary key (ranking, window_hours, scope, scope_name, position)
    ) ${clustered}`,
    sql`create index ranks_repository on ranks (repository_id)`,

    // The last rank known for certain in a truncated leaderboard; one without a row here is complete.
    sql`create table rank_cutoffs (
      ranking ${text} not null,
      window_hours ${integer} not null,
      scope ${text} not null,
      scope_name ${text} not null,
      value ${integer} not null,
      repository_id ${integer} not null,
      primary key (ranking, window_hours, scope, scope_name)
    ) ${clustered}`,

    // Ranks on past days, overall and within the language. The ranks of the present day are in `ranks`.
    sql`create table rank_history (
      repository_id ${integer} not null,
      day ${integer} not null, -- days since 1970
      ranks ${text} not null, -- ranking, hours, scope and position, such as t24o12 (trending, 24 hours, overall, 12)
      primary key (repository_id, day)
    ) ${clustered}`,
    sql`create index rank_history_day on rank_history (day)`,

    // Totals per language and topic.
    sql`create table facets (
      kind ${text} not null,
      provider ${text} not null, -- empty for all providers together
      name ${text} not null,
      name_key ${text} not null, -- case-folded, for prefix search
      repositories ${integer} not null,
      stars ${integer} not null,
      stars_gained_24h ${integer} not null,
      stars_gained_7d ${integer} not null,
      stars_gained_30d ${integer} not null,
      primary key (kind, provider, name)
    ) ${clustered}`,
    sql`create index facets_popular on facets (kind, provider, repositories desc, name)`,
    sql`create index facets_name on facets (kind, provider, name_key)`,

    // What each repository contributes to the facets, so that its share can be subtracted again.
    sql`create table facet_parts (
      repository_id ${integer} primary key,
      provider ${text} not null,
      language ${text},
      topics ${text} not null, -- JSON array
      stars ${integer} not null,
      stars_gained_24h ${integer} not null,
      stars_gained_7d ${integer} not null,
      stars_gained_30d ${integer} not null
    )`,

    sql`create table summaries (
      id ${integer} primary key,
      body ${text} not null -- JSON
    )`,
  ];
}
