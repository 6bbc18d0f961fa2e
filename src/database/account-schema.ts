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

/** Something that happened to an account, or that somebody tried. Deleted after a time; see accounts' security log. */
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
  /** HMAC of the hour and what is counted, or a word for what concerns nobody in particular. */
  counted: string;
  used: number;
}
