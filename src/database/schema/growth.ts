import { bytes, integer, real, small, table, text } from "./describe.js";

export const rollups = table(
  {
    repository_id: integer,
    /** Length of the window in hours: 24, 168 or 720. */
    window_hours: integer,
    provider: text,
    from_at: integer,
    to_at: integer,
    stars_delta: integer,
    forks_delta: integer.optional(),
    open_issues_delta: integer.optional(),
    /** The part of the stars gained that counts: all of it without an anomaly. */
    stars_counted: integer,
    /** No longer written or read: all forks count. */
    forks_counted: integer.optional(),
    /** starsDelta divided by the stars at `from_at`; null if those were 0. */
    stars_growth: real.optional(),
    /** The count at `from_at`. */
    stars_from: integer,
    /** Index into SNAPSHOT_SOURCES, of the snapshot at `from_at`. */
    from_source: small,
    /** The start of its youth, if it seems new and its date of creation is unknown. */
    first_seen_at: integer.optional(),
    /** Number of snapshots from `from_at` to `to_at`, inclusive. */
    snapshots: integer,
    /** JSON array of rankings' Anomaly; null for none. */
    anomalies: text.optional(),
    /** 1 with any. */
    anomalous: small,
    /** Scores in hundredths; null if they cannot be computed. */
    trending: integer.optional(),
    rising: integer.optional(),
    new_hot: integer.optional(),
    /** In hundredths. */
    confidence: integer,
    reliable: small,
    /** Stars gained on a usual day before `from_at`, in hundredths; null: unknown. */
    stars_usual: integer.optional(),
    /** If it begins in the star history and ends in totals: the first total, and the gain until then. */
    held_until: integer.optional(),
    held_delta: integer.optional(),
    /** No longer written or read: it is `held_until`. */
    totals_from: integer.optional(),
    /** Of the longest window: the stars gained in each of its days, oldest first, joined by commas. */
    days: text.optional().added(),
  },
  { key: ["repository_id", "window_hours"], isDerived: true, isClustered: true },
);

/** The ranks of a repository on a day of the last weeks, overall and in its language. Earlier days are in `rank_blocks`. */
export const rankHistory = table(
  {
    repository_id: integer,
    /** Days since 1970, of the newest snapshot of all. */
    day: integer,
    /** See `rankText` in discovery/ranks.ts. */
    ranks: text,
  },
  {
    key: ["repository_id", "day"],
    isClustered: true,
    indexes: ["index rank_history_day on rank_history (day)"],
  },
);

/** Archived ranks of a repository on consecutive days; days without ranks are absent. */
export const rankBlocks = table(
  {
    repository_id: integer,
    /** The first and the last day, in days since 1970. */
    from_day: integer,
    to_day: integer,
    /** See `encodeRanks` in discovery/rank-history.ts. */
    data: bytes,
  },
  {
    key: ["repository_id", "from_day"],
    isClustered: true,
    indexes: ["index rank_blocks_day on rank_blocks (to_day)"],
  },
);

export const summaries = table(
  {
    id: integer,
    /** JSON of rankings' Summary. */
    body: text,
  },
  { key: ["id"], isDerived: true },
);
