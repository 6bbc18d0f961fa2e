import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import { RegExpRouter } from "hono/router/reg-exp-router";
import { SmartRouter } from "hono/router/smart-router";
import { TrieRouter } from "hono/router/trie-router";
import type { Account, Source } from "../accounts/accounts.js";
import type { Bucket } from "../config/config.js";
import type { ErrorCode } from "../lib/errors.js";
import type { Caller } from "./limiter.js";
import type { Locality } from "./message.js";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/**
 * Who may use a route. `public`: everybody, and all get the same response. `token`: callers who know the token in the path;
 * the handler looks it up. `browser`: everybody, but changes only from our own pages. `session`: signed-in users, and
 * changes only from our own pages; API keys do not help. `key`: callers with an API key.
 */
export type Access = "public" | "token" | "browser" | "session" | "key";

/** The kind of response of a route, which decides its headers and the form of its errors. */
export type Form = "json" | "picture" | "page" | "file";

/**
 * Who may keep a response, and for how long.
 * - `shared`: the same for everybody, so it is kept here under its path and query. `control` replaces the default
 *   Cache-Control. With `tag: "body"`, several paths return one response with one ETag.
 * - `visitor`: shared between visitors that carry none of our cookies, private for everybody else.
 * - `private`: for the caller alone, and revalidated each time.
 * - `none`: never stored anywhere.
 */
export type CachePolicy =
  | { kind: "shared"; control?: string; tag?: "body" }
  | { kind: "visitor" }
  | { kind: "private" }
  | { kind: "none" };

/** The facts about a route, from which everything in front of its handler is derived. */
export interface Route {
  method: Method;
  /** Below the base URL. `{name}` matches one segment, `{name*}` the rest of the path, slashes included. */
  path: string;
  access: Access;
  limit: RateLimit;
  cache: CachePolicy;
  /** The query parameters that the route reads. Handlers and the cache see no others. */
  query: readonly string[];
  /** Earlier names of them: a parameter with one is the one named now, for the cache, the cost and the handler. */
  aliases?: Readonly<Record<string, string>>;
  /** For pages: the parameters with which a site of files has it. Absent: no site does. */
  published?: readonly string[];
  /** For pages: whether it ranks repositories, which a site of few of them does not. */
  isRanking?: true;
  /** Those of them whose case does not matter: the cache keeps one response for all spellings. */
  foldedQuery?: readonly string[];
  /** Those of them that concern the sender alone: a response to a request with one is never shared. */
  privateQuery?: readonly string[];
  /** Whether `format=csv` returns a table: then `Accept: text/csv` does so too. */
  csv?: true;
  body: "none" | "json" | "form";
  form: Form;
  /** Whether it signs the browser out: pages in the browser's cache are then cleared too. */
  endsSession?: true;
  handle: (request: HttpRequest) => Reply | Promise<Reply>;
}

/** A route in the usage of API keys. */
export interface RouteName {
  /** null if no route matches the path. */
  method: string | null;
  /** The path pattern; `other` if no route matches. */
  route: string;
}

/** The path pattern of a route as documented, such as `/api/repos/{id}/metrics`. */
export function pathPattern({ path }: Pick<Route, "path">): string {
  return path.replaceAll("*}", "}");
}

/** Whether the callers of a route may be programs on other sites: CORS is open, and API keys are read. */
export function isApi({ form }: Pick<Route, "form">): boolean {
  return form === "json" || form === "picture";
}

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** Whether a method only reads. */
export function isSafe(method: string): boolean {
  return SAFE_METHODS.has(method);
}

/**
 * The headers that report the remaining quota, and their meaning: `RateLimit` of draft-ietf-httpapi-ratelimit-headers-10, and older
 * ones that many clients know.
 */
export const RATE_HEADERS = {
  "RateLimit-Policy": 'The limit: bucket, requests (q), seconds (w), such as "search";q=120;w=60.',
  RateLimit:
    'What is left: bucket, requests that would succeed now (r), seconds until there are more (t), such as "search";r=119;t=1.',
  "X-RateLimit-Limit": "The same as q.",
  "X-RateLimit-Remaining": "The same as r.",
  "X-RateLimit-Reset":
    "When there is more, in seconds since 1970: after a 429 the time at which the same request succeeds.",
  "X-RateLimit-Resource": "The bucket.",
} as const;

/** Lists the query parameters of a request that its route does not know: a list of strings as in RFC 9651. */
export const IGNORED_HEADER = "X-Ignored-Parameters";

/** For earlier names of parameters (RFC 9745), with the time since which they are. */
export const DEPRECATION_HEADER = "Deprecation";

/** Everything besides the route that headers depend on. */
export interface PublicAddress {
  /** The path of the base URL, without a slash at its end. */
  basePath: string;
  /** Whether the base URL is https. */
  isSecure: boolean;
  /** Whether pages of other sites may use the API. */
  isOpen: boolean;
}

/** How the requests of a route count against the rate limits of their caller. */
export interface RateLimit {
  /** A pair: a request with `q` is a search and counts in the first bucket. */
  bucket: Bucket | { withQ: Bucket; without: Bucket };
  /** Units of the cheapest request. One unit is a few milliseconds of CPU time; see decision 10. 0: it counts in `free`. */
  cost: number;
  /** Units that parameters add. */
  surcharges?: readonly Surcharge[];
  /** Whether the response is a stream, which has no ETag. */
  streams?: true;
  /** Units for a response of 404 or 401 that may be an attempt to guess a secret; without it, as for any other error. */
  unknownCost?: number;
  /** Most units for an error; default 1. */
  failedCost?: number;
}

/**
 * Units that a query parameter adds. `values` and `number`: one for each `step` by which its values, or the number in it,
 * exceed `included`; beyond `most` the request is refused, and costs no more. Values of several parameters count together.
 * `value`: `units`, by default one, if it has this value.
 */
export type Surcharge =
  | {
      parameter: string | readonly string[];
      counts: "values" | "number";
      included: number;
      step: number;
      most: number;
    }
  | { parameter: string; counts: "value"; value: string; units?: number };

/** Units for a request whose watchlist token is unknown, so that guessing tokens ends soon. */
export const UNKNOWN_TOKEN_COST = 10;

/** Units for a request with an API key that is not valid, so that guessing keys ends soon. */
export const BAD_KEY_COST = 10;

/** One request of the default bucket. */
export const DEFAULT_LIMIT: RateLimit = { bucket: "default", cost: 1 };

/** Files that pages load, and health checks: only a flood of them is refused. */
export const FREE_LIMIT: RateLimit = { bucket: "free", cost: 1 };

/** A surcharge for rows: a page of a list with the default number of rows has none. */
export const PER_ROWS: Surcharge = {
  parameter: "limit",
  counts: "number",
  included: 40,
  step: 30,
  most: 100,
};

/** The cost of a request, which follows from its route, method and parameters. */
export interface Cost {
  bucket: Bucket;
  /** At least 1. */
  units: number;
  /** Units for a response of 404 or 401, and for another error. */
  unknownUnits: number;
  failedUnits: number;
}

/** The cost of a request. `query`: the parameters that the route declares. */
export function costOf(limit: RateLimit, method: string, query: URLSearchParams): Cost {
  // Browsers send OPTIONS on their own: if it were refused, they could not even show the page why.
  if (method === "OPTIONS" || limit.cost === 0)
    return { bucket: "free", units: 1, unknownUnits: 1, failedUnits: 1 };
  let units = limit.cost;
  for (const surcharge of limit.surcharges ?? []) units += unitsOf(surcharge, query);
  const failedUnits = Math.min(units, limit.failedCost ?? 1);
  return {
    bucket: bucketOf(limit, query),
    units,
    unknownUnits: limit.unknownCost ?? failedUnits,
    failedUnits,
  };
}

function bucketOf({ bucket }: RateLimit, query: URLSearchParams): Bucket {
  if (typeof bucket === "string") return bucket;
  return query.get("q") ? bucket.withQ : bucket.without;
}

/** Units that a parameter adds. One that is malformed is refused or ignored by the handler, so it adds none. */
function unitsOf(surcharge: Surcharge, query: URLSearchParams): number {
  const values = [surcharge.parameter]
    .flat()
    .flatMap((name) => query.getAll(name))
    .map((value) => value.trim());
  if (surcharge.counts === "value") return values.includes(surcharge.value) ? (surcharge.units ?? 1) : 0;
  const { counts, included, step, most } = surcharge;
  const numbers = values.filter((value) => /^\d{1,9}$/.test(value)).map(Number);
  const amount = Math.min(counts === "values" ? values.length : Math.max(0, ...numbers), most);
  return Math.max(0, Math.ceil((amount - included) / step));
}

interface Match {
  route: Route;
  /** Decoded. */
  params: Readonly<Record<string, string>>;
}

/**
 * Finds the route of a request. If two fit, the one declared first wins. A path that a route has without parameters is that
 * route's alone, whatever the method.
 */
export class Router {
  readonly #routes: SmartRouter<Route>;
  readonly #methods: readonly string[];
  readonly #fixed: ReadonlySet<string>;

  constructor(routes: readonly Route[]) {
    this.#routes = new SmartRouter({ routers: [new RegExpRouter<Route>(), new TrieRouter<Route>()] });
    for (const route of routes) this.#routes.add(route.method, patternOf(route.path), route);
    this.#fixed = new Set(routes.flatMap(({ path }) => (path.includes("{") ? [] : path)));
    this.#methods = [...new Set(routes.map(({ method }) => method))];
  }

  /** `path` as it was sent, escapes included. */
  find(method: string, path: string): Match | undefined {
    const plain = withoutNeedlessEscapes(path);
    const result = this.#routes.match(method, plain);
    const first = result[0][0];
    if (first === undefined) return undefined;
    const [route, found] = first;
    if (this.#fixed.has(plain) && route.path !== plain) return undefined;
    const params: Record<string, string> = {};
    for (const [name, value] of Object.entries(found)) {
      const text = typeof value === "number" ? result[1]?.[value] : value;
      if (text !== undefined) params[name] = decodeURIComponent(text);
    }
    return { route, params };
  }

  /** The routes of a path, one per method. */
  findAll(path: string): Match[] {
    return this.#methods.flatMap((method) => this.find(method, path) ?? []);
  }
}

/** The pattern in the router's language: `{name}` → `:name`, `{name*}` → the rest, `{name}.ext` → one segment with that end. */
function patternOf(path: string): string {
  return path
    .replaceAll(/\{(\w+)\*\}/g, ":$1{.+}")
    .replaceAll(/\{(\w+)\}(\.\w+)/g, (_, name: string, end: string) => `:${name}{[^/]+\\${end}}`)
    .replaceAll(/\{(\w+)\}/g, ":$1");
}

/** Decodes escapes that do not separate segments, once; otherwise an escape could hide the route. */
function withoutNeedlessEscapes(path: string): string {
  if (!path.includes("%")) return path;
  try {
    return decodeURI(path.replaceAll("%25", "%2525"));
  } catch {
    return path;
  }
}

/** A request as handlers see it. */
export interface HttpRequest {
  /** HEAD arrives as GET; its body is dropped when the response is sent. */
  readonly method: string;
  /** Below the base URL, as it was sent. */
  readonly path: string;
  /** Decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  /** The parameters that the route declares. */
  readonly query: URLSearchParams;
  /** Empty if the response is shared between callers, so that it cannot depend on them. */
  readonly headers: IncomingHttpHeaders;
  readonly caller: Caller;
  /** Its origin, as far as it is stored. */
  readonly source: () => Source;
  readonly locality: () => Locality;
  /** Whether somebody opens a page: it is not prefetched, nor requested by HEAD. Nothing else that reads may change anything. */
  readonly isView: boolean;
  /** The signed-in account: always present on routes with `session` access, and looked up for pages. */
  readonly account: Account | undefined;
  /** In the X-Request-Id header of the response, and in the log. */
  readonly id: string;
  /** The parsed JSON body; undefined if the route takes none. */
  readonly json: unknown;
  /** The fields of a form; empty if the route takes none. */
  readonly formFields: URLSearchParams;
  readonly chargedAs: ChargedAs;
}

/**
 * Runs work for the sender of a request as if it were a request to another route: with its limits, its cost and its usage. Throws
 * RATE_LIMITED if the sender has not enough left. A result with `units` corrects the count.
 */
export type ChargedAs = <T extends { units?: number }>(
  use: { route: { method: string; path: string; limit: RateLimit }; query: URLSearchParams },
  work: () => Promise<T>,
) => Promise<T>;

/** Path and query of a request, with the parameters that its route declares. */
export function addressOf({ path, query }: Pick<HttpRequest, "path" | "query">): string {
  return query.size === 0 ? path : `${path}?${query}`;
}

/** A response as a handler returns it: plain data, turned into bytes and sent by the front. */
export interface Reply {
  status: number;
  /** The status that is sent instead of the one that is counted: 200 for the picture of an error. */
  sentAs?: 200;
  /** A Location that begins with a slash is below the base URL. */
  headers: Readonly<Record<string, string | readonly string[]>>;
  body: string | Uint8Array | null;
  /** Instead of the body, one that is read while it is sent. Such a response is never stored, and has no ETag. */
  stream?: Readable;
  /** The code of an error; absent for all other responses. */
  errorCode?: ErrorCode;
  /**
   * The cost of the response, if that depends on its data; otherwise the units of its request. They may be more than the
   * caller has left: then it waits longer before its next request.
   */
  units?: number;
}

interface ReplyOptions {
  status?: number;
  headers?: Reply["headers"];
}

export function json(body: unknown, options: ReplyOptions = {}): Reply {
  return jsonText(JSON.stringify(body), options);
}

export function jsonText(body: string, options: ReplyOptions = {}): Reply {
  return content("application/json; charset=utf-8", body, options);
}

/** A response of any other type. */
export function content(
  type: string,
  body: NonNullable<Reply["body"]>,
  { status = 200, headers = {} }: ReplyOptions = {},
): Reply {
  return { status, headers: { "Content-Type": type, ...headers }, body };
}

/** A PNG. Its ETag is strong, so that the picture is not compressed again. */
export function pngReply(png: Uint8Array, headers: Reply["headers"] = {}): Reply {
  const tag = createHash("sha256").update(png).digest("base64url").slice(0, 22);
  return content("image/png", png, {
    headers: { ...headers, Vary: "Accept-Encoding", ETag: `"${tag}"` },
  });
}

/** A response whose body is read while it is sent: bytes, or batches of them. */
export function streamed(type: string, stream: Readable, headers: Reply["headers"] = {}): Reply {
  return { ...content(type, "", { headers }), stream };
}

export function noContent(headers: Reply["headers"] = {}): Reply {
  return { status: 204, headers, body: null };
}

/** A redirect; a location that begins with a slash is below the base URL. */
export function redirect(location: string, status: 301 | 302 | 303, headers: Reply["headers"] = {}): Reply {
  return { status, headers: { Location: location, ...headers }, body: null };
}

/**
 * The bytes of a body, in UTF-8 and in memory of their own: Node.js puts small buffers into blocks of 64 KiB, and a response that is
 * kept would keep such a block.
 */
export function bytesOf(body: Reply["body"]): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(body ?? ""));
  if (typeof body === "string") bytes.write(body);
  else if (body !== null) bytes.set(body);
  return bytes;
}
