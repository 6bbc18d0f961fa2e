import { bytes, integer, ownId, small, table, text } from "./describe.js";

export const repositories = table(
  {
    id: integer,
    provider: text,
    /** The provider's own id; null if no source has reported it. */
    provider_id: text.optional(),
    /** May contain slashes (GitLab groups). */
    owner: text,
    name: text,
    /** `owner/name` folded by `nameKey`; null once another repository has taken over the name. */
    name_key: text.optional(),
    url: text,
    description: text.optional(),
    homepage: text.optional(),
    language: text.optional(),
    license: text.optional(),
    /** JSON array of topics. */
    topics: text,
    stars: integer.optional(),
    forks: integer.optional(),
    open_issues: integer.optional(),
    watchers: integer.optional(),
    fork: small.optional(),
    archived: small.optional(),
    availability: text,
    created_at: integer.optional(),
    pushed_at: integer.optional(),
    discovered_at: integer,
    /** When a source reported it last; null if unknown. */
    refreshed_at: integer.optional(),
    /** When one last reported stars. */
    counted_at: integer.optional(),
    /** Null: not scheduled yet. */
    next_refresh_at: integer.optional(),
    /** Bit i: some source has reported fact i of FACT_COLUMNS, even if only its absence. */
    known_facts: integer,
    /** The archive that reported it last, by the name of its layout; null: it has been in none. */
    import_source: text.optional(),
    /** Scheduled time between two refreshes, in ms; 0: its provider is no longer tracked; null: never tracked. */
    refresh_interval: integer.optional(),
    /** JSON: when each fact was true, by its name, if not at `counted_at` (counts) or `refreshed_at`; null: all were. */
    fact_times: text.optional(),
  },
  {
    key: ["id"],
    indexes: [
      "unique index repositories_name on repositories (provider, name_key)",
      "unique index repositories_provider_id on repositories (provider, provider_id)",
      "index repositories_refreshed on repositories (provider, refreshed_at) where availability = 'AVAILABLE'",
      "index repositories_schedule on repositories (provider, next_refresh_at)",
      "index repositories_import_source on repositories (import_source, counted_at) where import_source is not null",
    ],
  },
);

export const previousNames = table(
  {
    repository_id: integer.references("repositories (id)"),
    provider: text,
    name_key: text,
    full_name: text,
    /** The last time the repository was known by this name. */
    until: integer,
    /** The revision of the catalogue that the rename led to; 0: unknown, long ago. */
    revision: integer,
  },
  {
    key: ["repository_id", "name_key"],
    isClustered: true,
    indexes: ["index previous_names_name on previous_names (provider, name_key, until)"],
  },
);

/** A repository that was joined to another one; see renames.ts of repositories. */
export const renames = table(
  {
    from_id: integer.references("repositories (id)"),
    to_id: integer.references("repositories (id)"),
    /** The earlier values of `from_id`. */
    availability: text,
    /** The earlier values of `to_id`. */
    discovered_at: integer,
    /** JSON array of the times at which both had a snapshot. */
    both_at: text,
  },
  { key: ["from_id"] },
);

/** A rule of operators; see hiding.ts of repositories. */
export const hidingRules = table(
  {
    id: ownId,
    provider: text,
    /** A folded name, or its beginning. */
    name_key: text,
    is_prefix: small,
    /** As it was given. */
    target: text,
    reason: text,
    note: text.optional(),
    /** Who: `cli` and a user of the machine, or the id of an account. */
    made_by: text,
    hidden_at: integer,
    /** Null: never. */
    ends_at: integer.optional(),
  },
  { key: ["id"], isAdded: true, constraints: ["unique (provider, name_key, is_prefix)"] },
);

/** The repositories that a rule hides. */
export const hiddenRepositories = table(
  {
    repository_id: integer,
    rule_id: integer.references("hiding_rules (id)"),
    /** The one that it gets back. */
    availability: text,
  },
  {
    key: ["repository_id", "rule_id"],
    isAdded: true,
    isClustered: true,
    indexes: ["index hidden_repositories_rule on hidden_repositories (rule_id)"],
  },
);

/** The tail of each repository: its few snapshots later than all of its blocks. */
export const snapshots = table(
  {
    repository_id: integer,
    captured_at: integer,
    stars: integer,
    forks: integer.optional(),
    open_issues: integer.optional(),
    watchers: integer.optional(),
    /** Index into SNAPSHOT_SOURCES. */
    source: small,
  },
  { key: ["repository_id", "captured_at"], isClustered: true },
);

/** Consecutive snapshots of a repository. Blocks of one repository do not overlap. */
export const snapshotBlocks = table(
  {
    repository_id: integer,
    /** Times of the first and the last snapshot. */
    from_at: integer,
    /** Of the last snapshot. */
    to_at: integer,
    snapshots: integer,
    /** See the catalog's snapshots/readings.ts. */
    data: bytes,
  },
  { key: ["repository_id", "from_at"], isClustered: true },
);

/** Number of snapshots of a provider in an hour, so that totals need no counting of rows. */
export const snapshotHours = table(
  {
    provider: text,
    /** Hours since 1970. */
    hour: integer,
    snapshots: integer,
    newest_at: integer,
  },
  { key: ["provider", "hour"], isClustered: true },
);

/** A file of an archive that an import has read. */
export const importFiles = table(
  {
    /** Name of its layout. */
    source: text,
    /** The time of its newest row. */
    captured_at: integer,
    /** Its name, without folders and the suffix of its compression; the time, if rows have times of their own. */
    file: text,
    row_count: integer,
    /** Rows with 0 stars or 0 forks. */
    zeros: integer,
    /** JSON array of the catalogue's Damage; null: it is not damaged. */
    damage: text.optional(),
    imported_at: integer,
  },
  { key: ["source", "captured_at", "file"], isClustered: true },
);

/** Rows of a file of an archive that waits for the next one; see waiting-files.ts of repositories. */
export const waitingRows = table(
  {
    source: text,
    captured_at: integer,
    file: text,
    /** The number of rows of the file before these. */
    first_row: integer,
    /** JSON array of the catalogue's Observation. */
    observations: text,
  },
  { key: ["source", "captured_at", "file", "first_row"], isClustered: true },
);

/** A run of the command that imports files. */
export const imports = table(
  {
    id: ownId,
    began_at: integer,
    /** null: it runs, or was interrupted. */
    ended_at: integer.optional(),
    imported_by: text,
    /** JSON array: the names of at most ten of its files, without folders. */
    files: text,
    file_count: integer,
    /** The names of their formats, separated by commas. */
    sources: text,
    row_count: integer,
    /** Repositories and readings that it has added, and readings that it has replaced. */
    repositories: integer,
    readings: integer,
    replaced: integer,
    /** Times of the first and the last reading; null: none. */
    from_at: integer.optional(),
    until_at: integer.optional(),
    undo_began_at: integer.optional(),
    undone_at: integer.optional(),
  },
  { key: ["id"], isAdded: true, indexes: ["index imports_began on imports (began_at)"] },
);

/** What an import has reported, in parts; see imports.ts of repositories. Deleted after its retention. */
export const importLists = table(
  {
    import_id: integer.references("imports (id)"),
    part: integer,
    /** The first and the last time in it. */
    from_at: integer,
    until_at: integer,
    entries: integer,
    data: bytes,
  },
  { key: ["import_id", "part"], isAdded: true, isClustered: true },
);

/** A file of an archive that an import has noted in `import_files`. Deleted after its retention. */
export const importedFiles = table(
  {
    import_id: integer.references("imports (id)"),
    source: text,
    captured_at: integer,
    file: text,
  },
  { key: ["import_id", "source", "captured_at", "file"], isAdded: true, isClustered: true },
);

/** Derived data to update after a change. Written in the transaction of the change, so that a crash cannot lose it. */
export const outdated = table(
  {
    kind: text,
    repository_id: integer,
  },
  { key: ["kind", "repository_id"], isClustered: true },
);

/** Facts about the whole database, such as that it is synthetic. */
export const marks = table(
  {
    name: text,
    value: text,
  },
  { key: ["name"] },
);

/** The last change of each repository; id 0: all have changed; id -1: removed ones up to this revision are forgotten. */
export const changes = table(
  {
    repository_id: integer,
    /** The revision that it led to. */
    revision: integer,
    /** That of its first change; 0: unknown, long ago. */
    added: integer.defaults(0),
    /** When the repository was deleted; null: it was not. */
    removed_at: integer.optional(),
  },
  {
    key: ["repository_id"],
    isDerived: true,
    indexes: [
      "index changes_revision on changes (revision, repository_id)",
      "index changes_removed on changes (removed_at) where removed_at is not null",
    ],
  },
);

/** One row, incremented by every change a reader could see. */
export const revision = table(
  {
    id: integer,
    value: integer,
    /** Identity of the store: random, another one after a restore, and after a failover that has lost changes. */
    store: text,
    /** Random marks of the latest revisions, newest first, four characters each. */
    marks: text,
  },
  { key: ["id"] },
);
