import type { TokenCheck } from "../providers/providers.js";
import type { SealFault } from "./seal.js";

/**
 * Why a stored token is not used. `other_address`: the settings have another address for its forge, or no such forge. `plain_http`:
 * they no longer allow it to be sent over http.
 */
export type TokenFault = SealFault | "other_address" | "plain_http";

/** A stored token, without anything of the token itself. Times in ms since 1970. */
export interface StoredToken {
  id: number;
  provider: string;
  /** Origin of the site that it is for. */
  site: string;
  addedAt: number;
  /** When the forge accepted it. */
  checkedAt: number;
  /** What the forge said then. */
  allows: TokenCheck;
  /** Why it is not used; undefined: it is. */
  fault: TokenFault | undefined;
}

const UNREADABLE =
  "stored tokens of forges cannot be decrypted and are not used; set SIDEREAL_TOKEN_KEY to the key that they were stored with, or enter them again";
/** What the log says of tokens that are not used. */
export const FAULT_WORDS: Readonly<Record<TokenFault, string>> = {
  other_address:
    "stored tokens are for another address than the settings name for their forge, and are not used; set that address again, or remove them",
  plain_http: "stored tokens are not used, as the settings do not permit them to be sent over http",
  other_key: UNREADABLE,
  damaged: UNREADABLE,
};
