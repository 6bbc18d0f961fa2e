import type { IncomingHttpHeaders } from "node:http";
import { AppError } from "../errors.js";

/** Longer credentials cannot be a key of ours. */
const MAX_CREDENTIALS = 500;

/** A key that is not valid is refused wherever it is sent: if it were ignored, its sender would not notice. */
export function badKey(): AppError {
  return new AppError("INVALID_API_KEY", "The API key is malformed, unknown or revoked.", {
    headers: { "WWW-Authenticate": 'Bearer realm="sidereal", error="invalid_token"' },
  });
}

/**
 * The API key of a request, from either header; undefined where none was sent. Basic credentials belong to a proxy in front
 * of us and are ignored. Throws INVALID_REQUEST for two different keys, INVALID_API_KEY for credentials that cannot be a key.
 */
export function readApiKey(headers: IncomingHttpHeaders): string | undefined {
  const { authorization, "x-api-key": header } = headers;
  if (authorization === undefined && header === undefined) return undefined;
  const sent = new Set<string>();
  for (const key of split(Array.isArray(header) ? header.join() : header)) sent.add(key);
  for (const credentials of split(authorization)) {
    const blank = credentials.indexOf(" ");
    const scheme = (blank === -1 ? credentials : credentials.slice(0, blank)).toLowerCase();
    if (scheme === "basic") continue;
    // Any other scheme is treated as a key that nobody has.
    sent.add(scheme === "bearer" && blank !== -1 ? credentials.slice(blank + 1).trim() : "");
  }
  if (sent.size > 1) throw new AppError("INVALID_REQUEST", "Two different API keys were sent.");
  const [key] = sent;
  return key;
}

/** The parts of a header that may be repeated. */
function split(value: string | undefined): string[] {
  if (value === undefined) return [];
  if (value.length > MAX_CREDENTIALS) throw badKey();
  return value.split(",").map((part) => part.trim());
}
