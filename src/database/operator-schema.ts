import type { Generated } from "kysely";

/** The tables of operators. Times are in ms since 1970. */

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

/** Data that is too slow to compute during a request, as last prepared by the worker. */
export interface StatusDocumentTable {
  name: string;
  at: number;
  /** JSON. */
  body: string;
}

/** Repositories that were requested together: pasted links, or those in the README of a repository. */
export interface TrackListTable {
  id: Generated<number>;
  public_id: string;
  /** Of the repository with the README; null: the links were pasted. */
  provider: string | null;
  full_name: string | null;
  requested_at: number;
  leased_until: number;
  attempts: number;
  /** Repositories that it links to. */
  found: number;
  /** Repositories that were already tracked. */
  known: number;
  /** Repositories left out because the queue or a quota was full. */
  left_out: number;
  /** One of providers' FAILURE_KINDS. */
  failure: string | null;
  /** When the links were read; null: the README has not been read yet. */
  read_at: number | null;
}
