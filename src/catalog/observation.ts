import type { Facts } from "./repository.js";

/** Where a snapshot comes from: seen by this service, taken over from another archive, or told later by the provider. */
export const SNAPSHOT_SOURCES = ["OBSERVED", "IMPORTED", "BACKFILLED"] as const;
export type SnapshotSource = (typeof SNAPSHOT_SOURCES)[number];

/** The counts of a repository at one time. `null`: the source does not give it. */
export interface Snapshot {
  capturedAt: number;
  stars: number;
  forks: number | null;
  openIssues: number | null;
  watchers: number | null;
  source: SnapshotSource;
}

/** What one source said of one repository; the only way anything enters the catalogue. */
export interface Observation {
  provider: string;
  /** The provider's own id: identity that survives a rename. */
  providerId?: string;
  owner: string;
  name: string;
  /** When the facts were true; null when the source does not say, and then they never replace anything. */
  at: number | null;
  facts: Facts;
  /** Counts it told, at `at` or before, oldest first. Gone through more than once. */
  snapshots: Iterable<Snapshot>;
  /** When the repository was first known, where that is earlier than `at`. */
  discoveredAt?: number;
  /** The id it should get if it is new and the id is free; keeps links alive across export and import. */
  preferredId?: number;
  /** The repository it speaks of, for a source that was asked about that one; it need not know the provider's id yet. */
  repositoryId?: number;
  /** true: the source told no name; owner and name are those it was asked by, and nothing follows from them. */
  isNameless?: boolean;
  /** Names it had before. */
  previousNames?: readonly { fullName: string; until: number }[];
}

/** What recording a batch has changed. */
export interface Recorded {
  repositoriesAdded: number;
  repositoriesChanged: number;
  snapshotsAdded: number;
}
