import {
  type Account,
  type Accounts,
  type ApiKeys,
  isOwnOrigin,
  type KeyHolder,
  type RefusedRequest,
  type Source,
} from "../accounts/accounts.js";
import { type Config, isByAddress } from "../config/config.js";
import { AppError } from "../lib/errors.js";
import type { Logger } from "../lib/log.js";
import { hashToken } from "../lib/tokens.js";
import type { Admission } from "./admission.js";
import { agentFamily } from "./agents.js";
import { type Callers, truncatedAddress } from "./callers.js";
import type { Charge } from "./charge.js";
import { BAD_KEY_COST, type Cost, costOf, DEFAULT_LIMIT } from "./cost.js";
import { toAppError } from "./error-response.js";
import type { Caller } from "./limiter.js";
import { countLines, hasKey, hasOwnCookie, type Message } from "./request-head.js";
import { isApi, isSafe, type Route } from "./route.js";
import type { Outline, Target } from "./targets.js";

/** Who signed-in users and the owners of keys are. */
export interface Identities {
  /** The public address of the pages that may change something. */
  readonly baseUrl: string;
  /** Whether pages of other sites may use the API. */
  readonly isOpen: boolean;
  readonly allowedHosts: Config["allowedHosts"];
  readonly callers: Callers;
  readonly keys: ApiKeys;
  readonly accounts: Accounts;
  readonly admission: Admission;
  /** Logs what is refused for reasons of security. */
  readonly recordSecurity: (event: RefusedRequest) => void;
  readonly log: Logger;
}

/** Who sends a request, and what it leads to because of that. */
export interface Identified {
  /** As it was, or with the fault and the cost of a key that is not valid. */
  readonly outline: Outline;
  /** The holder of a key, an account, or the address. */
  readonly caller: Caller;
  readonly keyId: number | undefined;
  /** Why it is refused already: its address has no lookups left. */
  readonly charge: Charge | undefined;
}

/** A request whose sender is known. */
export interface IdentifiedRequest {
  readonly message: Message;
  readonly method: string;
  readonly target: Target;
  /** The caller by address. */
  readonly address: Caller;
  readonly caller: Caller;
}

/** Whether the requests of a route count by address, whoever sends them. */
function countsByAddress({ limit: { bucket } }: Route): boolean {
  return typeof bucket === "string" && isByAddress(bucket);
}

/**
 * Identifies the sender of a request, if its route needs to know. The fault of one whose key is not valid, or that sends two, counts
 * against its address. One whose address has no lookups left is charged with that. A promise only if something is read.
 */
export function identify(
  outline: Outline,
  address: Caller,
  by: Identities,
): Identified | Promise<Identified> {
  const { message, target, method, fault } = outline;
  const { route } = target;
  const { headers } = message;
  if (fault !== undefined || route.limit.bucket === "free") return ofAddress(outline, address);
  try {
    const key = isApi(route) && hasKey(headers) ? readApiKey(message) : undefined;
    if (key !== undefined) return identifyKey(outline, address, { key, by });
  } catch (error) {
    return refuseKey(outline, address, { error, by });
  }
  // The response to OPTIONS is the same for every sender, and costs an account nothing: only the usage of a key counts it.
  if (!hasOwnCookie(headers.cookie) || method === "OPTIONS" || countsByAddress(route))
    return ofAddress(outline, address);
  return identifySession(outline, address, by);
}

function ofAddress(outline: Outline, caller: Caller, charge?: Charge): Identified {
  return { outline, caller, keyId: undefined, charge };
}

function ofHolder(outline: Outline, { keyId, accountId: account }: KeyHolder): Identified {
  return { outline, caller: { kind: "key", name: String(keyId), account }, keyId, charge: undefined };
}

function identifyKey(
  outline: Outline,
  address: Caller,
  { key, by }: { key: string; by: Identities },
): Identified | Promise<Identified> {
  const { keys } = by;
  const holder = keys.peek(hashToken(key));
  if (holder !== undefined) return ofHolder(outline, holder);
  const isFamiliar = keys.isFamiliar(key);
  return lookUp(address, by.admission, { isFamiliar, find: () => keys.find(key) }).then(
    ({ found, refused }) => {
      if (found !== undefined) return ofHolder(outline, found);
      if (refused !== undefined) return ofAddress(outline, address, refused);
      return refuseKey(outline, address, { error: badKey(), by });
    },
    (error: unknown) => refuseKey(outline, address, { error, by }),
  );
}

function refuseKey(
  outline: Outline,
  address: Caller,
  { error, by }: { error: unknown; by: Identities },
): Identified {
  const { target, method } = outline;
  const fault = toAppError(error);
  if (fault.code === "INVALID_API_KEY") by.recordSecurity(refusedEvent("key_refused", address));
  const cost = costOf({ ...DEFAULT_LIMIT, unknownCost: BAD_KEY_COST }, method, target.query);
  return ofAddress({ ...outline, fault, target: { ...target, cost } }, address);
}

async function identifySession(outline: Outline, address: Caller, by: Identities): Promise<Identified> {
  const { accounts, admission, log } = by;
  const cookie = outline.message.headers.cookie ?? "";
  try {
    const isFamiliar = accounts.isFamiliar(cookie);
    const find = () => accounts.findId(cookie);
    const { found: id, refused } = await lookUp(address, admission, { isFamiliar, find });
    if (id === undefined) return ofAddress(outline, address, refused);
    const caller: Caller = { kind: "signed_in", name: id, account: id };
    return { outline, caller, keyId: undefined, charge: undefined };
  } catch (error) {
    // The request counts against its address; a route that needs the account fails by itself.
    log.error({ err: error }, "a session could not be looked up");
    return ofAddress(outline, address);
  }
}

const LOOKUP: Cost = { bucket: "lookup", units: 1, unknownUnits: 1, failedUnits: 1 };

/**
 * Finds whom a secret belongs to. One that is not familiar takes a lookup of its address before anything is read, and gives it back
 * if it is valid: so guesses cost a bounded number of reads, and holders behind the same address are found all the same. `refused`:
 * the address has none left, and nothing was read.
 */
async function lookUp<T>(
  address: Caller,
  admission: Admission,
  { isFamiliar, find }: { isFamiliar: boolean; find: () => Promise<T | undefined> },
): Promise<{ found?: T | undefined; refused?: Charge }> {
  if (isFamiliar) return { found: await find() };
  const charge = await admission.charge({ caller: address, address, cost: LOOKUP });
  if (charge?.decision.allowed === false) return { refused: charge };
  let isGuess = false;
  try {
    const found = await find();
    isGuess = found === undefined;
    return { found };
  } finally {
    if (!isGuess) await charge?.refund();
  }
}

/** The account that sends a request, if its route needs to know. */
export async function accountOf(
  { message, method, target: { route } }: IdentifiedRequest,
  accounts: Accounts,
): Promise<Account | undefined> {
  const { cookie } = message.headers;
  const needsAccount = method !== "OPTIONS" && (route.access === "session" || route.form === "page");
  return cookie !== undefined && needsAccount ? accounts.find(cookie) : undefined;
}

/** Throws where the sender of a request may not use its route. Pages ask visitors to sign in by themselves. */
export function authorize(request: IdentifiedRequest, account: Account | undefined, by: Identities): void {
  const { method, message, target, caller } = request;
  const { route } = target;
  if (route.access === "key" && caller.kind !== "key") throw keyNeeded();
  const { baseUrl, isOpen } = by;
  const isOwn = route.access === "session" || route.access === "browser" || route.body === "form";
  // A method that the path does not have is refused as such.
  if ((!isOwn && isOpen) || route.method !== (method === "HEAD" ? "GET" : method)) return;
  if (!isSafe(method) && !isOwnOrigin(message.headers, by)) {
    by.recordSecurity(refusedEvent("cross_site_refused", request.address));
    const who = isOwn ? "from the pages of this service" : "for programs and the pages of this service";
    throw new AppError("FORBIDDEN", `This is possible only ${who}, at ${baseUrl}.`);
  }
  if (route.access === "session" && account === undefined && isApi(route)) {
    throw new AppError("UNAUTHENTICATED", "Sign in first; API keys cannot be used here.", {
      headers: { "WWW-Authenticate": 'Cookie realm="sidereal"' },
    });
  }
}

/** Where a request comes from, as far as events of accounts and the list of sessions keep it. */
export function sourceOf({ address, message }: Pick<IdentifiedRequest, "address" | "message">): Source {
  return {
    network: truncatedAddress(address.name),
    agent: agentFamily(message.headers["user-agent"]),
  };
}

/** A refused request, for the log. Takes a microsecond, as there may be a flood of them. */
export function refusedEvent(
  event: RefusedRequest["event"],
  address: Caller,
  detail: RefusedRequest["detail"] = {},
): RefusedRequest {
  return { event, network: truncatedAddress(address.name), detail };
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
