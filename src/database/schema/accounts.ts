import { integer, libraryFlag, libraryTime, ownId, table, text } from "./describe.js";

/** Columns of an account that our own queries read. The sign-in library writes this table and four others. */
export const accounts = table(
  {
    id: text,
    /** In lower case; verified by its owner. */
    email: text,
    email_verified: libraryFlag,
    name: text,
    image: text.optional(),
    created_at: libraryTime,
    updated_at: libraryTime,
  },
  { key: ["id"], constraints: ["unique (email)"] },
);

export const identities = table(
  {
    id: text,
    account_id: text.references("accounts (id) on delete cascade"),
    provider: text,
    provider_account_id: text,
    access_token: text.optional(),
    access_token_expires_at: libraryTime.optional(),
    refresh_token: text.optional(),
    refresh_token_expires_at: libraryTime.optional(),
    id_token: text.optional(),
    scope: text.optional(),
    password: text.optional(),
    created_at: libraryTime,
    updated_at: libraryTime,
  },
  {
    key: ["id"],
    indexes: [
      "unique index identities_provider on identities (provider, provider_account_id)",
      "index identities_account on identities (account_id)",
    ],
  },
);

export const sessions = table(
  {
    id: text,
    account_id: text.references("accounts (id) on delete cascade"),
    token_hash: text,
    ip_address: text.optional(),
    user_agent: text.optional(),
    created_at: libraryTime,
    updated_at: libraryTime,
    expires_at: libraryTime,
    /** When it was last used. */
    seen_at: integer.defaults(0),
  },
  {
    key: ["id"],
    constraints: ["unique (token_hash)"],
    indexes: [
      "index sessions_account on sessions (account_id)",
      "index sessions_expiry on sessions (expires_at)",
      "index sessions_seen on sessions (seen_at)",
    ],
  },
);

export const verifications = table(
  {
    id: text,
    identifier: text,
    value: text,
    created_at: libraryTime,
    updated_at: libraryTime,
    expires_at: libraryTime,
  },
  {
    key: ["id"],
    indexes: [
      "index verifications_identifier on verifications (identifier)",
      "index verifications_expiry on verifications (expires_at)",
    ],
  },
);

export const passkeys = table(
  {
    id: text,
    account_id: text.references("accounts (id) on delete cascade"),
    name: text.optional(),
    public_key: text,
    credential_id: text,
    counter: integer,
    device_type: text,
    backed_up: libraryFlag,
    transports: text.optional(),
    aaguid: text.optional(),
    created_at: libraryTime.optional(),
  },
  {
    key: ["id"],
    constraints: ["unique (credential_id)"],
    indexes: ["index passkeys_account on passkeys (account_id)"],
  },
);

/** A code with a link to sign in, or a code for an operator, that was not used yet. Deleted soon after it has expired. */
export const signInRequests = table(
  {
    /** SHA-256 of the token in its link, in hex. */
    token_hash: text,
    /** SHA-256 of the purpose and the secret of the browser that requested it, in hex. */
    browser_hash: text,
    /** HMAC of that hash and the code. */
    code_hash: text,
    /** In lower case; empty: for an operator. */
    email: text,
    /** A path to continue to. */
    next: text,
    /** How many codes were compared with this one. */
    tries: integer,
    requested_at: integer,
  },
  {
    key: ["token_hash"],
    isClustered: true,
    indexes: [
      "index sign_in_requests_browser on sign_in_requests (browser_hash)",
      "index sign_in_requests_time on sign_in_requests (requested_at)",
    ],
  },
);

/** An operator's session in a browser on this machine, begun with a code. */
export const operatorSessions = table(
  {
    token_hash: text,
    began_at: integer,
  },
  { key: ["token_hash"], isClustered: true },
);

/** An event of an account. Deleted after its retention. */
export const accountEvents = table(
  {
    id: ownId,
    at: integer,
    /** Outlives the account; null: an operator at the machine. */
    account_id: text.optional(),
    /** One of accounts' event names. */
    event: text,
    /** The network of the sender, shortened as in the usage of keys. */
    network: text,
    /** JSON object without secrets. */
    detail: text,
  },
  {
    key: ["id"],
    indexes: [
      "index account_events_account on account_events (account_id, id) where account_id is not null",
      "index account_events_at on account_events (at)",
    ],
  },
);

/** A ban of an account or of a network by an operator. Deleted after it has ended. */
export const bans = table(
  {
    id: ownId,
    account_id: text.optional().references("accounts (id) on delete cascade"),
    /** As `readNetwork` names it. */
    network: text.optional(),
    /** For operators. */
    reason: text,
    banned_at: integer,
    /** null: until it is lifted. */
    ends_at: integer.optional(),
  },
  {
    key: ["id"],
    isAdded: true,
    constraints: [
      "unique (account_id)",
      "unique (network)",
      "check ((account_id is null) <> (network is null))",
    ],
  },
);

/** How much of a quota was used up in a period. Deleted when no quota needs it. For the quota `idempotency`, `used` is the digest of a body. */
export const quotaUse = table(
  {
    /** Name of the quota, such as `watchlists`. */
    quota: text,
    /** HMAC of the period and an address, a network or an account, with the secret of the service; or a word. */
    holder: text,
    /** End of the period. */
    ends_at: integer,
    used: integer,
  },
  { key: ["quota", "holder", "ends_at"], isClustered: true },
);

export const apiKeys = table(
  {
    id: ownId,
    account_id: text.references("accounts (id) on delete cascade"),
    name: text,
    /** SHA-256 of the key in hex; of a revoked key a text that no key has. */
    hash: text,
    /** The last four characters of the key. */
    hint: text,
    created_at: integer,
    /** To the minute; null: never. */
    last_used_at: integer.optional(),
    /** From when on it is refused: when it was revoked, or expires. null: it is active until it is revoked. */
    revoked_at: integer.optional(),
  },
  {
    key: ["id"],
    constraints: ["unique (hash)"],
    indexes: ["index api_keys_account on api_keys (account_id, id)"],
  },
);

export const usageRoutes = table(
  {
    key_id: integer.references("api_keys (id) on delete cascade"),
    /** Start of the hour, UTC. */
    from_at: integer,
    /** Empty with the route `other`. */
    method: text,
    /** Path pattern, or `other`. */
    route: text,
    /** 2xx, 3xx, 4xx, 5xx or blocked. */
    outcome: text,
    requests: integer,
    /** Response bodies as sent. */
    bytes: integer,
    /** Response times, in microseconds. */
    micros: integer,
  },
  { key: ["key_id", "from_at", "method", "route", "outcome"], isClustered: true },
);

/** How close a key came to its limits. */
export const usageAllowances = table(
  {
    key_id: integer.references("api_keys (id) on delete cascade"),
    /** Start of the hour, UTC. */
    from_at: integer,
    bucket: text,
    /** The limit of the bucket when the key was last used. */
    allowance: integer,
    /** The lowest remaining count reported. */
    lowest: integer,
    lowest_at: integer,
  },
  { key: ["key_id", "from_at", "bucket"], isClustered: true },
);

/** Addresses and user agents that used a key. */
export const usageCallers = table(
  {
    key_id: integer.references("api_keys (id) on delete cascade"),
    /** Start of the hour, UTC. */
    from_at: integer,
    /** address: an address, or a network as older versions wrote it. agent: a family of user agents. */
    kind: text,
    /** A network, never a whole address; or a family of user agents. */
    name: text,
    requests: integer,
    last_at: integer,
  },
  { key: ["key_id", "from_at", "kind", "name"], isClustered: true },
);

/** A recent error or rate-limited request; only a few are kept per key. */
export const usageEvents = table(
  {
    id: ownId,
    key_id: integer.references("api_keys (id) on delete cascade"),
    at: integer,
    /** null with the route `other`. */
    method: text.optional(),
    route: text,
    status: integer,
    /** The error code of the response; null if it had none. */
    code: text.optional(),
    /** The bucket the request counted against; null: none. */
    bucket: text.optional(),
    /** The requested path: decoded, without query and tokens. */
    path: text.optional(),
  },
  { key: ["id"], indexes: ["index usage_events_key on usage_events (key_id, at)"] },
);
