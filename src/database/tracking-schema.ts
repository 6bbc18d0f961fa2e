/** Tables of tracking, of requests to track, and of what a worker reports. Durations are in ms. */
import type { Generated } from "kysely";

/** State of refreshing a repository. It is due at `repositories.next_refresh_at`. */
export interface TrackingTable {
  repository_id: number;
  provider: string;
  /** See providers' UpstreamRepository. */
  node_id: string | null;
  etag: string | null;
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
  /** 1: one of a batch, for which no person waits. */
  is_batch: number;
  requested_at: number;
  /** When it is tried again after a failure; 0: it has not failed. */
  retry_at: number;
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

/** Repositories that were requested together: pasted links, or those in the README of a repository. */
export interface TrackListTable {
  id: Generated<number>;
  public_id: string;
  /** Of the repository with the README; null: the links were pasted. */
  provider: string | null;
  full_name: string | null;
  requested_at: number;
  /** When its README is tried again after a failure; 0: it has not failed. */
  retry_at: number;
  /** Failed attempts so far. */
  attempts: number;
  /** Repositories that it links to. */
  found: number;
  /** Repositories that were already tracked. */
  known: number;
  /** Repositories left out because the queue or a quota was full. */
  left_out: number;
  /** JSON: the names of the first of them; null: none. */
  left_out_names: string | null;
  /** One of providers' FAILURE_KINDS. */
  failure: string | null;
  /** When the links were read; null: the README has not been read yet. */
  read_at: number | null;
}

/** A question to a forge: which repositories an owner has, or have a name. */
export interface TrackQuestionTable {
  id: Generated<number>;
  /** Names the question in URLs; the same for one question to several forges. */
  public_id: string;
  provider: string;
  /** `owner` or `name`. */
  kind: string;
  /** The owner, or the name. */
  sought: string;
  asked_at: number;
  /** Failed attempts so far, and when it is asked again; 0: it has not failed. */
  attempts: number;
  retry_at: number;
  /** One of providers' FAILURE_KINDS. */
  failure: string | null;
  /** Repositories that the forge counts; null: not known. */
  total: number | null;
  /** JSON; see tracking's requests/questions.ts. */
  candidates: string | null;
  /** When the forge answered, or it failed; null: open. */
  answered_at: number | null;
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
  walks: number;
  /** Pages read in this walk. */
  pages: Generated<number>;
  /** Duration of the last complete walk; null: none, or not known. */
  took_ms: number | null;
}

/** The lease of the active worker: one row, or none. */
export interface WorkerLeaseTable {
  id: 1;
  /** Host, process and a random id. */
  holder: string;
  /** By the clock of the database. */
  ends_at: number;
}

/** The last report of the worker about a provider. */
export interface WorkerReportTable {
  provider: string;
  at: number;
  /** JSON of tracking's WorkerReport. */
  body: string;
}

/** A token of a forge that an operator entered. Nothing here is enough to use it. */
export interface ForgeTokenTable {
  id: Generated<number>;
  provider: string;
  /** Origin of the site that accepted it. It is sent nowhere else. */
  site: string;
  /** HMAC of the token under the key: the same token is stored once. */
  fingerprint: string;
  /** Which key it is encrypted with. */
  key_id: string;
  /** Nonce, ciphertext and tag of AES-256-GCM, in base64url. */
  sealed: string;
  added_at: number;
  /** When the forge accepted it. */
  checked_at: number;
  /** JSON of providers' TokenCheck. */
  allows: string;
}

/** Data that is too slow to compute during a request, as last prepared by the worker. */
export interface StatusDocumentTable {
  name: string;
  at: number;
  /** JSON. */
  body: string;
}
