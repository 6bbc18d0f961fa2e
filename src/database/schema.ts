import type { AvatarTable } from "./avatar-schema.js";
import type {
  ImportFileTable,
  OutdatedTable,
  PreviousNameTable,
  RenameTable,
  RepositoryTable,
  RepositoryTopicTable,
  RevisionTable,
  RunTable,
  SnapshotBlockTable,
  SnapshotHourTable,
  SnapshotTable,
} from "./catalogue-schema.js";
import type {
  AccountEventTable,
  AccountTable,
  ApiKeyTable,
  OperatorSessionTable,
  QuotaUseTable,
  SignInRequestTable,
  UsageAllowanceTable,
  UsageCallerTable,
  UsageEventTable,
  UsageRouteTable,
  WatchlistItemTable,
  WatchlistTable,
  WatchlistVisitTable,
} from "./member-schema.js";
import type {
  FacetPartTable,
  FacetTable,
  LeaderboardTable,
  MovedDayTable,
  RankBlockTable,
  RankHistoryTable,
  RepositoryRankTable,
  RollupTable,
  ScoreScaleTable,
  SummaryTable,
} from "./rankings-schema.js";
import type {
  SearchAdditionTable,
  SearchPageTable,
  SearchStateTable,
  SearchWordTable,
} from "./search-schema.js";
import type {
  ForgeStateTable,
  ForgeTokenTable,
  LostDayTable,
  NewDayTable,
  StatusDocumentTable,
  TrackingTable,
  TrackLaneTable,
  TrackListTable,
  TrackRequestListTable,
  TrackRequestTable,
  WalkTable,
  WorkerReportTable,
} from "./tracking-schema.js";

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
  worker_reports: WorkerReportTable;
  forge_tokens: ForgeTokenTable;
  operator_sessions: OperatorSessionTable;
  status_documents: StatusDocumentTable;
  track_lists: TrackListTable;
  watchlists: WatchlistTable;
  watchlist_items: WatchlistItemTable;
  watchlist_visits: WatchlistVisitTable;
  quota_use: QuotaUseTable;
  accounts: AccountTable;
  api_keys: ApiKeyTable;
  account_events: AccountEventTable;
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

/** Facts about the whole database, such as that it is synthetic. */
export interface MarkTable {
  name: string;
  value: string;
}
