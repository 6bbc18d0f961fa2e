import { BlockList, isIPv4, isIPv6 } from "node:net";
import Bowser from "bowser";
import {
  type Account,
  type Accounts,
  type ApiKeys,
  type Bans,
  isOwnOrigin,
  type KeyHolder,
  OTHER_AGENT,
  type RefusedRequest,
  type Source,
} from "../accounts/accounts.js";
import { type Config, isByAddress } from "../config/config.js";
import { AppError } from "../lib/errors.js";
import { canonicalAddress } from "../lib/host-names.js";
import type { Logger } from "../lib/log.js";
import { hashToken } from "../lib/tokens.js";
import { toAppError } from "./errors.js";
import type { Caller } from "./limiter.js";
import type { Admission, Charge } from "./limits.js";
import { countLines, hasKey, hasOwnCookie, type Message } from "./message.js";
import { BAD_KEY_COST, type Cost, costOf, DEFAULT_LIMIT, isApi, isSafe, type Route } from "./route.js";
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
  readonly bans: Pick<Bans, "refusalOf">;
  /** Logs refusals for reasons of security. */
  readonly recordSecurity: (event: RefusedRequest) => void;
  readonly log: Logger;
}

/** Who sends a request, and the target that follows from that. */
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

/** Whether requests of a route count by address, even with a key or a session. */
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

/** Throws if the sender of a request may not use its route. Pages ask visitors to sign in by themselves. */
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

/** The origin of a request, as far as events of accounts and the list of sessions keep it. */
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

/** The name of all callers without an address, such as those on a Unix socket. They share one allowance. */
export const NO_ADDRESS = "none";

/**
 * Identifies callers by address: an IPv4 address, or an IPv6 network of 64 bits, the least that one customer gets.
 * `X-Forwarded-For` is trusted only as far as configured proxies wrote it.
 */
export class Callers {
  readonly #trusted: BlockList | undefined;

  /** `trustedProxies`: valid addresses and networks (CIDR). */
  constructor(trustedProxies: readonly string[]) {
    if (trustedProxies.length === 0) return;
    this.#trusted = new BlockList();
    for (const network of trustedProxies) {
      const [address = "", bits] = network.split("/");
      const family = isIPv4(address) ? "ipv4" : "ipv6";
      const prefix = bits === undefined ? (family === "ipv4" ? 32 : 128) : Number(bits);
      this.#trusted.addSubnet(address, prefix, family);
    }
  }

  /**
   * The name of the caller of a connection from `peer`, with all its `X-Forwarded-For` lines joined by commas. From the right,
   * the first address that is not a trusted proxy; if an entry is not an address, the proxy that wrote it.
   */
  nameOf(peer: string | undefined, forwardedFor: string | null): string {
    const address = this.#addressOf(peer, forwardedFor);
    return address === undefined ? NO_ADDRESS : prefixOf(address);
  }

  /** That caller with its network, as its requests are counted. `forwardedFor`: undefined without such a line. */
  callerOf(peer: string | undefined, forwardedFor: string | undefined): Caller {
    const name = this.nameOf(peer, forwardedFor ?? null);
    const network = networkOf(name);
    return network === undefined ? { kind: "anonymous", name } : { kind: "anonymous", name, network };
  }

  /** The whole address of that caller, as people write it. */
  addressOf(peer: string | undefined, forwardedFor: string | null): string {
    const address = this.#addressOf(peer, forwardedFor) ?? NO_ADDRESS;
    return isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
  }

  #addressOf(peer: string | undefined, forwardedFor: string | null): string | undefined {
    const address = canonicalAddress(peer ?? "");
    if (address === undefined || forwardedFor === null || !this.#isTrusted(address)) return address;
    let nearest = address;
    // Not split: the sender decides how many entries there are.
    let rest: string | undefined = forwardedFor;
    while (rest !== undefined) {
      const comma: number = rest.lastIndexOf(",");
      const next = canonicalAddress(withoutPort(rest.slice(comma + 1).trim()));
      if (next === undefined) break;
      nearest = next;
      if (!this.#isTrusted(next)) break;
      rest = comma === -1 ? undefined : rest.slice(0, comma);
    }
    return nearest;
  }

  /** Whether a connection from `peer` is one of a trusted proxy. */
  isProxy(peer: string | undefined): boolean {
    const address = this.#trusted === undefined ? undefined : canonicalAddress(peer ?? "");
    return address !== undefined && this.#isTrusted(address);
  }

  #isTrusted(address: string): boolean {
    return this.#trusted?.check(address, isIPv4(address) ? "ipv4" : "ipv6") ?? false;
  }
}

/** Some proxies append a port. */
function withoutPort(entry: string): string {
  return (
    /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(entry)?.[1] ?? /^\[(.+)\](?::\d{1,5})?$/.exec(entry)?.[1] ?? entry
  );
}

/** The network of 48 bits around a caller's name; undefined for callers not on IPv6. */
export function networkOf(name: string): string | undefined {
  return name.endsWith("::/64") ? `${name.split(":", 3).join(":")}::/48` : undefined;
}

/** The part of a canonical address that is counted. */
function prefixOf(address: string): string {
  return isIPv4(address) ? address : `${address.split(":").slice(0, 4).join(":")}::/64`;
}

/** The network stored and shown for a caller: 24 bits of an IPv4 address, 48 of an IPv6 one. `name` comes from `Callers`. */
export function truncatedAddress(name: string): string {
  if (name === NO_ADDRESS) return name;
  if (!name.includes(":")) return `${name.slice(0, name.lastIndexOf("."))}.0/24`;
  const groups = name.split(":").slice(0, 3).join(":");
  return `${groups.replace(/(?:^0|:0)+$/, "")}::/48`;
}

/** The family of requests without a user agent. */
const NO_AGENT = "None";

/** Characters of a user agent that are parsed. */
const MAX_LENGTH = 200;

/** Names the library may return. It also derives names from the input, which are ignored. */
const BROWSERS: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));
const GENERIC = "Generic";

/**
 * The browser or bot that a user agent names, or the program name it begins with. Never a version, and nothing else of the
 * input: at most 24 letters, digits, dots and hyphens.
 */
export function agentFamily(userAgent: string | undefined): string {
  const text = (userAgent ?? "").slice(0, MAX_LENGTH).trim();
  if (text === "") return NO_AGENT;
  // Browsers, and programs that pose as one, begin this way.
  if (/^(?:Mozilla|Opera)\//.test(text)) {
    const name = Bowser.getParser(text, true).getBrowserName();
    return BROWSERS.has(name) && name !== GENERIC ? name : OTHER_AGENT;
  }
  return /^([A-Za-z][A-Za-z0-9.-]{0,23})(?=[/ ;(]|$)/.exec(text)?.[1] ?? OTHER_AGENT;
}
