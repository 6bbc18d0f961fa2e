/** Tables of growth, ranks, facets and the summary, all derived from the catalogue. */
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
    /** Until when the growth counts: it leaves all rankings once the provider's newest snapshot is later. */
    fresh_until: number;
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
  };
  /** Rollups while they are rebuilt; see rollup-tables.ts. Does not always exist. */
  rollups_next: RollupTable;
  /** Number of repositories of a provider whose stars moved since their previous snapshot, by day. */
  moved_days: {
    provider: string;
    /** Days since 1970. */
    day: number;
    fell: number;
    /** Gained far more than usual; see rankings' judge.ts. */
    jumped: number;
    /** Repositories with a snapshot on that day and an earlier one. */
    compared: number;
  };
  /** The scale of growth of a provider in a window; see rankings' Scales. */
  score_scales: {
    provider: string;
    window_hours: number;
    /** The newest snapshot of the provider when all its scores were last computed. */
    as_of: number;
    stars: number;
    forks: number;
  };
  /** The leaderboards of one scope. Each stores more ranks than it shows. */
  leaderboards: {
    /** overall, provider, language or topic. */
    scope: string;
    /** The provider, language or topic; empty overall. */
    scope_name: string;
    /** See rankings' ranks/codec.ts. */
    data: Uint8Array;
  };
  /** The current ranks of a repository in one scope, within RANK_LIMITS. */
  repository_ranks: {
    repository_id: number;
    scope: string;
    scope_name: string;
    /** See rankings' ranks/rank.ts. */
    ranks: string;
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
  facets: {
    kind: string;
    /** Empty for all providers together. */
    provider: string;
    name: string;
    /** The folded name, for prefix search. */
    name_key: string;
    repositories: number;
    stars: number;
    stars_gained_24h: number;
    stars_gained_7d: number;
    stars_gained_30d: number;
  };
  /** The contribution of a listed repository to the facets, so that it can be subtracted again. */
  facet_parts: {
    repository_id: number;
    provider: string;
    language: string | null;
    /** JSON array. */
    topics: string;
    stars: number;
    stars_gained_24h: number;
    stars_gained_7d: number;
    stars_gained_30d: number;
  };
  summaries: {
    id: number;
    /** JSON of rankings' Summary. */
    body: string;
  };
}

export type RollupTable = RankingTables["rollups"];
export type FacetTable = RankingTables["facets"];
export type FacetPartTable = RankingTables["facet_parts"];
