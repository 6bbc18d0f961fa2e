import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Account, KeyHolder } from "../accounts/accounts.js";
import { AppError } from "../errors.js";
import type { Logger } from "../log.js";
import type { Caller } from "../metering/metering.js";
import { badKey, readApiKey } from "./caller.js";
import { isApi } from "./route.js";
import type { Target } from "./targets.js";

/** Who signed-in users and the owners of keys are. */
export interface Identities {
  /** Undefined for a key that is malformed, unknown or revoked. */
  findKey(secret: string): Promise<KeyHolder | undefined>;
  /** The account whose session a Cookie header carries. */
  findAccount(cookie: string): Promise<Account | undefined>;
  /** Its id, which may be some seconds old: for rate limits only. */
  findAccountId(cookie: string): Promise<string | undefined>;
  /** Whether a request that changes something comes from our own pages. */
  isOwnOrigin(headers: IncomingHttpHeaders): boolean;
}

/** One request and what is known about it so far. */
export interface Exchange {
  message: IncomingMessage;
  method: string;
  target: Target;
  id: string;
  /** The caller by address. */
  address: Caller;
  /** Whose limits the request counts against. */
  caller: Caller;
  account: Account | undefined;
  keyId: number | undefined;
  /** Why the session could not be looked up. */
  sessionFault?: unknown;
}

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Adds to an exchange who sends it, where its route wants to know. Throws INVALID_API_KEY or INVALID_REQUEST. */
export async function identify(exchange: Exchange, identities: Identities, log: Logger): Promise<void> {
  const { route } = exchange.target;
  const { headers } = exchange.message;
  const key = isApi(route) ? readApiKey(headers) : undefined;
  if (key !== undefined) {
    const holder = await identities.findKey(key);
    if (holder === undefined) throw badKey();
    exchange.keyId = holder.keyId;
    // Signing in is limited by address alone.
    if (route.limit.bucket !== "auth")
      exchange.caller = { kind: "key", name: String(holder.keyId), account: holder.accountId };
  }
  const { cookie } = headers;
  if (cookie === undefined) return;
  try {
    const needsAccount = route.access === "session" || route.form === "page";
    const account = needsAccount ? await identities.findAccount(cookie) : undefined;
    exchange.account = account;
    if (key !== undefined || route.limit.bucket === "auth") return;
    const id = needsAccount ? account?.id : await identities.findAccountId(cookie);
    if (id !== undefined) exchange.caller = { kind: "signed_in", name: id };
  } catch (error) {
    // The request counts against its address; a route that needs the account fails by itself.
    log.error({ err: error }, "a session could not be looked up");
    exchange.sessionFault = error;
  }
}

/** Throws where the sender of an exchange may not use its route. */
export function checkAccess(exchange: Exchange, identities: Identities): void {
  const { method, message, account, sessionFault } = exchange;
  const { route } = exchange.target;
  if (sessionFault !== undefined && (route.access === "session" || route.form === "page")) throw sessionFault;
  const isOwn = route.access === "session" || route.access === "browser" || route.body === "form";
  // A method that the path does not have is refused as such.
  if (!isOwn || route.method !== (method === "HEAD" ? "GET" : method)) return;
  if (!SAFE_METHODS.has(method) && !identities.isOwnOrigin(message.headers))
    throw new AppError("FORBIDDEN", "This is possible only from the pages of this service.");
  if (route.access === "session" && account === undefined) {
    throw new AppError("UNAUTHENTICATED", "Sign in first; API keys cannot be used here.", {
      headers: { "WWW-Authenticate": 'Cookie realm="sidereal"' },
    });
  }
}
