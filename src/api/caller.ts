import type { KeyHolder } from "../accounts/accounts.js";
import { AppError } from "../errors.js";
import type { Logger } from "../log.js";

export type FindKey = (secret: string) => Promise<KeyHolder | undefined>;
/** The id of the account whose session a cookie header has. */
export type FindSession = (cookie: string) => Promise<string | undefined>;

/** A key that opens nothing is refused, wherever it is sent: served without it, its sender would not notice. */
function badKey(): AppError {
  return new AppError("INVALID_API_KEY", "The API key is malformed, unknown or revoked.", {
    headers: { "WWW-Authenticate": 'Bearer realm="sidereal", error="invalid_token"' },
  });
}

/**
 * The key that a request comes with, by either header. Throws INVALID_REQUEST where two differ. Basic credentials are a
 * proxy's before us, and no key.
 */
function keyOf(headers: Headers): string | undefined {
  const sent = new Set<string>();
  for (const key of headers.get("x-api-key")?.split(",") ?? []) sent.add(key.trim());
  for (const credentials of headers.get("authorization")?.split(",") ?? []) {
    const [, scheme = "", key = ""] = /^\s*(\S*)\s*(.*?)\s*$/.exec(credentials) ?? [];
    if (scheme.toLowerCase() === "basic") continue;
    // Another scheme stands for a key that nobody has.
    sent.add(scheme.toLowerCase() === "bearer" ? key : "");
  }
  if (sent.size > 1) throw new AppError("INVALID_REQUEST", "Two different API keys were sent.");
  return [...sent][0];
}

/** Who a request is made for by its key; undefined where it has none. Throws INVALID_API_KEY for one that is not valid. */
export async function checkKey({ url, headers }: Request, findKey: FindKey): Promise<KeyHolder | undefined> {
  if (!headers.has("authorization") && !headers.has("x-api-key")) return undefined;
  if (!new URL(url).pathname.startsWith("/api/")) return undefined;
  const key = keyOf(headers);
  if (key === undefined) return undefined;
  const holder = await findKey(key);
  if (holder === undefined) throw badKey();
  return holder;
}

/**
 * The account whose session a request has, for its limits alone. Undefined also for a session that is over, and where the
 * sessions cannot be looked up: the request then has the limits of its address.
 */
export async function sessionOf(
  { headers }: Request,
  findSession: FindSession,
  log: Logger,
): Promise<string | undefined> {
  const cookie = headers.get("cookie");
  if (cookie === null) return undefined;
  try {
    return await findSession(cookie);
  } catch (error) {
    log.error({ err: error }, "a session could not be looked up");
    return undefined;
  }
}
