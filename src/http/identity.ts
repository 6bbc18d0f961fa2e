import {
  type Accounts,
  type ApiKeys,
  isOwnOrigin,
  type KeyHolder,
  type RefusedRequest,
} from "../accounts/accounts.js";
import { type Config, isByAddress } from "../config/config.js";
import { AppError } from "../lib/errors.js";
import type { Logger } from "../lib/log.js";
import { hashToken } from "../lib/tokens.js";
import type { Admission } from "./admission.js";
import { BAD_KEY_COST, type Cost, costOf, DEFAULT_LIMIT } from "./cost.js";
import { toAppError } from "./error-response.js";
import { type Exchange, isSafe, refusedEvent } from "./exchange.js";
import { countLines, hasKey, hasOwnCookie, type Message } from "./request-head.js";
import { isApi, type Route } from "./route.js";

/** Who signed-in users and the owners of keys are. */
export interface Identities {
  /** The public address of the pages that may change something. */
  readonly baseUrl: string;
  /** Whether pages of other sites may use the API. */
  readonly isOpen: boolean;
  readonly allowedHosts: Config["allowedHosts"];
  readonly keys: ApiKeys;
  readonly accounts: Accounts;
}

/** Whether the requests of a route count by address, whoever sends them. */
function countsByAddress({ limit: { bucket } }: Route): boolean {
  return typeof bucket === "string" && isByAddress(bucket);
}

interface IdentifyOptions extends AuthorizeOptions {
  admission: Admission;
  log: Logger;
}

/**
 * Identifies the sender of an exchange, if its route needs to know. The fault of one whose key is not valid, or that sends two, counts
 * against its address. One whose address has no lookups left is charged with that, and refused. A promise only if something is read.
 */
export function identify(exchange: Exchange, options: IdentifyOptions): void | Promise<void> {
  const { route } = exchange.target;
  const { headers } = exchange.message;
  if (exchange.fault !== undefined || route.limit.bucket === "free") return;
  try {
    const key = isApi(route) && hasKey(headers) ? readApiKey(exchange.message) : undefined;
    if (key !== undefined) return identifyKey(exchange, key, options);
  } catch (error) {
    return refuseKey(exchange, error, options);
  }
  // The response to OPTIONS is the same for every sender, and costs an account nothing: only the usage of a key counts it.
  if (!hasOwnCookie(headers.cookie) || exchange.method === "OPTIONS" || countsByAddress(route)) return;
  return identifySession(exchange, headers.cookie ?? "", options);
}

function identifyKey(exchange: Exchange, key: string, options: IdentifyOptions): void | Promise<void> {
  const { keys } = options.identities;
  const holder = keys.peek(hashToken(key));
  if (holder !== undefined) return useHolder(exchange, holder);
  const isFamiliar = keys.isFamiliar(key);
  return lookUp(exchange, options, { isFamiliar, find: () => keys.find(key) }).then(
    (found) => {
      if (found !== undefined) useHolder(exchange, found);
      else if (exchange.charge === undefined) refuseKey(exchange, badKey(), options);
    },
    (error: unknown) => refuseKey(exchange, error, options),
  );
}

function useHolder(exchange: Exchange, holder: KeyHolder): void {
  exchange.keyId = holder.keyId;
  exchange.caller = { kind: "key", name: String(holder.keyId), account: holder.accountId };
}

function refuseKey(exchange: Exchange, error: unknown, { recordSecurity }: IdentifyOptions): void {
  const { target, method } = exchange;
  exchange.fault = toAppError(error);
  if (exchange.fault.code === "INVALID_API_KEY") recordSecurity(refusedEvent("key_refused", exchange));
  const cost = costOf({ ...DEFAULT_LIMIT, unknownCost: BAD_KEY_COST }, method, target.query);
  exchange.target = { ...target, cost };
}

async function identifySession(exchange: Exchange, cookie: string, options: IdentifyOptions): Promise<void> {
  const { log } = options;
  const { accounts } = options.identities;
  try {
    const isFamiliar = accounts.isFamiliar(cookie);
    const id = await lookUp(exchange, options, { isFamiliar, find: () => accounts.findId(cookie) });
    if (id !== undefined) exchange.caller = { kind: "signed_in", name: id, account: id };
  } catch (error) {
    // The request counts against its address; a route that needs the account fails by itself.
    log.error({ err: error }, "a session could not be looked up");
  }
}

const LOOKUP: Cost = { bucket: "lookup", units: 1, unknownUnits: 1, failedUnits: 1 };

/**
 * Finds whom a secret belongs to. One that is not familiar takes a lookup of its address before anything is read, and gives it back
 * if it is valid: so guesses cost a bounded number of reads, and holders behind the same address are found all the same.
 */
async function lookUp<T>(
  exchange: Exchange,
  { admission }: IdentifyOptions,
  { isFamiliar, find }: { isFamiliar: boolean; find: () => Promise<T | undefined> },
): Promise<T | undefined> {
  if (isFamiliar) return find();
  const { address } = exchange;
  const charge = await admission.charge({ caller: address, address, cost: LOOKUP });
  if (charge?.decision.allowed === false) {
    exchange.charge = charge;
    return undefined;
  }
  let isGuess = false;
  try {
    const found = await find();
    isGuess = found === undefined;
    return found;
  } finally {
    if (!isGuess) await charge?.refund();
  }
}

/** Looks up the account of an exchange, where its route needs it, and throws where its sender may not use the route. */
export async function authorize(exchange: Exchange, options: AuthorizeOptions): Promise<void> {
  const { identities } = options;
  const { route } = exchange.target;
  const { cookie } = exchange.message.headers;
  const needsAccount = exchange.method !== "OPTIONS" && (route.access === "session" || route.form === "page");
  if (cookie !== undefined && needsAccount) exchange.account = await identities.accounts.find(cookie);
  checkAccess(exchange, options);
}

interface AuthorizeOptions {
  identities: Identities;
  recordSecurity: (event: RefusedRequest) => void;
}

/** Throws where the sender of an exchange may not use its route. Pages ask visitors to sign in by themselves. */
function checkAccess(exchange: Exchange, { identities, recordSecurity }: AuthorizeOptions): void {
  const { method, message, account, target, caller } = exchange;
  const { route } = target;
  if (route.access === "key" && caller.kind !== "key") throw keyNeeded();
  const { baseUrl, isOpen } = identities;
  const isOwn = route.access === "session" || route.access === "browser" || route.body === "form";
  // A method that the path does not have is refused as such.
  if ((!isOwn && isOpen) || route.method !== (method === "HEAD" ? "GET" : method)) return;
  if (!isSafe(method) && !isOwnOrigin(message.headers, identities)) {
    recordSecurity(refusedEvent("cross_site_refused", exchange));
    const who = isOwn ? "from the pages of this service" : "for programs and the pages of this service";
    throw new AppError("FORBIDDEN", `This is possible only ${who}, at ${baseUrl}.`);
  }
  if (route.access === "session" && account === undefined && isApi(route)) {
    throw new AppError("UNAUTHENTICATED", "Sign in first; API keys cannot be used here.", {
      headers: { "WWW-Authenticate": 'Cookie realm="sidereal"' },
    });
  }
}

/** Longer credentials cannot be a key of ours. */
const MAX_KEY_LENGTH = 200;

/** A key that is not valid is refused wherever it is sent: if it were ignored, its sender would not notice. */
function badKey(message = "The API key is malformed, unknown, revoked or expired."): AppError {
  return new AppError("INVALID_API_KEY", message, {
    headers: { "WWW-Authenticate": 'Bearer realm="sidereal", error="invalid_token"' },
  });
}

/** For a route that only holders of a key may use. */
function keyNeeded(): AppError {
  const how =
    "in the header Authorization: Bearer … or X-API-Key; you create keys on the page of your account";
  return new AppError("UNAUTHENTICATED", `This needs an API key, ${how}.`, {
    headers: { "WWW-Authenticate": 'Bearer realm="sidereal"' },
  });
}

/**
 * The API key of a request, from either header; undefined if none was sent. Basic credentials belong to a proxy in front
 * of us and are ignored. Throws INVALID_REQUEST for two different keys, INVALID_API_KEY for credentials that cannot be a key.
 */
export function readApiKey({
  headers,
  headersDistinct,
  rawHeaders,
}: Pick<Message, "headers" | "headersDistinct" | "rawHeaders">): string | undefined {
  const sent = new Set<string>();
  for (const key of valuesOf(headers["x-api-key"])) sent.add(checked(key));
  // Node keeps only the first of several lines.
  const isOne = countLines(rawHeaders, "authorization") <= 1;
  for (const credentials of valuesOf(isOne ? headers.authorization : headersDistinct.authorization)) {
    const blank = credentials.indexOf(" ");
    const scheme = (blank === -1 ? credentials : credentials.slice(0, blank)).toLowerCase();
    if (scheme === "basic") continue;
    if (scheme !== "bearer" || blank === -1)
      throw badKey("The header must be Authorization: Bearer sid_…; no other scheme is read.");
    sent.add(checked(credentials.slice(blank + 1).trim()));
  }
  if (sent.size > 1) throw new AppError("INVALID_REQUEST", "Two different API keys were sent.");
  const [key] = sent;
  return key;
}

/** The values of a header that may be repeated, and may hold several in one line. */
function valuesOf(lines: string | readonly string[] = []): string[] {
  return [lines].flat().flatMap((line) => line.split(",").map((part) => part.trim()));
}

function checked(key: string): string {
  if (key.length > MAX_KEY_LENGTH) throw badKey();
  return key;
}
