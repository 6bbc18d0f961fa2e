import type { AvatarTable } from "./avatar-schema.js";
import type { CatalogueTables } from "./catalogue-schema.js";
import type { MemberTables } from "./member-schema.js";
import type { RankingTables } from "./rankings-schema.js";
import type {
  ForgeTokenTable,
  LostDayTable,
  NewDayTable,
  StatusDocumentTable,
  TrackingTable,
  TrackListTable,
  TrackQuestionTable,
  TrackRequestListTable,
  TrackRequestTable,
  WalkTable,
  WorkerLeaseTable,
  WorkerReportTable,
} from "./tracking-schema.js";

/**
 * Table types. Times are milliseconds since 1970 UTC; booleans are 0 or 1 (null: unknown); texts compare bytewise on both
 * engines. The meaning of columns is documented here, for migrations and queries.
 */
export interface Schema extends CatalogueTables, RankingTables, MemberTables {
  schema_version: {
    version: number;
    name: string;
    applied_at: number;
  };
  /** Facts about the whole database, such as that it is synthetic. */
  marks: {
    name: string;
    value: string;
  };
  tracking: TrackingTable;
  lost_days: LostDayTable;
  new_days: NewDayTable;
  track_requests: TrackRequestTable;
  track_request_lists: TrackRequestListTable;
  walks: WalkTable;
  avatars: AvatarTable;
  worker_lease: WorkerLeaseTable;
  worker_reports: WorkerReportTable;
  forge_tokens: ForgeTokenTable;
  status_documents: StatusDocumentTable;
  track_lists: TrackListTable;
  track_questions: TrackQuestionTable;
}
