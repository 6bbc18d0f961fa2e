import type { Generated } from "kysely";

/** Tables of data that belongs to people: accounts, operators, the usage of keys, and watchlists. */
export interface MemberTables {
  /** An operator's session in a browser on this machine, begun with a code. */
  operator_sessions: {
    token_hash: string;
    began_at: number;
  };
  /** A list of an account, or one without an owner that tokens address. */
  watchlists: {
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
  };
  watchlist_items: {
    watchlist_id: number;
    repository_id: number;
    /** Ascends in the order in which repositories were added; may have gaps. */
    sort_order: number;
    added_at: number;
    /** The id that was added, if its repository was joined to this one. */
    from_id: number | null;
  };
  /** When the owner of a list last looked at it, in the current visit and in the previous one. */
  watchlist_visits: {
    account_id: string;
    /** To the minute. */
    seen_at: number;
    /** JSON of watchlists' ListState at that time. */
    seen_state: string;
    /** End of the previous visit; null: this is the first one. */
    previous_seen_at: number | null;
    previous_state: string | null;
  };
  /** How much of a quota was used up in a period. Deleted when no quota needs it. For the quota `idempotency`, `used` is the digest of a body. */
  quota_use: {
    /** Name of the quota, such as `watchlists`. */
    quota: string;
    /** HMAC of the period and an address, a network or an account, with the secret of the service; or a word. */
    holder: string;
    /** End of the period. */
    ends_at: number;
    used: number;
  };
  /** Columns of an account that our own queries read. The sign-in library writes this table and four others. */
  accounts: {
    id: string;
    /** In lower case; verified by its owner. */
    email: string;
  };
  api_keys: {
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
    /** From when on it is refused: when it was revoked, or expires. null: it is active until it is revoked. */
    revoked_at: number | null;
  };
  /** An event of an account. Deleted after its retention. */
  account_events: {
    id: Generated<number>;
    at: number;
    /** Outlives the account; null: an operator at the machine. */
    account_id: string | null;
    /** One of accounts' event names. */
    event: string;
    /** The network of the sender, shortened as in the usage of keys. */
    network: string;
    /** JSON object without secrets. */
    detail: string;
  };
  /** A code with a link to sign in, or a code for an operator, that was not used yet. Deleted soon after it has expired. */
  sign_in_requests: {
    /** SHA-256 of the token in its link, in hex. */
    token_hash: string;
    /** SHA-256 of the purpose and the secret of the browser that requested it, in hex. */
    browser_hash: string;
    /** HMAC of that hash and the code. */
    code_hash: string;
    /** In lower case; empty: for an operator. */
    email: string;
    /** A path to continue to. */
    next: string;
    /** How many codes were compared with this one. */
    tries: number;
    requested_at: number;
  };
  usage_routes: {
    key_id: number;
    /** Start of the hour, UTC. */
    from_at: number;
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
  };
  /** How close a key came to its limits. */
  usage_allowances: {
    key_id: number;
    /** Start of the hour, UTC. */
    from_at: number;
    bucket: string;
    /** The limit of the bucket when the key was last used. */
    allowance: number;
    /** The lowest remaining count reported. */
    lowest: number;
    lowest_at: number;
  };
  /** Addresses and user agents that used a key. */
  usage_callers: {
    key_id: number;
    /** Start of the hour, UTC. */
    from_at: number;
    /** address: an address, or a network as older versions wrote it. agent: a family of user agents. */
    kind: string;
    name: string;
    requests: number;
    last_at: number;
  };
  /** A recent error or rate-limited request; only a few are kept per key. */
  usage_events: {
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
  };
}

export type UsageRouteTable = MemberTables["usage_routes"];
export type UsageAllowanceTable = MemberTables["usage_allowances"];
export type UsageCallerTable = MemberTables["usage_callers"];
export type UsageEventTable = MemberTables["usage_events"];
