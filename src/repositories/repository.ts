import { defaultUrl } from "../config/config.js";
import { columns, type RepositoryTable, type ValuesOf } from "../database/database.js";
import { type Availability, hidesTexts, isHomepage, type SnapshotSource } from "./record-rules.js";

export {
  AVAILABILITIES,
  type Availability,
  fullNameKey,
  nameKey,
  providerName,
  readRepositoryName,
  repositoryId,
  SNAPSHOT_SOURCES,
  type SnapshotSource,
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

/** Converts a row to a Repository, without the fields that may not be shown. */
export function fromRow(row: RepositoryRow): Repository {
  return repositoryOf(REPOSITORY.names.map((name) => row[name]) as unknown as RepositoryValues);
}

/** The same for a row of a prepared statement that begins with these columns. A hidden one has nothing but its id and its forge. */
export function repositoryOf(stored: readonly [...RepositoryValues, ...unknown[]]): Repository {
  const values = shownValues(REPOSITORY, stored);
  const provider = values[at.provider];
  const owner = values[at.owner];
  const name = values[at.name];
  const url = values[at.url];
  const homepage = values[at.homepage];
  const availability = values[at.availability] as Availability;
  const fullName = owner === "" ? "" : `${owner}/${name}`;
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

/** What every hidden repository has, besides its id and its forge; null for all else. */
const BLANK = { owner: "", name: "", url: "", topics: "[]", discovered_at: 0, availability: "HIDDEN" };

/** Values of columns of a repository; of a hidden one, those that may be shown. */
export function shownValues<T extends readonly unknown[]>(
  { names, at }: { names: readonly string[]; at: { id: number; provider: number; availability: number } },
  values: T,
): T {
  if (values[at.availability] !== "HIDDEN") return values;
  const shown: Record<string, unknown> = { ...BLANK, id: values[at.id], provider: values[at.provider] };
  return names.map((name) => shown[name] ?? null) as unknown as T;
}

/** The counts of a repository at one time; null if the source does not report the count. */
export interface Snapshot {
  capturedAt: number;
  stars: number;
  forks: number | null;
  openIssues: number | null;
  watchers: number | null;
  source: SnapshotSource;
}

/** A report of one source about one repository. Everything enters the catalogue as an observation. */
export interface Observation {
  provider: string;
  /** The provider's own id, which survives a rename. */
  providerId?: string;
  owner: string;
  name: string;
  /** When the facts were true. null if the source does not say; such facts never replace others. */
  at: number | null;
  facts: Facts;
  /** Those that were true at another time. */
  factTimes?: FactTimes;
  /** Counts at `at` or earlier, oldest first. Must be iterable more than once. */
  snapshots: Iterable<Snapshot>;
  /** true: the snapshots are recorded, but their counts are not those of the repository, as they may be wrong. */
  isDoubted?: boolean;
  /** When the repository was first known, if earlier than `at`. */
  discoveredAt?: number;
  /** The id to give it if it is new and the id is free. Keeps links valid after export and import. */
  preferredId?: number;
  /** The repository requested from the source, whose provider id may not be known yet. */
  repositoryId?: number;
  /** true: the source reported no name. Owner and name are those of the request, and never cause a rename. */
  isNameless?: boolean;
  previousNames?: readonly { fullName: string; until: number }[];
  /** true: the export also has the repository that had this name before, so it is not that one. */
  isHolder?: boolean;
  /** The earliest of several merged ones. */
  first?: Pick<Observation, "at" | "facts">;
  /** The archive that reports it, by the name of its layout. */
  source?: string;
}

/** Changes that recording a batch made. */
export interface Recorded {
  repositoriesAdded: number;
  repositoriesChanged: number;
  snapshotsAdded: number;
}

/** Adds the changes of another batch. */
export function addTo(recorded: Recorded, more: Recorded): void {
  recorded.repositoriesAdded += more.repositoriesAdded;
  recorded.repositoriesChanged += more.repositoriesChanged;
  recorded.snapshotsAdded += more.snapshotsAdded;
}
