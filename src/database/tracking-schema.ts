import type { Generated } from "kysely";

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
  /** When its own record was last read; lists have fewer fields. null: not since this is noted. */
  detailed_at: number | null;
  /** When its own record is due, even if lists keep its counts fresh; null: not needed, or not known yet. */
  details_due: number | null;
  /** Since when its forge reports it missing, if that is not recorded as its availability; null: it does not. */
  missing_since: number | null;
}

/** What all processes together have sent to a forge. */
export interface ForgeStateTable {
  provider: string;
  /** JSON of providers' SharedState. */
  body: string;
}

/** How many repositories of a provider were recorded as lost on a day. */
export interface LostDayTable {
  provider: string;
  /** Start of the day (UTC), in days since 1970. */
  day: number;
  lost: number;
}

/** What the lists of a provider have shown on a day that was not known. */
export interface NewDayTable {
  provider: string;
  /** Start of the day (UTC), in days since 1970. */
  day: number;
  /** Repositories added. */
  added: number;
  /** Rows beyond the limit of the day. */
  surplus: number;
}

/** A request to track a repository that is not known yet. */
export interface TrackRequestTable {
  id: Generated<number>;
  /** Names the request in URLs. */
  public_id: string;
  provider: string;
  /** As requested. */
  full_name: string;
  /** See catalog's nameKey. */
  name_key: string;
  /** 1: one of many that nobody waits for. */
  is_batch: number;
  requested_at: number;
  /** End of a worker's lease, or when it is tried again; 0: it may be claimed. */
  leased_until: number;
  /** Failed attempts so far, without those to look it up while the forge failed as a whole. */
  attempts: number;
  /** Since when its lookup fails as the forge fails as a whole; null: it does not. */
  failing_since: number | null;
  /** Once it is recorded. */
  repository_id: number | null;
  /** Pages of its star history read so far. */
  pages: number;
  /** One of providers' FAILURE_KINDS; null: it has not failed. */
  failure: string | null;
  /** When its history was read, or it failed; null: open. */
  finished_at: number | null;
  /** The list that it came with; null: none. */
  list_id: number | null;
}

/** A watchlist to add the repository of an open request to, once it is recorded. */
export interface TrackRequestListTable {
  request_id: number;
  watchlist_id: number;
}

/** What the lane that works off the requests of a provider last reported about its pace. */
export interface TrackLaneTable {
  provider: string;
  at: number;
  /** When it can send the next request. */
  ready_at: number;
  /** Requests left of a quota, and when all of it is left again; null: not known. */
  remaining: number | null;
  quota: number | null;
  reset_at: number | null;
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
  /** Pages read in this walk. */
  pages: Generated<number>;
  /** Duration of the last complete walk; null: none, or not known. */
  took_ms: number | null;
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
