import { type RawBuilder, sql } from "kysely";
import type { MigrationEngine } from "../../migration.js";

/** Repositories, their snapshots, and the bookkeeping that every change to them updates. */
export function catalogueTables({
  engine,
  types: { integer, text, bytes },
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
      topics ${text} not null, -- JSON array
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
      refreshed_at ${integer}, -- when the values above were true; null if no source says
      counted_at ${integer}, -- when the counts among them were true: a source may report newer values without counts
      next_refresh_at ${integer}, -- null: not scheduled yet
      known_facts ${integer} not null, -- bit mask of the facts that some source has reported, even if only as empty
      import_source ${text}, -- the archive that reported it last; null: it has been in none
      refresh_interval ${integer} -- ms between two refreshes; 0: no longer tracked; null: never
    )`,
    sql`create unique index repositories_name on repositories (provider, name_key)`,
    sql`create unique index repositories_provider_id on repositories (provider, provider_id)`,
    sql`create index repositories_refreshed on repositories (provider, refreshed_at)
      where availability = 'AVAILABLE'`,
    // Unconditional, so that it also finds repositories that are not scheduled yet.
    sql`create index repositories_schedule on repositories (provider, next_refresh_at)`,
    sql`create index repositories_import_source on repositories (import_source, counted_at)
      where import_source is not null`,
    // Ids are allocated in batches, so the column has no default.
    ...(engine === "postgres" ? [sql`create sequence repositories_id_seq`] : []),

    sql`create table previous_names (
      repository_id ${integer} not null references repositories (id),
      provider ${text} not null,
      name_key ${text} not null,
      full_name ${text} not null,
      until ${integer} not null, -- the last time the repository was known by this name
      primary key (repository_id, name_key)
    ) ${clustered}`,
    sql`create index previous_names_name on previous_names (provider, name_key, until)`,

    // Repositories that an operator has joined to others.
    sql`create table renames (
      from_id ${integer} not null primary key references repositories (id),
      to_id ${integer} not null references repositories (id),
      availability ${text} not null, -- of from_id before
      discovered_at ${integer} not null, -- of to_id before
      both_at ${text} not null -- JSON array of the times at which both had a snapshot
    )`,

    // The history of the counts: the newest snapshots of each repository as rows, and older ones in blocks. No foreign key:
    // checking one for each row would slow down imports.
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
    sql`create table snapshot_blocks (
      repository_id ${integer} not null,
      from_at ${integer} not null, -- of the first snapshot; blocks of a repository do not overlap
      to_at ${integer} not null, -- of the last snapshot
      snapshots ${integer} not null,
      data ${bytes} not null,
      primary key (repository_id, from_at)
    ) ${clustered}`,

    // Snapshots per provider and hour, so that totals need no scan.
    sql`create table snapshot_hours (
      provider ${text} not null,
      hour ${integer} not null,
      snapshots ${integer} not null,
      newest_at ${integer} not null,
      primary key (provider, hour)
    ) ${clustered}`,

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

    // The last change of each repository, by the revision that it led to; id 0: all have changed.
    sql`create table changes (
      repository_id ${integer} primary key,
      revision ${integer} not null
    )`,
    sql`create index changes_revision on changes (revision)`,

    // A single row whose value grows with every change a reader could see.
    sql`create table revision (
      id ${integer} primary key,
      value ${integer} not null
    )`,
    sql`insert into revision (id, value) values (1, 1)`,
  ];
}
