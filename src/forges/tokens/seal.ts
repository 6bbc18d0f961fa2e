/** How a token of a forge is stored: encrypted, and with the reasons why it may be unusable later. */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import type { TokenCheck } from "../contract.js";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface SealedToken {
  provider: string;
  /** Origin of the site that accepted it: `https://github.com`. */
  site: string;
  fingerprint: string;
  keyId: string;
  sealed: string;
}

/** Why a stored token cannot be used. `other_key`: it was encrypted with another key. `damaged`: it was changed or cut off. */
type SealFault = "other_key" | "damaged";

/**
 * Encrypts tokens with AES-256-GCM under a key made from a secret. Each has a random nonce, and is bound to its provider, the
 * origin of its site and its fingerprint: none can be moved to another row, and no row can be given another address.
 */
export class TokenSeal {
  /** Names the key without revealing it. */
  readonly keyId: string;
  readonly #key: Buffer;
  readonly #fingerprintKey: Buffer;

  constructor(secret: string) {
    const derive = (purpose: string, bytes: number) =>
      Buffer.from(hkdfSync("sha256", secret, "", `sidereal forge tokens: ${purpose}`, bytes));
    this.#key = derive("encryption", 32);
    this.#fingerprintKey = derive("fingerprint", 32);
    this.keyId = derive("key id", 6).toString("hex");
  }

  fingerprintOf({ provider, site }: Pick<SealedToken, "provider" | "site">, token: string): string {
    return createHmac("sha256", this.#fingerprintKey)
      .update(`${provider}\n${site}\n${token}`)
      .digest("hex")
      .slice(0, 16);
  }

  seal(forge: Pick<SealedToken, "provider" | "site">, token: string): SealedToken {
    const fingerprint = this.fingerprintOf(forge, token);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(boundTo({ ...forge, fingerprint }));
    const parts = [nonce, cipher.update(token, "utf8"), cipher.final(), cipher.getAuthTag()];
    return { ...forge, fingerprint, keyId: this.keyId, sealed: Buffer.concat(parts).toString("base64url") };
  }

  open(stored: SealedToken): { token: string } | { fault: SealFault } {
    const { keyId, sealed } = stored;
    if (keyId !== this.keyId) return { fault: "other_key" };
    const bytes = Buffer.from(sealed, "base64url");
    if (bytes.length <= NONCE_BYTES + TAG_BYTES) return { fault: "damaged" };
    const decipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(boundTo(stored));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return { token: Buffer.concat([text, decipher.final()]).toString("utf8") };
    } catch {
      return { fault: "damaged" };
    }
  }
}

function boundTo({
  provider,
  site,
  fingerprint,
}: Pick<SealedToken, "provider" | "site" | "fingerprint">): Buffer {
  return Buffer.from(`${provider}\n${site}\n${fingerprint}`);
}

/**
 * Why a stored token is not used. `other_address`: the settings have another address for its forge, or no such forge. `plain_http`:
 * they no longer allow it to be sent over http.
 */
export type TokenFault = SealFault | "other_address" | "plain_http";

/** A stored token, without anything of the token itself. Times in ms since 1970. */
export interface StoredToken {
  id: number;
  provider: string;
  site: string;
  addedAt: number;
  checkedAt: number;
  allows: TokenCheck;
  fault: TokenFault | undefined;
}

const UNREADABLE =
  "stored tokens of forges cannot be decrypted and are not used; set SIDEREAL_TOKEN_KEY to the key that they were stored with, or enter them again";
export const FAULT_WORDS: Readonly<Record<TokenFault, string>> = {
  other_address:
    "stored tokens are for another address than the settings name for their forge, and are not used; set that address again, or remove them",
  plain_http: "stored tokens are not used, as the settings do not permit them to be sent over http",
  other_key: UNREADABLE,
  damaged: UNREADABLE,
};
