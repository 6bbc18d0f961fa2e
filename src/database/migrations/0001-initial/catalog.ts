import { type RawBuilder, sql } from "kysely";
import type { MigrationEngine } from "../../migration.js";

/** Repositories, their snapshots, and the bookkeeping that every change to them updates. */
export function catalogTables({
  types: { integer, text },
  clustered,
}: MigrationEngine): RawBuilder<unknown>[] {
  return [
    // One row per repository, with its latest known values. Rows are never deleted: an id is never reused.
    sql`create table repositories (
      id ${integer} primary key,
      provider ${text} not null,
      provider_id ${text}, -- the provider's own id; null until a source reports it
      owner ${text} not null, -- may contain slashes
      name ${text} not null,
      name_key ${text}, -- owner/name, case-folded; null once another repository took over the name
      url ${text} not null,
      description ${text},
      homepage ${text},
      language ${text},
      license ${text},
      topics ${text} not null, -- JSON array, the same as the rows of repository_topics
      stars ${integer},
      forks ${integer},
      open_issues ${integer},
      watchers ${integer},
      fork smallint,
      archived smallint,
      availability ${text} not null,
      created_at ${integer},
      pushed_at ${integer},
      discovered_at ${integer} not null,
      refreshed_at ${integer}, -- when the values above were true; null where no source says
      counted_at ${integer}, -- when the counts among them were true: a source may report newer values without counts
      next_refresh_at ${integer}, -- null: not scheduled yet
      known_facts ${integer} not null -- bit mask of the facts that some source has reported, even if only as empty
    )`,
    sql`create unique index repositories_name on repositories (provider, name_key)`,
    sql`create unique index repositories_provider_id on repositories (provider, provider_id)`,
    // One index per sort order of lists. Only available repositories are listed; -1 sorts unknown values last on both engines.
    ...["stars", "forks", "pushed_at", "created_at"].map(
      (column) => sql`create index ${sql.raw(`repositories_by_${column}`)} on repositories
        (${sql.raw(`coalesce(${column}, -1)`)} desc, id desc) where availability = 'AVAILABLE'`,
    ),
    sql`create index repositories_language on repositories (language, coalesce(stars, -1) desc, id desc)
      where availability = 'AVAILABLE'`,
    sql`create index repositories_provider on repositories (provider, coalesce(stars, -1) desc, id desc)
      where availability = 'AVAILABLE'`,
    sql`create index repositories_license on repositories (license) where availability = 'AVAILABLE'`,
    sql`create index repositories_archived on repositories (id) where archived = 1 and availability = 'AVAILABLE'`,
    sql`create index repositories_fork on repositories (id) where fork = 1 and availability = 'AVAILABLE'`,
    sql`create index repositories_refreshed on repositories (provider, refreshed_at)
      where availability = 'AVAILABLE'`,
    // Unconditional, so that it also finds repositories that are not scheduled yet.
    sql`create index repositories_schedule on repositories (provider, next_refresh_at)`,

    sql`create table repository_topics (
      repository_id ${integer} not null references repositories (id),
      topic ${text} not null,
      primary key (repository_id, topic)
    ) ${clustered}`,
    sql`create index repository_topics_topic on repository_topics (topic, repository_id)`,

    sql`create table previous_names (
      repository_id ${integer} not null references repositories (id),
      provider ${text} not null,
      name_key ${text} not null,
      full_name ${text} not null,
      until ${integer} not null, -- the last time the repository was known by this name
      primary key (repository_id, name_key)
    ) ${clustered}`,
    sql`create index previous_names_name on previous_names (provider, name_key, until)`,

    // The history of the counts. No foreign key: checking one for each row would slow down imports.
    sql`create table snapshots (
      repository_id ${integer} not null,
      captured_at ${integer} not null,
      stars ${integer} not null,
      forks ${integer},
      open_issues ${integer},
      watchers ${integer},
      source smallint not null, -- index into SNAPSHOT_SOURCES
      primary key (repository_id, captured_at)
    ) ${clustered}`,

    // Snapshots per provider and hour, so that totals need no scan.
    sql`create table snapshot_hours (
      provider ${text} not null,
      hour ${integer} not null,
      snapshots ${integer} not null,
      newest_at ${integer} not null,
      primary key (provider, hour)
    ) ${clustered}`,

    // Derived data to bring up to date. Written in the transaction of the change, so that a crash cannot lose it.
    sql`create table outdated (
      kind ${text} not null,
      repository_id ${integer} not null,
      primary key (kind, repository_id)
    ) ${clustered}`,

    // Facts about the whole database, such as that its data is synthetic.
    sql`create table marks (
      name ${text} primary key,
      value ${text} not null
    )`,

    // A single row whose value grows with every change a reader could see.
    sql`create table revision (
      id ${integer} primary key,
      value ${integer} not null
    )`,
    sql`insert into revision (id, value) values (1, 0)`,
  ];
}
