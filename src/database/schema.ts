import type { Generated } from "kysely";
import type {
  AccountTable,
  ApiKeyTable,
  MailUseTable,
  SecurityEventTable,
  SignInRequestTable,
} from "./account-schema.js";
import type { AvatarImageTable, AvatarTable } from "./avatar-schema.js";
import type {
  RankBlockTable,
  RankHistoryTable,
  SnapshotBlockTable,
  SnapshotHourTable,
  SnapshotTable,
} from "./history-schema.js";
import type {
  ForgeTokenTable,
  OperatorCodeTable,
  OperatorSessionTable,
  StatusDocumentTable,
  TrackListTable,
} from "./operator-schema.js";
import type {
  SearchAdditionTable,
  SearchPageTable,
  SearchStateTable,
  SearchWordTable,
} from "./search-schema.js";
import type {
  ForgeStateTable,
  LostDayTable,
  NewDayTable,
  TrackingTable,
  TrackLaneTable,
  TrackRequestListTable,
  TrackRequestTable,
  WalkTable,
  WorkerReportTable,
} from "./tracking-schema.js";
import type {
  UsageAllowanceTable,
  UsageCallerTable,
  UsageEventTable,
  UsageRouteTable,
} from "./usage-schema.js";
import type { WatchlistItemTable, WatchlistTable, WatchlistVisitTable } from "./watchlist-schema.js";

/**
 * Table types. Times are milliseconds since 1970 UTC; booleans are 0 or 1 (null: unknown); texts compare bytewise on both
 * engines. The meaning of columns is documented here, for migrations and queries.
 */
export interface Schema {
  schema_version: SchemaVersionTable;
  repositories: RepositoryTable;
  repository_topics: RepositoryTopicTable;
  previous_names: PreviousNameTable;
  snapshots: SnapshotTable;
  snapshot_blocks: SnapshotBlockTable;
  snapshot_hours: SnapshotHourTable;
  outdated: OutdatedTable;
  marks: MarkTable;
  revision: RevisionTable;
  rollups: RollupTable;
  /** Rollups while they are rebuilt; see rollup-tables.ts. Does not always exist. */
  rollups_next: RollupTable;
  runs: RunTable;
  moved_days: MovedDayTable;
  import_files: ImportFileTable;
  renames: RenameTable;
  score_scales: ScoreScaleTable;
  leaderboards: LeaderboardTable;
  repository_ranks: RepositoryRankTable;
  rank_history: RankHistoryTable;
  rank_blocks: RankBlockTable;
  facets: FacetTable;
  facet_parts: FacetPartTable;
  summaries: SummaryTable;
  search_state: SearchStateTable;
  search_pages: SearchPageTable;
  search_additions: SearchAdditionTable;
  search_words: SearchWordTable;
  tracking: TrackingTable;
  lost_days: LostDayTable;
  new_days: NewDayTable;
  track_requests: TrackRequestTable;
  track_request_lists: TrackRequestListTable;
  track_lanes: TrackLaneTable;
  forge_states: ForgeStateTable;
  walks: WalkTable;
  avatars: AvatarTable;
  avatar_images: AvatarImageTable;
  worker_reports: WorkerReportTable;
  forge_tokens: ForgeTokenTable;
  operator_codes: OperatorCodeTable;
  operator_sessions: OperatorSessionTable;
  status_documents: StatusDocumentTable;
  track_lists: TrackListTable;
  watchlists: WatchlistTable;
  watchlist_items: WatchlistItemTable;
  watchlist_visits: WatchlistVisitTable;
  daily_use: DailyUseTable;
  accounts: AccountTable;
  api_keys: ApiKeyTable;
  security_events: SecurityEventTable;
  mail_use: MailUseTable;
  sign_in_requests: SignInRequestTable;
  usage_routes: UsageRouteTable;
  usage_allowances: UsageAllowanceTable;
  usage_callers: UsageCallerTable;
  usage_events: UsageEventTable;
}

export interface SchemaVersionTable {
  version: number;
  name: string;
  applied_at: number;
}

export interface RepositoryTable {
  id: number;
  provider: string;
  /** The provider's own id; null if no source has reported it. */
  provider_id: string | null;
  /** May contain slashes (GitLab groups). */
  owner: string;
  name: string;
  /** `owner/name` folded by `nameKey`; null once another repository has taken over the name. */
  name_key: string | null;
  url: string;
  description: string | null;
  homepage: string | null;
  language: string | null;
  license: string | null;
  /** JSON array of topics, the same as the rows in `repository_topics`. */
  topics: string;
  stars: number | null;
  forks: number | null;
  open_issues: number | null;
  watchers: number | null;
  fork: number | null;
  archived: number | null;
  availability: string;
  created_at: number | null;
  pushed_at: number | null;
  discovered_at: number;
  /** When the values above were true; null if unknown. */
  refreshed_at: number | null;
  /** When the counts were true; a newer source may have reported none. */
  counted_at: number | null;
  next_refresh_at: number | null;
  /** The archive that reported it last, by the name of its layout; null: it has been in none. */
  import_source: string | null;
  /** Scheduled time between two refreshes, in ms; 0: its provider is no longer tracked; null: never tracked. */
  refresh_interval: number | null;
  /** Bit i: some source has reported fact i of FACT_COLUMNS, even if only its absence. */
  known_facts: number;
}

export interface RepositoryTopicTable {
  repository_id: number;
  topic: string;
}

export interface PreviousNameTable {
  repository_id: number;
  provider: string;
  name_key: string;
  full_name: string;
  /** The last time the repository was known by this name. */
  until: number;
}

/** Derived data to update after a change. Written in the transaction of the change, so that a crash cannot lose it. */
export interface OutdatedTable {
  kind: string;
  repository_id: number;
}

/** Facts about the whole database, such as that it is synthetic. */
export interface MarkTable {
  name: string;
  value: string;
}

/** One row, incremented by every change a reader could see. */
export interface RevisionTable {
  id: number;
  value: number;
}

export interface RollupTable {
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
  /** The suspected earlier name whose snapshot is the one at `from_at`; null: it is the repository's own. */
  predecessor_id: number | null;
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
}

/** The process that rebuilds derived data of all repositories; one row per rebuild. */
export interface RunTable {
  /** See rankings' runs.ts. */
  id: number;
  /** Incremented when a run starts. */
  generation: number;
  /** Host and process; null: nobody. */
  owner: string | null;
  /** Time of its last heartbeat. */
  seen_at: number;
}

/** Number of repositories of a provider whose stars moved since their previous snapshot, by day. */
export interface MovedDayTable {
  provider: string;
  /** Days since 1970. */
  day: number;
  fell: number;
  /** Gained far more than usual; see rankings' judge.ts. */
  jumped: number;
  /** Repositories with a snapshot on that day and an earlier one. */
  compared: number;
}

/** A file of an archive that an import has read. */
export interface ImportFileTable {
  /** Name of its layout. */
  source: string;
  /** The time of its newest row. */
  captured_at: number;
  /** Its name, without folders and without what it was compressed with; the time, if rows have times of their own. */
  file: string;
  row_count: number;
  /** Rows with 0 stars or 0 forks. */
  zeros: number;
  /** JSON array of the catalogue's Damage; null: it is not damaged. */
  damage: string | null;
  imported_at: number;
}

/** A name that seems to continue as another, in a source without ids. */
export interface RenameTable {
  id: Generated<number>;
  from_id: number;
  to_id: number;
  /** SUSPECTED, ACCEPTED or REJECTED. */
  status: string;
  /** JSON of the catalogue's RenameEvidence. */
  evidence: string;
  /** The snapshot with which the counts continue under `to_id`. `from_id` has none after it. */
  continues_at: number;
  suspected_at: number;
  decided_at: number | null;
  /** Snapshots of `to_id` before this time came from `from_id`; null: not joined. */
  joined_before: number | null;
}

/** The scale of growth of a provider in a window; see rankings' Scales. */
export interface ScoreScaleTable {
  provider: string;
  window_hours: number;
  /** The newest snapshot of the provider when all its scores were last computed. */
  as_of: number;
  stars: number;
  forks: number;
}

/** The leaderboards of one scope. Each stores more ranks than it shows. */
export interface LeaderboardTable {
  /** overall, provider, language or topic. */
  scope: string;
  /** The provider, language or topic; empty overall. */
  scope_name: string;
  /** See rankings' ranks/codec.ts. */
  data: Uint8Array;
}

/** The current ranks of a repository in one scope, as far down as they are shown. */
export interface RepositoryRankTable {
  repository_id: number;
  scope: string;
  scope_name: string;
  /** See rankings' ranks/coded-ranks.ts. */
  ranks: string;
}

export interface FacetTable {
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
}

/** The contribution of a listed repository to the facets, so that it can be subtracted again. */
export interface FacetPartTable {
  repository_id: number;
  provider: string;
  language: string | null;
  /** JSON array. */
  topics: string;
  stars: number;
  stars_gained_24h: number;
  stars_gained_7d: number;
  stars_gained_30d: number;
}

export interface SummaryTable {
  id: number;
  /** JSON of rankings' Summary. */
  body: string;
}

/** What callers have used up of their quotas of a day. Rows of earlier days are deleted. */
export interface DailyUseTable {
  /** Days since 1970. */
  day: number;
  /** What is counted, such as `watchlists`. */
  quota: string;
  /** HMAC of the day and an address, a network or an account, with the secret of the service. */
  caller: string;
  used: number;
}
