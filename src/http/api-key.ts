import { AppError } from "../errors.js";

/** Longer credentials cannot be a key of ours. */
const MAX_KEY_LENGTH = 200;

/** A key that is not valid is refused wherever it is sent: if it were ignored, its sender would not notice. */
export function badKey(): AppError {
  return new AppError("INVALID_API_KEY", "The API key is malformed, unknown or revoked.", {
    headers: { "WWW-Authenticate": 'Bearer realm="sidereal", error="invalid_token"' },
  });
}

/** For a route that only holders of a key may use. */
export function keyNeeded(): AppError {
  const how =
    "in the header Authorization: Bearer … or X-API-Key; you create keys on the page of your account";
  return new AppError("UNAUTHENTICATED", `This needs an API key, ${how}.`, {
    headers: { "WWW-Authenticate": 'Bearer realm="sidereal"' },
  });
}

/**
 * The API key of a request, from either header; undefined where none was sent. Basic credentials belong to a proxy in front
 * of us and are ignored. Throws INVALID_REQUEST for two different keys, INVALID_API_KEY for credentials that cannot be a key.
 */
export function readApiKey(headers: NodeJS.Dict<string[]>): string | undefined {
  const sent = new Set<string>();
  for (const key of valuesOf(headers["x-api-key"])) sent.add(checked(key));
  for (const credentials of valuesOf(headers.authorization)) {
    const blank = credentials.indexOf(" ");
    const scheme = (blank === -1 ? credentials : credentials.slice(0, blank)).toLowerCase();
    if (scheme === "basic") continue;
    // Any other scheme is treated as a key that nobody has.
    sent.add(scheme === "bearer" && blank !== -1 ? checked(credentials.slice(blank + 1).trim()) : "");
  }
  if (sent.size > 1) throw new AppError("INVALID_REQUEST", "Two different API keys were sent.");
  const [key] = sent;
  return key;
}

/** The values of a header that may be repeated, and may hold several in one line. */
function valuesOf(lines: readonly string[] = []): string[] {
  return lines.flatMap((line) => line.split(",")).map((part) => part.trim());
}

function checked(key: string): string {
  if (key.length > MAX_KEY_LENGTH) throw badKey();
  return key;
}
