import { createHash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * Secrets this service hands out: `<prefix>_`, 30 random base62 characters (178 bits), and the CRC32 of all before it
 * as 6 base62 characters. The prefix tells what leaked; the checksum lets a mistyped or made-up token be refused without
 * a database read. Only the SHA-256 is ever stored.
 */
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;

/** What a token is for: an API key, a link that signs in, a watchlist to change, a watchlist to read. */
export const TOKEN_PREFIXES = ["sid", "sidl", "sidw", "sidr"] as const;
export type TokenPrefix = (typeof TOKEN_PREFIXES)[number];

export function createToken(prefix: TokenPrefix): string {
  let token = `${prefix}_`;
  for (let i = 0; i < RANDOM_LENGTH; i++) token += BASE62[randomInt(BASE62.length)];
  return token + checksum(token);
}

/** The prefix of a well-formed token with a right checksum, else undefined. Says nothing about whether it was ever issued. */
export function tokenPrefix(token: string): TokenPrefix | undefined {
  const prefix = /^(sid[lwr]?)_[0-9A-Za-z]{36}$/.exec(token)?.[1];
  if (prefix === undefined) return undefined;
  const body = token.slice(0, -CHECKSUM_LENGTH);
  if (checksum(body) !== token.slice(-CHECKSUM_LENGTH)) return undefined;
  return TOKEN_PREFIXES.find((known) => known === prefix);
}

/** What is stored and looked up in place of the token: its SHA-256 in hex. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function checksum(body: string): string {
  let rest = crc32(body);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
