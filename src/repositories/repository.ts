import { defaultUrl } from "../config/config.js";
import { columns, type RepositoryTable, type ValuesOf } from "../database/database.js";
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

/** The columns of a Repository. */
export const REPOSITORY = columns("repositories", "r", [
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
]);
const { at } = REPOSITORY;

export type RepositoryRow = Pick<RepositoryTable, (typeof REPOSITORY.names)[number]>;
export type RepositoryValues = ValuesOf<typeof REPOSITORY>;

/** Converts a row to a Repository, without what may not be shown of it. */
export function fromRow(row: RepositoryRow): Repository {
  return repositoryOf(REPOSITORY.names.map((name) => row[name]) as unknown as RepositoryValues);
}

/** The same for a row of a prepared statement that begins with these columns. */
export function repositoryOf(values: readonly [...RepositoryValues, ...unknown[]]): Repository {
  const provider = values[at.provider];
  const owner = values[at.owner];
  const name = values[at.name];
  const url = values[at.url];
  const homepage = values[at.homepage];
  const availability = values[at.availability] as Availability;
  const fullName = `${owner}/${name}`;
  const isHidden = hidesTexts({ availability });
  return {
    id: values[at.id],
    provider,
    owner,
    name,
    fullName,
    // Older versions stored `javascript:owner/name` for a provider of that name, and any text as a homepage.
    url: /^https?:\/\//i.test(url) ? url : defaultUrl(provider, fullName),
    description: isHidden ? null : values[at.description],
    homepage: !isHidden && homepage !== null && isHomepage(homepage) ? homepage : null,
    language: values[at.language],
    license: values[at.license],
    topics: isHidden ? [] : JSON.parse(values[at.topics]),
    stars: values[at.stars],
    forks: values[at.forks],
    openIssues: values[at.open_issues],
    watchers: values[at.watchers],
    fork: flag(values[at.fork]),
    archived: flag(values[at.archived]),
    availability,
    createdAt: values[at.created_at],
    pushedAt: values[at.pushed_at],
    discoveredAt: values[at.discovered_at],
    refreshedAt: values[at.refreshed_at],
    nextRefreshAt: values[at.next_refresh_at],
    countedAt: values[at.counted_at],
    importSource: values[at.import_source],
    refreshInterval: values[at.refresh_interval],
  };
}
