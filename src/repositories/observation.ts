import type { SnapshotSource } from "./record-rules.js";
import type { Facts, FactTimes } from "./repository.js";

export { SNAPSHOT_SOURCES, type SnapshotSource } from "./record-rules.js";

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
