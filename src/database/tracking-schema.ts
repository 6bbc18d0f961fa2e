/** The tables of `tracking`. Times are in ms since 1970, durations in ms. */

/** State of refreshing a repository. It is due at `repositories.next_refresh_at`. */
export interface TrackingTable {
  repository_id: number;
  provider: string;
  /** See providers' UpstreamRepository. */
  node_id: string | null;
  /** ETag of the last response. */
  etag: string | null;
  /** End of a worker's lease; 0: not leased. */
  leased_until: number;
  /** Consecutive failed refreshes. */
  failures: number;
  /** Position of the backfill in its star history; null: not started. */
  history_cursor: string | null;
  /** When the next part of its history is due, earlier with more stars; null: complete. */
  history_due: number | null;
  /** When the last doubtful reading was recorded that is confirmed by a second one; null: never. */
  doubted_at: number | null;
  /** When the second reading is due; null: not. */
  recheck_at: number | null;
}

/** The walk over all repositories of a provider, which discovers new ones. */
export interface WalkTable {
  provider: string;
  /** Where it continues; null: at the beginning. */
  cursor: string | null;
  next_at: number;
  started_at: number;
  /** New repositories found in this walk. */
  found: number;
  /** Number of completed walks. */
  walks: number;
  leased_until: number;
}

/** The last report of a worker. */
export interface WorkerReportTable {
  /** Host and process. */
  worker: string;
  provider: string;
  at: number;
  /** JSON of tracking's WorkerReport. */
  body: string;
}
