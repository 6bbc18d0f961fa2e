/** Tables of growth and the summary, derived from the catalogue, and of past ranks. */
export interface RankingTables {
  rollups: {
    repository_id: number;
    /** Length of the window in hours: 24, 168 or 720. */
    window_hours: number;
    provider: string;
    from_at: number;
    to_at: number;
    stars_delta: number;
    forks_delta: number | null;
    open_issues_delta: number | null;
    /** The part of the deltas that counts: all of it without an anomaly. */
    stars_counted: number;
    forks_counted: number | null;
    /** starsDelta divided by the stars at `from_at`; null if those were 0. */
    stars_growth: number | null;
    /** Counts at `from_at`. */
    stars_from: number;
    forks_from: number | null;
    open_issues_from: number | null;
    /** Index into SNAPSHOT_SOURCES, of the snapshot at `from_at`. */
    from_source: number;
    /** Where its youth counts from, if it seems new and its date of creation is unknown. */
    first_seen_at: number | null;
    /** Number of snapshots from `from_at` to `to_at`, inclusive. */
    snapshots: number;
    /** JSON array of rankings' Anomaly; null for none. */
    anomalies: string | null;
    /** 1 if one of them is not cleared. */
    anomalous: number;
    /** Scores in hundredths; null if they cannot be computed. */
    trending: number | null;
    rising: number | null;
    new_hot: number | null;
    star_momentum: number | null;
    fork_momentum: number | null;
    activity: number | null;
    /** In hundredths. */
    confidence: number;
    reliable: number;
    /** Stars gained on a usual day before `from_at`, in hundredths; null: unknown. */
    stars_usual: number | null;
    /** If it begins in the star history and ends in totals: the last reading of the history, its gain, and the first total. */
    held_until: number | null;
    held_delta: number | null;
    totals_from: number | null;
  };
  /** The ranks of a repository on a day of the last weeks, overall and in its language. Earlier days are in `rank_blocks`. */
  rank_history: {
    repository_id: number;
    /** Days since 1970, of the newest snapshot of all. */
    day: number;
    /** See rankings' ranks/rank.ts. */
    ranks: string;
  };
  /** Archived ranks of a repository on consecutive days; days without ranks are absent. */
  rank_blocks: {
    repository_id: number;
    /** The first and the last day, in days since 1970. */
    from_day: number;
    to_day: number;
    /** See rankings' ranks/codec.ts. */
    data: Uint8Array;
  };
  summaries: {
    id: number;
    /** JSON of rankings' Summary. */
    body: string;
  };
}

export type RollupTable = RankingTables["rollups"];
