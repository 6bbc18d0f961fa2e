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
    /** The position at which it continues; null: at the beginning. */
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

/** New repositories in the lists of a provider on a day. */
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

/** A pending request to a forge: a repository to track, an answer to a question, or the links in a README or a pasted text. */
export const wanted = table(
  {
    id: ownId,
    /** Names it in URLs; the same for one question to several forges. */
    public_id: text,
    /** `repository`; `owner` or `name`: which repositories an owner has, or have a name; `readme` or `links`: a list. */
    kind: text,
    /** Empty for pasted links. */
    provider: text,
    /** The name, as requested; empty for pasted links. */
    text: text,
    /** See catalog's fullNameKey. */
    text_key: text,
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
    /** When its history was read, the forge answered, or it failed; null: open. */
    finished_at: integer.optional(),
    /** The list that it came with; null: none. */
    list_id: integer.optional(),
    /** JSON: the ids of watchlists to add the repository to, once it is recorded; null: none. */
    watchlists: text.optional(),
    /** JSON of tracking's answer to a question, or of the counts of a list. */
    answer: text.optional(),
  },
  {
    key: ["id"],
    constraints: ["unique (public_id, provider)"],
    indexes: [
      "index wanted_open on wanted (provider, kind, is_batch, id) where finished_at is null",
      "unique index wanted_once on wanted (provider, text_key) where finished_at is null and kind = 'repository'",
      "index wanted_text on wanted (provider, kind, text_key)",
      "index wanted_finished on wanted (finished_at) where finished_at is not null",
      "index wanted_list on wanted (list_id) where list_id is not null",
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
    /** The address of its image, as its forge reported it; null: not yet. */
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
