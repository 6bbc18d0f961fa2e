import { defaultUrl } from "../config/config.js";
import type { ColumnValues, RepositoryTable } from "../database/database.js";
import { type Availability, isHomepage } from "./record-rules.js";
import { hidesTexts } from "./visibility.js";

export {
  AVAILABILITIES,
  type Availability,
  fullNameKey,
  nameKey,
  providerName,
  readRepositoryName,
  repositoryId,
  splitFullName,
} from "./record-rules.js";

/** A repository. null always means unknown, never none or 0. Times are milliseconds since 1970. */
export interface Repository {
  id: number;
  provider: string;
  owner: string;
  name: string;
  fullName: string;
  url: string;
  description: string | null;
  homepage: string | null;
  language: string | null;
  /** SPDX expression. */
  license: string | null;
  topics: readonly string[];
  stars: number | null;
  forks: number | null;
  openIssues: number | null;
  watchers: number | null;
  fork: boolean | null;
  archived: boolean | null;
  availability: Availability;
  createdAt: number | null;
  pushedAt: number | null;
  discoveredAt: number;
  refreshedAt: number | null;
  nextRefreshAt: number | null;
  /** When its counts were last seen. */
  countedAt: number | null;
  /** The last archive that reported it; null: none. */
  importSource: string | null;
  /** Scheduled time between two refreshes, in ms; 0: its provider is no longer tracked; null: never tracked. */
  refreshInterval: number | null;
}

/** Facts that a source reports about a repository. Absent: not reported. null: reported as unknown or none. */
export interface Facts {
  url?: string;
  description?: string | null;
  homepage?: string | null;
  language?: string | null;
  license?: string | null;
  topics?: readonly string[];
  stars?: number | null;
  forks?: number | null;
  openIssues?: number | null;
  watchers?: number | null;
  fork?: boolean | null;
  archived?: boolean | null;
  availability?: Availability;
  createdAt?: number | null;
  pushedAt?: number | null;
}

/** When facts were true; null: unknown. */
export type FactTimes = Partial<Record<keyof Facts, number | null>>;

/** The column of each fact. Their order defines the bits of `repositories.known_facts`: add new facts at the end only. */
export const FACT_COLUMNS = {
  url: "url",
  description: "description",
  homepage: "homepage",
  language: "language",
  license: "license",
  topics: "topics",
  stars: "stars",
  forks: "forks",
  openIssues: "open_issues",
  watchers: "watchers",
  fork: "fork",
  archived: "archived",
  availability: "availability",
  createdAt: "created_at",
  pushedAt: "pushed_at",
} as const satisfies Record<keyof Facts, keyof RepositoryTable>;

const flag = (value: number | null): boolean | null => (value === null ? null : value === 1);

/** The columns that `fromRow` needs. */
export const REPOSITORY_READ_COLUMNS = [
  "id",
  "provider",
  "owner",
  "name",
  "url",
  "description",
  "homepage",
  "language",
  "license",
  "topics",
  "stars",
  "forks",
  "open_issues",
  "watchers",
  "fork",
  "archived",
  "availability",
  "created_at",
  "pushed_at",
  "discovered_at",
  "refreshed_at",
  "next_refresh_at",
  "counted_at",
  "import_source",
  "refresh_interval",
] as const satisfies readonly (keyof RepositoryTable)[];

export type RepositoryRow = Pick<RepositoryTable, (typeof REPOSITORY_READ_COLUMNS)[number]>;
/** The same as the array that a prepared statement returns. */
export type RepositoryValues = ColumnValues<RepositoryTable, typeof REPOSITORY_READ_COLUMNS>;

/** Converts a row to a Repository, without what may not be shown of it. */
export function fromRow(row: RepositoryRow): Repository {
  const values = REPOSITORY_READ_COLUMNS.map((column) => row[column]);
  return takeRepository(values as unknown as RepositoryValues).repository;
}

/** The repository at the start of a row, and the values after it. A rest in the pattern would take ten times as long. */
export function takeRepository<Rest extends unknown[]>(
  values: readonly [...RepositoryValues, ...Rest],
): { repository: Repository; rest: Rest } {
  const [
    id,
    provider,
    owner,
    name,
    url,
    description,
    homepage,
    language,
    license,
    topics,
    stars,
    forks,
    openIssues,
    watchers,
    fork,
    archived,
    availability,
    createdAt,
    pushedAt,
    discoveredAt,
    refreshedAt,
    nextRefreshAt,
    countedAt,
    importSource,
    refreshInterval,
  ] = values;
  const fullName = `${owner}/${name}`;
  const isHidden = hidesTexts({ availability });
  const repository: Repository = {
    id,
    provider,
    owner,
    name,
    fullName,
    // Older versions stored `javascript:owner/name` for a provider of that name, and any text as a homepage.
    url: /^https?:\/\//i.test(url) ? url : defaultUrl(provider, fullName),
    description: isHidden ? null : description,
    homepage: !isHidden && homepage !== null && isHomepage(homepage) ? homepage : null,
    language,
    license,
    topics: isHidden ? [] : JSON.parse(topics),
    stars,
    forks,
    openIssues,
    watchers,
    fork: flag(fork),
    archived: flag(archived),
    availability: availability as Availability,
    createdAt,
    pushedAt,
    discoveredAt,
    refreshedAt,
    nextRefreshAt,
    countedAt,
    importSource,
    refreshInterval,
  };
  return { repository, rest: values.slice(REPOSITORY_READ_COLUMNS.length) as Rest };
}
