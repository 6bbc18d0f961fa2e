import { hash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * Tokens issued by this service: `<prefix>_`, 30 random base62 characters (178 bits), and the CRC32 of all that as 6 base62
 * characters. The prefix identifies the kind of a leaked token; the checksum rejects mistyped and invented tokens without a
 * database read. Only the SHA-256 is stored, except of requests to track, which people may share.
 */
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;

/**
 * Kinds of tokens: an API key, a sign-in link, a watchlist to change, a watchlist to read, the feed of a watchlist, a request to
 * track, the session of an operator at the machine.
 */
export const TOKEN_PREFIXES = ["sid", "sidl", "sidw", "sidr", "sidf", "sidt", "sido"] as const;
export type TokenPrefix = (typeof TOKEN_PREFIXES)[number];

export function createToken(prefix: TokenPrefix): string {
  let token = `${prefix}_`;
  for (let i = 0; i < RANDOM_LENGTH; i++) token += BASE62[randomInt(BASE62.length)];
  return token + checksum(token);
}

/** The token that a secret seed leads to, always the same. */
export function derivedToken(prefix: TokenPrefix, seed: string): string {
  let rest = BigInt(`0x${hash("sha512", `${prefix} ${seed}`, "hex")}`);
  let token = `${prefix}_`;
  for (let i = 0; i < RANDOM_LENGTH; i++, rest /= 62n) token += BASE62[Number(rest % 62n)];
  return token + checksum(token);
}

/** The prefix of a well-formed token with a valid checksum, else undefined. The token need not have been issued. */
export function tokenPrefix(token: string): TokenPrefix | undefined {
  const prefix = /^(sid[lwrfto]?)_[0-9A-Za-z]{36}$/.exec(token)?.[1];
  if (prefix === undefined) return undefined;
  const body = token.slice(0, -CHECKSUM_LENGTH);
  if (checksum(body) !== token.slice(-CHECKSUM_LENGTH)) return undefined;
  return TOKEN_PREFIXES.find((known) => known === prefix);
}

/** SHA-256 in hex, stored and looked up instead of the token. */
export function hashToken(token: string): string {
  return hash("sha256", token, "hex");
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

const MAX_PATH_LENGTH = 200;
/** Percent-encoding is undone this often, so that an encoded token is recognised too. */
const MAX_DECODINGS = 3;

/** Tokens of this service: API keys, sign-in links and watchlist tokens. */
const TOKEN = /sid[a-z]?_[0-9A-Za-z]*/gi;
/** The token of a watchlist, however it is mistyped. */
const WATCHLIST = /(\/watchlists\/)[^/]+/gi;

/** A path as it may be stored and logged: decoded, without query, tokens (`…`) and invisible characters, at most 200 characters. */
export function storablePath(path: string): string {
  let text = path.replace(/[?#].*$/s, "");
  for (let i = 0; i < MAX_DECODINGS && text.includes("%"); i++) text = decoded(text);
  return text
    .replaceAll(/\p{C}/gu, "")
    .replace(TOKEN, "…")
    .replace(WATCHLIST, "$1…")
    .slice(0, MAX_PATH_LENGTH)
    .toWellFormed();
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
