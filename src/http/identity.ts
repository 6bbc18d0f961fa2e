import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Account, KeyHolder } from "../accounts/accounts.js";
import { AppError } from "../errors.js";
import type { Logger } from "../log.js";
import type { Caller } from "../metering/metering.js";
import { badKey, readApiKey } from "./api-key.js";
import { isApi } from "./route.js";
import type { Target } from "./targets.js";

/** Who signed-in users and the owners of keys are. */
export interface Identities {
  /** The public address of the pages that may change something. */
  readonly baseUrl: string;
  /** Undefined for a key that is malformed, unknown or revoked. */
  findKey(secret: string): Promise<KeyHolder | undefined>;
  /** The holder of the key with this hash, if it was found a moment ago; undefined also if finding it takes a read. */
  peekKey(hash: string): KeyHolder | undefined;
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
  response: ServerResponse;
  /** Monotonic. */
  beganAt: number;
  method: string;
  target: Target;
  id: string;
  /** The caller by address. */
  address: Caller;
  /** Whose limits the request counts against. */
  caller: Caller;
  account: Account | undefined;
  keyId: number | undefined;
  /** Whether a response was computed for this request, even if another one is sent. */
  isComputed: boolean;
}

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

const keyCallers = new WeakMap<KeyHolder, Caller>();

/** The caller that the requests with a key count against; the same object for the same holder. */
export function callerOfKey(holder: KeyHolder): Caller {
  const known = keyCallers.get(holder);
  if (known !== undefined) return known;
  const caller: Caller = { kind: "key", name: String(holder.keyId), account: holder.accountId };
  keyCallers.set(holder, caller);
  return caller;
}

/** Identifies the sender of an exchange, if its route needs to know. Throws INVALID_API_KEY or INVALID_REQUEST. */
export async function identify(exchange: Exchange, identities: Identities, log: Logger): Promise<void> {
  const { route } = exchange.target;
  const key = isApi(route) ? readApiKey(exchange.message.headersDistinct) : undefined;
  if (key !== undefined) {
    const holder = await identities.findKey(key);
    if (holder === undefined) throw badKey();
    exchange.keyId = holder.keyId;
    // Signing in is limited by address alone.
    if (route.limit.bucket !== "auth") exchange.caller = callerOfKey(holder);
  }
  const { cookie } = exchange.message.headers;
  if (cookie === undefined || key !== undefined || route.limit.bucket === "auth") return;
  try {
    const id = await identities.findAccountId(cookie);
    if (id !== undefined) exchange.caller = { kind: "signed_in", name: id };
  } catch (error) {
    // The request counts against its address; a route that needs the account fails by itself.
    log.error({ err: error }, "a session could not be looked up");
  }
}

/** Looks up the account of an exchange, where its route needs it, and throws where its sender may not use the route. */
export async function authorize(exchange: Exchange, identities: Identities): Promise<void> {
  const { route } = exchange.target;
  const { cookie } = exchange.message.headers;
  if (cookie !== undefined && (route.access === "session" || route.form === "page"))
    exchange.account = await identities.findAccount(cookie);
  checkAccess(exchange, identities);
}

/** Throws where the sender of an exchange may not use its route. Pages ask visitors to sign in by themselves. */
function checkAccess(
  { method, message, account, target: { route } }: Exchange,
  identities: Identities,
): void {
  const isOwn = route.access === "session" || route.access === "browser" || route.body === "form";
  // A method that the path does not have is refused as such.
  if (!isOwn || route.method !== (method === "HEAD" ? "GET" : method)) return;
  if (!SAFE_METHODS.has(method) && !identities.isOwnOrigin(message.headers)) {
    const { baseUrl } = identities;
    throw new AppError("FORBIDDEN", `This is possible only from the pages of this service, at ${baseUrl}.`);
  }
  if (route.access === "session" && account === undefined && isApi(route)) {
    throw new AppError("UNAUTHENTICATED", "Sign in first; API keys cannot be used here.", {
      headers: { "WWW-Authenticate": 'Cookie realm="sidereal"' },
    });
  }
}
