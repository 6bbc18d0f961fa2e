/** Tables with the history of repositories: snapshots and past ranks. */

/** The tail of each repository: its few snapshots later than all of its blocks. */
export interface SnapshotTable {
  repository_id: number;
  captured_at: number;
  stars: number;
  forks: number | null;
  open_issues: number | null;
  watchers: number | null;
  /** Index into SNAPSHOT_SOURCES. */
  source: number;
}

/** Consecutive snapshots of a repository. Blocks of one repository do not overlap. */
export interface SnapshotBlockTable {
  repository_id: number;
  /** Times of the first and the last snapshot. */
  from_at: number;
  to_at: number;
  /** How many there are. */
  snapshots: number;
  /** See the catalog's snapshots/codec.ts. */
  data: Uint8Array;
}

/** Number of snapshots of a provider in an hour, so that totals need no counting of rows. */
export interface SnapshotHourTable {
  provider: string;
  /** Hours since 1970. */
  hour: number;
  snapshots: number;
  newest_at: number;
}

/** The ranks of a repository on a day of the last weeks, overall and in its language. Earlier days are in `rank_blocks`. */
export interface RankHistoryTable {
  repository_id: number;
  /** Days since 1970, of the newest snapshot of all. */
  day: number;
  /** See rankings' rank-history.ts. */
  ranks: string;
}

/** Archived ranks of a repository on consecutive days; days without ranks are absent. */
export interface RankBlockTable {
  repository_id: number;
  /** The first and the last day, in days since 1970. */
  from_day: number;
  to_day: number;
  /** See rankings' rank-blocks.ts. */
  data: Uint8Array;
}
