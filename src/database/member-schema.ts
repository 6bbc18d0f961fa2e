/** Tables of data that belongs to people: accounts, operators, the usage of keys, and watchlists. */
import type { Generated } from "kysely";

/** Columns of an account that our own queries read. The sign-in library writes this table and four others. */
export interface AccountTable {
  id: string;
  /** In lower case; verified by its owner. */
  email: string;
}

export interface ApiKeyTable {
  id: Generated<number>;
  account_id: string;
  name: string;
  /** SHA-256 of the key in hex; of a revoked key a text that no key has. */
  hash: string;
  /** The last four characters of the key. */
  hint: string;
  created_at: number;
  /** To the minute; null: never. */
  last_used_at: number | null;
  /** null: the key is active. */
  revoked_at: number | null;
}

/** A mail to sign in with that was sent and not used yet. Deleted soon after it has expired. */
export interface SignInRequestTable {
  /** SHA-256 of the token in its link, in hex. */
  token_hash: string;
  /** SHA-256 of the secret of the browser that requested it, in hex. */
  browser_hash: string;
  /** HMAC of that hash and the code in the mail. */
  code_hash: string;
  /** In lower case. */
  email: string;
  /** A path to continue to. */
  next: string;
  /** How many codes were compared with this one. */
  tries: number;
  requested_at: number;
}

/** An event of the security log of `accounts`: of an account, or a refused request. Deleted after its retention. */
export interface SecurityEventTable {
  id: Generated<number>;
  at: number;
  /** Outlives the account; null: nobody was signed in. */
  account_id: string | null;
  /** One of accounts' event names. */
  event: string;
  /** The network of the caller, shortened as in the usage of keys. */
  network: string;
  /** JSON object without secrets. */
  detail: string;
  /** Number of like events that the row counts, within a minute from `at`. */
  times: number;
}

/** How much mail was sent in an hour. Rows of earlier hours are deleted when no limit counts them. */
export interface MailUseTable {
  /** Hours since 1970, UTC. */
  span: number;
  /** HMAC of the hour and the name of the counter, or the name of a counter that is not about a person. */
  counted: string;
  used: number;
}

/** A code, written to the log, that opens the operator's pages once in the browser that requested it. */
export interface OperatorCodeTable {
  /** SHA-256 of the secret of the browser that requested it. */
  browser_hash: string;
  /** HMAC of the browser and the code. */
  code_hash: string;
  tries: number;
  requested_at: number;
}

/** An operator's session in a browser on this machine, begun with a code. */
export interface OperatorSessionTable {
  token_hash: string;
  began_at: number;
}

/** Columns of the sums of one key in one hour. */
export interface UsageHour {
  key_id: number;
  /** Start of the hour, UTC. */
  from_at: number;
}

export interface UsageRouteTable extends UsageHour {
  /** Empty with the route `other`. */
  method: string;
  /** Path pattern, or `other`. */
  route: string;
  /** 2xx, 3xx, 4xx, 5xx or blocked. */
  outcome: string;
  requests: number;
  /** Response bodies as sent. */
  bytes: number;
  /** Response times, in microseconds. */
  micros: number;
}

/** How close a key came to its limits. */
export interface UsageAllowanceTable extends UsageHour {
  bucket: string;
  /** The limit of the bucket when the key was last used. */
  allowance: number;
  /** The lowest remaining count reported. */
  lowest: number;
  lowest_at: number;
}

/** Networks and user agents that used a key. */
export interface UsageCallerTable extends UsageHour {
  /** address: a network, never a whole address. agent: a family of user agents. */
  kind: string;
  name: string;
  requests: number;
  last_at: number;
}

/** A recent error or rate-limited request; only a few are kept per key. */
export interface UsageEventTable {
  id: Generated<number>;
  key_id: number;
  at: number;
  /** null with the route `other`. */
  method: string | null;
  route: string;
  status: number;
  /** The error code of the response; null if it had none. */
  code: string | null;
  /** The bucket the request counted against; null: none. */
  bucket: string | null;
  /** The requested path: decoded, without query and tokens. */
  path: string | null;
}

/** A list of an account, or one without an owner that tokens address. */
export interface WatchlistTable {
  id: Generated<number>;
  /** The owner, with at most one list; null: whoever holds a token. */
  account_id: string | null;
  /** SHA-256 of the token that can change the list; null for the list of an account. */
  token_hash: string | null;
  /** SHA-256 of the read-only token; null for the list of an account. */
  share_token_hash: string | null;
  /** SHA-256 of the token that reads the feed of the list of an account; null: it has no feed. */
  feed_token_hash: string | null;
  name: string;
  /** Incremented by every change; the ETag of the list. */
  version: number;
  created_at: number;
  updated_at: number;
  /** When somebody last opened the list, to the day; null for the list of an account. */
  opened_at: number | null;
}

export interface WatchlistItemTable {
  watchlist_id: number;
  repository_id: number;
  /** Ascends in the order in which repositories were added; may have gaps. */
  sort_order: number;
  added_at: number;
}

/** When the owner of a list last looked at it, in the current visit and in the previous one. */
export interface WatchlistVisitTable {
  account_id: string;
  /** To the minute. */
  seen_at: number;
  /** JSON of watchlists' ListState at that time. */
  seen_state: string;
  /** End of the previous visit; null: this is the first one. */
  previous_seen_at: number | null;
  previous_state: string | null;
}
