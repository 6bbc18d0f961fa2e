/** Tables of the catalogue: repositories, their snapshots, and what keeps derived data up to date. */
export interface CatalogueTables {
  repositories: {
    id: number;
    provider: string;
    /** The provider's own id; null if no source has reported it. */
    provider_id: string | null;
    /** May contain slashes (GitLab groups). */
    owner: string;
    name: string;
    /** `owner/name` folded by `nameKey`; null once another repository has taken over the name. */
    name_key: string | null;
    url: string;
    description: string | null;
    homepage: string | null;
    language: string | null;
    license: string | null;
    /** JSON array of topics. */
    topics: string;
    stars: number | null;
    forks: number | null;
    open_issues: number | null;
    watchers: number | null;
    fork: number | null;
    archived: number | null;
    availability: string;
    created_at: number | null;
    pushed_at: number | null;
    discovered_at: number;
    /** When a source reported it last; null if unknown. */
    refreshed_at: number | null;
    /** When one last reported stars. */
    counted_at: number | null;
    next_refresh_at: number | null;
    /** The archive that reported it last, by the name of its layout; null: it has been in none. */
    import_source: string | null;
    /** Scheduled time between two refreshes, in ms; 0: its provider is no longer tracked; null: never tracked. */
    refresh_interval: number | null;
    /** Bit i: some source has reported fact i of FACT_COLUMNS, even if only its absence. */
    known_facts: number;
    /** JSON: when each fact was true, by its name, if not at `counted_at` (counts) or `refreshed_at`; null: all were. */
    fact_times: string | null;
  };
  /** The last change of each repository; id 0: all have changed; id -1: removed ones up to this revision are forgotten. */
  changes: {
    repository_id: number;
    /** The revision that it led to. */
    revision: number;
    /** That of its first change; 0: unknown, long ago. */
    added: number;
    /** When the repository was deleted; null: it was not. */
    removed_at: number | null;
  };
  previous_names: {
    repository_id: number;
    provider: string;
    name_key: string;
    full_name: string;
    /** The last time the repository was known by this name. */
    until: number;
    /** The revision of the catalogue that the rename led to; 0: unknown, long ago. */
    revision: number;
  };
  /** The tail of each repository: its few snapshots later than all of its blocks. */
  snapshots: {
    repository_id: number;
    captured_at: number;
    stars: number;
    forks: number | null;
    open_issues: number | null;
    watchers: number | null;
    /** Index into SNAPSHOT_SOURCES. */
    source: number;
  };
  /** Consecutive snapshots of a repository. Blocks of one repository do not overlap. */
  snapshot_blocks: {
    repository_id: number;
    /** Times of the first and the last snapshot. */
    from_at: number;
    to_at: number;
    snapshots: number;
    /** See the catalog's snapshots/codec.ts. */
    data: Uint8Array;
  };
  /** Number of snapshots of a provider in an hour, so that totals need no counting of rows. */
  snapshot_hours: {
    provider: string;
    /** Hours since 1970. */
    hour: number;
    snapshots: number;
    newest_at: number;
  };
  /** Derived data to update after a change. Written in the transaction of the change, so that a crash cannot lose it. */
  outdated: {
    kind: string;
    repository_id: number;
  };
  /** One row, incremented by every change a reader could see. */
  revision: {
    id: number;
    value: number;
    /** Identity of the store: random, another one after a restore, and after a failover that has lost changes. */
    store: string;
    /** Random marks of the latest revisions, newest first, four characters each. */
    marks: string;
  };
  /** A file of an archive that an import has read. */
  import_files: {
    /** Name of its layout. */
    source: string;
    /** The time of its newest row. */
    captured_at: number;
    /** Its name, without folders and the suffix of its compression; the time, if rows have times of their own. */
    file: string;
    row_count: number;
    /** Rows with 0 stars or 0 forks. */
    zeros: number;
    /** JSON array of the catalogue's Damage; null: it is not damaged. */
    damage: string | null;
    imported_at: number;
  };
  /** Rows of a file of an archive that waits for the next one; see waiting-files.ts of repositories. */
  waiting_rows: {
    source: string;
    captured_at: number;
    file: string;
    /** The number of rows of the file before these. */
    first_row: number;
    /** JSON array of the catalogue's Observation. */
    observations: string;
  };
  /** A repository that an operator has joined to another one; see manual-renames.ts of repositories. */
  renames: {
    from_id: number;
    to_id: number;
    /** What `from_id` had before. */
    availability: string;
    /** What `to_id` had before. */
    discovered_at: number;
    /** JSON array of the times at which both had a snapshot. */
    both_at: string;
  };
}

export type RepositoryTable = CatalogueTables["repositories"];
export type PreviousNameTable = CatalogueTables["previous_names"];
