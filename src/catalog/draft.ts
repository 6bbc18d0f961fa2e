import type { BulkColumns, BulkTable, RepositoryTable } from "../database/database.js";
import { defaultUrl } from "../forges.js";
import type { Observation } from "./observation.js";
import { nameKey } from "./repository.js";

/** A repository while a batch is recorded: its row, and which parts of it must be written. */
export interface Draft {
  row: RepositoryTable;
  isNew: boolean;
  changed: boolean;
  topicsChanged: boolean;
  /** Whether something in the search index changed. */
  wordsChanged: boolean;
  /** Whether something other than snapshots changed that growth and scores depend on. */
  growthChanged: boolean;
  /** Whether its provider's id has been taken or replaced. */
  hasLostId: boolean;
  previousNames: Map<string, { fullName: string; until: number }>;
}

/** All columns with their bulk types, in the order in which rows are written. */
export const REPOSITORY_COLUMNS = {
  id: "bigint",
  provider: "text",
  provider_id: "text",
  owner: "text",
  name: "text",
  name_key: "text",
  url: "text",
  description: "text",
  homepage: "text",
  language: "text",
  license: "text",
  topics: "text",
  stars: "bigint",
  forks: "bigint",
  open_issues: "bigint",
  watchers: "bigint",
  fork: "smallint",
  archived: "smallint",
  availability: "text",
  created_at: "bigint",
  pushed_at: "bigint",
  discovered_at: "bigint",
  refreshed_at: "bigint",
  counted_at: "bigint",
  next_refresh_at: "bigint",
  import_source: "text",
  refresh_interval: "bigint",
  known_facts: "bigint",
} as const satisfies Record<keyof RepositoryTable, BulkColumns[string]>;

export const REPOSITORY_COLUMN_NAMES = Object.keys(REPOSITORY_COLUMNS) as (keyof RepositoryTable)[];

/** Columns of `tracking`, which alone decides when a repository is refreshed. */
const SCHEDULE_COLUMNS: readonly (keyof RepositoryTable)[] = ["next_refresh_at", "refresh_interval"];
/** The columns that recording writes. */
export const RECORDED_COLUMN_NAMES = REPOSITORY_COLUMN_NAMES.filter(
  (name) => !SCHEDULE_COLUMNS.includes(name),
);
export const RECORDED: BulkTable = {
  table: "repositories",
  columns: Object.fromEntries(RECORDED_COLUMN_NAMES.map((name) => [name, REPOSITORY_COLUMNS[name]])),
  key: ["id"],
};

export function draftOf(row: RepositoryTable, isNew: boolean): Draft {
  return {
    row,
    isNew,
    changed: isNew,
    topicsChanged: false,
    growthChanged: false,
    hasLostId: false,
    wordsChanged: isNew,
    previousNames: new Map(),
  };
}

export function newRow(
  { provider, providerId, owner, name, at, discoveredAt }: Observation,
  now: number,
): RepositoryTable {
  return {
    id: 0,
    provider,
    provider_id: providerId ?? null,
    owner,
    name,
    name_key: nameKey(owner, name),
    url: defaultUrl(provider, `${owner}/${name}`),
    description: null,
    homepage: null,
    language: null,
    license: null,
    topics: "[]",
    stars: null,
    forks: null,
    open_issues: null,
    watchers: null,
    fork: null,
    archived: null,
    availability: "AVAILABLE",
    created_at: null,
    pushed_at: null,
    discovered_at: discoveredAt ?? at ?? now,
    refreshed_at: null,
    counted_at: null,
    next_refresh_at: null,
    import_source: null,
    refresh_interval: null,
    known_facts: 0,
  };
}
