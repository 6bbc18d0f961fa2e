import { bytes, integer, ownId, table, text } from "./describe.js";

/** The lease of the active worker: one row, or none. */
export const workerLease = table(
  {
    /** Always 1. */
    id: integer,
    /** Host, process and a random id. */
    holder: text,
    /** By the clock of the database. */
    ends_at: integer,
  },
  { key: ["id"], isDerived: true },
);

/** State of refreshing a repository. It is due at `repositories.next_refresh_at`. */
export const tracking = table(
  {
    repository_id: integer,
    provider: text,
    /** See providers' UpstreamRepository. */
    node_id: text.optional(),
    /** Validator of the provider's last response. */
    etag: text.optional(),
    /** Consecutive failed refreshes. */
    failures: integer,
    /** Position of the backfill in its star history; null: not started. */
    history_cursor: text.optional(),
    /** When the next part of its history is due, earlier with more stars; null: complete. */
    history_due: integer.optional(),
    /** When the last doubtful reading was recorded that is confirmed by a second one; null: never. */
    doubted_at: integer.optional(),
    /** When the second reading is due; null: not. */
    recheck_at: integer.optional(),
    /** When its own record was last read; lists have fewer fields. null: not since this is noted. */
    detailed_at: integer.optional(),
    /** When its own record is due, even if lists keep its counts fresh; null: not needed, or not known yet. */
    details_due: integer.optional(),
    /** Since when its forge reports it missing, if that is not recorded as its availability; null: it does not. */
    missing_since: integer.optional(),
  },
  {
    key: ["repository_id"],
    indexes: [
      "index tracking_history on tracking (provider, history_due) where history_due is not null",
      "index tracking_doubted on tracking (provider, doubted_at) where doubted_at is not null",
      "index tracking_recheck on tracking (provider, recheck_at) where recheck_at is not null",
      "index tracking_details on tracking (provider, details_due) where details_due is not null",
      "index tracking_missing on tracking (provider, missing_since) where missing_since is not null",
    ],
  },
);

/** The walk over all repositories of a provider, which discovers new ones. */
export const walks = table(
  {
    provider: text,
    /** Where it continues; null: at the beginning. */
    cursor: text.optional(),
    next_at: integer,
    started_at: integer,
    /** New repositories found in this walk. */
    found: integer,
    /** Completed walks. */
    walks: integer,
    /** Pages read in this walk. */
    pages: integer.defaults(0),
    /** Duration of the last complete walk; null: none, or not known. */
    took_ms: integer.optional(),
  },
  { key: ["provider"] },
);

/** How many repositories of a provider were recorded as lost on a day. */
export const lostDays = table(
  {
    provider: text,
    /** Start of the day (UTC), in days since 1970. */
    day: integer,
    lost: integer,
  },
  { key: ["provider", "day"], isClustered: true },
);

/** What the lists of a provider have shown on a day that was not known. */
export const newDays = table(
  {
    provider: text,
    /** Start of the day (UTC), in days since 1970. */
    day: integer,
    added: integer,
    /** Rows beyond the limit of the day. */
    surplus: integer,
  },
  { key: ["provider", "day"], isClustered: true },
);

/** The last report of the worker about a provider. */
export const workerReports = table(
  {
    provider: text,
    at: integer,
    /** JSON of tracking's WorkerReport. */
    body: text,
  },
  { key: ["provider"], isDerived: true, isClustered: true },
);

/** Data that is too slow to compute during a request, as last prepared by the worker. */
export const statusDocuments = table(
  {
    name: text,
    at: integer,
    /** JSON. */
    body: text,
  },
  { key: ["name"], isDerived: true, isClustered: true },
);

/** A token of a forge that an operator entered. Nothing here is enough to use it. */
export const forgeTokens = table(
  {
    id: ownId,
    provider: text,
    /** Origin of the site that accepted it. It is sent nowhere else. */
    site: text,
    /** HMAC of the token under the key: the same token is stored once. */
    fingerprint: text,
    /** Which key it is encrypted with. */
    key_id: text,
    /** Nonce, ciphertext and tag of AES-256-GCM, in base64url. */
    sealed: text,
    added_at: integer,
    /** When the forge accepted it. */
    checked_at: integer,
    /** JSON of providers' TokenCheck. */
    allows: text,
  },
  { key: ["id"], constraints: ["unique (provider, fingerprint)"] },
);

/** A request to track a repository that is not known yet. */
export const trackRequests = table(
  {
    id: ownId,
    /** Names the request in URLs. */
    public_id: text,
    provider: text,
    /** As requested. */
    full_name: text,
    /** See catalog's nameKey. */
    name_key: text,
    /** 1: one of a batch, for which no person waits. */
    is_batch: integer,
    requested_at: integer,
    /** When it is tried again after a failure; 0: it has not failed. */
    retry_at: integer,
    /** Failed attempts so far, without those to look it up while the forge failed as a whole. */
    attempts: integer,
    /** Since when its lookup fails as the forge fails as a whole; null: it does not. */
    failing_since: integer.optional(),
    /** Once it is recorded. */
    repository_id: integer.optional(),
    /** Pages of its star history read so far. */
    pages: integer,
    /** One of providers' FAILURE_KINDS; null: it has not failed. */
    failure: text.optional(),
    /** When its history was read, or it failed; null: open. */
    finished_at: integer.optional(),
    /** The list that it came with; null: none. */
    list_id: integer.optional(),
  },
  {
    key: ["id"],
    constraints: ["unique (public_id)"],
    indexes: [
      "index track_requests_open on track_requests (provider, is_batch, id) where finished_at is null",
      "unique index track_requests_name on track_requests (provider, name_key) where finished_at is null",
      "index track_requests_finished on track_requests (finished_at) where finished_at is not null",
      "index track_requests_list on track_requests (list_id) where list_id is not null",
    ],
  },
);

/** A watchlist to add the repository of an open request to, once it is recorded. */
export const trackRequestLists = table(
  {
    request_id: integer.references("track_requests (id) on delete cascade"),
    watchlist_id: integer,
  },
  { key: ["request_id", "watchlist_id"], isClustered: true },
);

/** Repositories that were requested together: pasted links, or those in the README of a repository. */
export const trackLists = table(
  {
    id: ownId,
    public_id: text,
    /** Of the repository with the README; null: the links were pasted. */
    provider: text.optional(),
    full_name: text.optional(),
    requested_at: integer,
    /** When its README is tried again after a failure; 0: it has not failed. */
    retry_at: integer,
    /** Failed attempts so far. */
    attempts: integer,
    /** Repositories that it links to. */
    found: integer,
    /** Repositories that were already tracked. */
    known: integer,
    /** Repositories left out because the queue or a quota was full. */
    left_out: integer,
    /** One of providers' FAILURE_KINDS. */
    failure: text.optional(),
    /** When the links were read; null: the README has not been read yet. */
    read_at: integer.optional(),
    /** JSON: the names of the first of them; null: none. */
    left_out_names: text.optional(),
  },
  {
    key: ["id"],
    constraints: ["unique (public_id)"],
    indexes: [
      "index track_lists_unread on track_lists (provider, id) where read_at is null",
      "index track_lists_requested on track_lists (requested_at)",
    ],
  },
);

/** The avatar of an owner that is or was on a list. */
export const avatars = table(
  {
    provider: text,
    /** The owner in small letters. */
    owner_key: text,
    owner: text,
    /** Where its image is, as its forge reported it; null: not yet. */
    address: text.optional(),
    /** Changes with the image; null: none. */
    version: text.optional(),
    /** Null: none. */
    png: bytes.optional(),
    /** When it is to be requested. */
    next_at: integer,
    /** When its owner was last on a list. */
    wanted_at: integer,
  },
  {
    key: ["provider", "owner_key"],
    indexes: [
      "index avatars_next on avatars (provider, next_at)",
      "index avatars_wanted on avatars (wanted_at)",
      "index avatars_version on avatars (version, provider, owner_key) where version is not null",
    ],
  },
);

/** A question to a forge: which repositories an owner has, or have a name. */
export const trackQuestions = table(
  {
    id: ownId,
    /** Names the question in URLs; the same for one question to several forges. */
    public_id: text,
    provider: text,
    /** `owner` or `name`. */
    kind: text,
    /** The owner, or the name. */
    sought: text,
    asked_at: integer,
    /** Failed attempts so far, and when it is asked again; 0: it has not failed. */
    attempts: integer,
    retry_at: integer,
    /** One of providers' FAILURE_KINDS. */
    failure: text.optional(),
    /** Repositories that the forge counts; null: not known. */
    total: integer.optional(),
    /** JSON; see tracking's requests/questions.ts. */
    candidates: text.optional(),
    /** When the forge answered, or it failed; null: open. */
    answered_at: integer.optional(),
  },
  {
    key: ["id"],
    constraints: ["unique (public_id, provider)"],
    indexes: [
      "index track_questions_open on track_questions (provider, id) where answered_at is null",
      "index track_questions_asked on track_questions (asked_at)",
    ],
  },
);
