import { AppError } from "../lib/errors.js";
import { nearestName } from "../lib/nearest-name.js";
import { withoutTrailingSlashes } from "../lib/page-addresses.js";
import {
  isPathShort,
  type Message,
  prefersCsv,
  type RequestLine,
  readRequestLine,
  splitTarget,
} from "./message.js";
import {
  type Access,
  type Cost,
  costOf,
  DEFAULT_LIMIT,
  DEPRECATION_HEADER,
  IGNORED_HEADER,
  isApi,
  noContent,
  type PublicAddress,
  pathPattern,
  type Route,
  type RouteName,
  Router,
  redirect,
} from "./route.js";

/** A matched route, its parameters, and the key under which its response may be cached. */
export interface Target {
  route: Route;
  params: Readonly<Record<string, string>>;
  /** Below the base URL. */
  path: string;
  /** The parameters that the route declares. */
  query: URLSearchParams;
  /** Path and query in a normal form; undefined if the response is never shared. */
  cacheKey: string | undefined;
  cost: Cost;
  name: RouteName;
  /** Names and values of headers about its parameters. */
  notes: readonly string[];
}

/** The facts of a message that are quick to find. */
export interface Outline {
  readonly message: Message;
  readonly target: Target;
  /** GET for a request that cannot be read. */
  readonly method: string;
  /** Why it cannot be responded to otherwise. */
  readonly fault: AppError | undefined;
  /** Whether the target is complete. */
  readonly isWhole: boolean;
}

export interface TargetOptions extends Pick<PublicAddress, "basePath" | "isOpen"> {
  /** A sentence that names the request for a path that no route has. */
  hintFor?: (path: string) => string | undefined;
}

/** Addresses whose targets are remembered, and the longest of them. */
const REMEMBERED = 5_000;
const REMEMBERED_LENGTH = 300;

/** The name of an address in memory, by the format that its caller prefers. */
function rememberedAs(url: string, isCsv: boolean): string {
  return isCsv ? `text/csv ${url}` : url;
}

const NO_ROUTE: RouteName = { method: null, route: "other" };

/** Finds the target of every request: a route of the table, or the response to other requests. */
export class Targets {
  readonly #router: Router;
  readonly #basePath: string;
  readonly #isOpen: boolean;
  readonly #hintFor: TargetOptions["hintFor"];
  readonly #known = new Map<string, Target>();

  /** Requests to paths outside of the base path are not ours. */
  constructor(routes: readonly Route[], { basePath, isOpen, hintFor }: TargetOptions) {
    for (const { access, cache, path } of routes)
      if (access !== "public" && cache.kind !== "private" && cache.kind !== "none")
        throw new Error(`${path}: a response that not everybody may have cannot be shared`);
    this.#router = new Router(routes);
    this.#basePath = basePath;
    this.#isOpen = isOpen;
    this.#hintFor = hintFor;
  }

  /** The target of a GET request that is remembered. */
  known({ method, url = "/", headers }: Message): Target | undefined {
    return method === "GET" ? this.#known.get(rememberedAs(url, prefersCsv(headers.accept))) : undefined;
  }

  /**
   * The facts of a request that are quick to find, so that its sender can be refused before the rest is read: its route, and its cost at
   * least. Of a long query only `q` is looked at.
   */
  outline({ method = "GET", url = "/" }: Pick<Message, "method" | "url">): Target {
    const { path, query } = splitTarget(url.replace(/^https?:\/\/[^/?#]*/i, ""));
    const shortQuery = query.length <= REMEMBERED_LENGTH ? query : hasSearch(query) ? "q=1" : "";
    try {
      if (isPathShort(path)) return this.#resolve({ method, path, query: shortQuery }, false);
    } catch {
      // An escape in the path is malformed.
    }
    return notFound(path, method);
  }

  /** Throws AppError for a request line that is malformed. */
  find(message: Message): Target {
    const { url = "/", method, headers } = message;
    const isCsv = prefersCsv(headers.accept);
    const target = this.#resolve(readRequestLine(message), isCsv);
    if (method === "GET" && url.length <= REMEMBERED_LENGTH) {
      if (this.#known.size >= REMEMBERED) this.#known.clear();
      this.#known.set(rememberedAs(url, isCsv), target);
    }
    return target;
  }

  /** The target of a request whose line cannot be read; its error is already known, and has the form of its route. */
  malformed(url: string): Target {
    const { form } = this.outline({ url }).route;
    const target = notFound("/", "GET");
    return { ...target, route: { ...target.route, form } };
  }

  /** The target of a request to another host: an error that is never a page, as a page would reveal the service. */
  misdirected(url: string): Target {
    const target = this.malformed(url);
    return target.route.form === "page" ? { ...target, route: { ...target.route, form: "file" } } : target;
  }

  #resolve({ method, path: fullPath, query }: RequestLine, isCsv: boolean): Target {
    if (fullPath === "*") return this.#unmatched(method, "/", "");
    const path = this.#belowBase(fullPath);
    if (path === undefined) return notFound(fullPath, method, this.#hintAboutBase(fullPath));
    const match = this.#router.find(method === "HEAD" ? "GET" : method, path);
    if (match === undefined) return this.#unmatched(method, path, query);
    const { route, params } = match;
    const written = new URLSearchParams(query);
    const notes = isApi(route) ? parameterNotes([...written.keys()], route) : [];
    const given = renamed(route, written);
    if (isCsv && route.csv && !given.has("format")) given.append("format", "csv");
    const declared = declaredParameters(route, given);
    const isCacheable =
      (method === "GET" || method === "HEAD") &&
      (route.cache.kind === "shared" || route.cache.kind === "visitor") &&
      !route.privateQuery?.some((name) => declared.has(name));
    const cacheKey = isCacheable ? `${path}?${folded(route, declared)}` : undefined;
    return {
      route,
      params,
      path,
      query: declared,
      cacheKey,
      cost: costOf(route.limit, method, declared),
      name: { method: route.method, route: pathPattern(route) },
      notes,
    };
  }

  /** The path below the base URL; undefined for one that is not. */
  #belowBase(path: string): string | undefined {
    const base = this.#basePath;
    if (base === "") return path;
    if (path === base) return "/";
    return path.startsWith(`${base}/`) ? path.slice(base.length) : undefined;
  }

  /** A path of ours without that of the base URL: a proxy in front has cut it off. */
  #hintAboutBase(path: string): string | undefined {
    if (this.#router.findAll(path).length === 0) return undefined;
    return `The base URL of this service has the path ${this.#basePath}, which a proxy in front must pass on unchanged.`;
  }

  #unmatched(method: string, path: string, query: string): Target {
    const matches = this.#router.findAll(path);
    const [first] = matches;
    if (first === undefined)
      return this.#withoutSlash(method, path, query) ?? notFound(path, method, this.#hintFor?.(path));
    const methods = new Set(
      matches.flatMap(({ route }) => (route.method === "GET" ? ["GET", "HEAD"] : [route.method])),
    );
    const allow = [...methods, "OPTIONS"].sort().join(", ");
    const reply = () => {
      if (method === "OPTIONS") return preflight(allow, this.#isOpen);
      throw new AppError("METHOD_NOT_ALLOWED", `${method} is not allowed here. Allowed: ${allow}.`, {
        headers: { Allow: allow },
      });
    };
    const { route } = first;
    // A form is sent by pages only, which have no preflight.
    const facts = { ...route, limit: method === "OPTIONS" ? route.limit : DEFAULT_LIMIT };
    return other({ ...facts, handle: reply }, { method, path, name: { method, route: pathPattern(route) } });
  }

  /** A page requested with a trailing slash redirects to the address without it. */
  #withoutSlash(method: string, path: string, query: string): Target | undefined {
    const isRead = method === "GET" || method === "HEAD";
    if (!isRead || path === "/" || !path.endsWith("/")) return undefined;
    const trimmed = withoutTrailingSlashes(path);
    const match = this.#router.find("GET", trimmed);
    if (match?.route.form !== "page") return undefined;
    const location = query === "" ? trimmed : `${trimmed}?${query}`;
    // The address may be secret, so only the browser keeps it.
    const headers = { "Cache-Control": "private, max-age=300", "Referrer-Policy": "same-origin" };
    return other({ ...match.route, handle: () => redirect(location, 301, headers) }, { method, path });
  }
}

/** Whether a query has a value for `q`, exactly as `URLSearchParams` would find it. */
export function hasSearch(query: string): boolean {
  const [, value = ""] = /(?:^\??|&)(?:q|%71)(?:=([^&]*))?(?=&|$)/.exec(query) ?? [];
  return value !== "";
}

/** The parameters of a query under their present names. */
function renamed({ aliases }: Route, given: URLSearchParams): URLSearchParams {
  if (aliases === undefined) return given;
  const names = new Map(Object.entries(aliases));
  return new URLSearchParams(
    [...given].map(([name, value]): [string, string] => [names.get(name) ?? name, value]),
  );
}

/** The parameters of a query that a route declares, in the order of their names; repeated ones keep their order. */
function declaredParameters({ query: names }: Route, given: URLSearchParams): URLSearchParams {
  const declared = new URLSearchParams();
  if (given.size === 0 || names.length === 0) return declared;
  for (const name of [...names].sort()) for (const value of given.getAll(name)) declared.append(name, value);
  return declared;
}

/** Parameters with one spelling for each value. */
function folded({ foldedQuery = [] }: Route, declared: URLSearchParams): URLSearchParams {
  if (foldedQuery.length === 0) return declared;
  const pairs = [...declared].map(([name, value]): [string, string] => [
    name,
    foldedQuery.includes(name) ? value.toLowerCase() : value,
  ]);
  return new URLSearchParams(pairs);
}

/** Headers that pages of other sites may send. Those of the Model Context Protocol are read by `/mcp` alone. */
const ALLOWED_HEADERS =
  "Authorization, X-API-Key, Content-Type, Idempotency-Key, If-None-Match, If-Match, Range, If-Range, MCP-Protocol-Version, Mcp-Method, Mcp-Name";

function preflight(allow: string, isOpen: boolean) {
  if (!isOpen) return noContent({ Allow: allow, "Cache-Control": "public, max-age=7200" });
  return noContent({
    Allow: allow,
    "Access-Control-Allow-Methods": allow,
    "Access-Control-Allow-Headers": ALLOWED_HEADERS,
    "Access-Control-Max-Age": "7200",
    "Cache-Control": "public, max-age=7200",
  });
}

/** A path that no route has. */
function notFound(path: string, method: string, hint?: string): Target {
  const isApi = /^\/api(?:\/|$)/.test(path);
  const route: Route = {
    method: "GET",
    path,
    access: "public",
    limit: DEFAULT_LIMIT,
    cache: { kind: "none" },
    query: [],
    body: "none",
    form: isApi ? "json" : "page",
    handle: () => {
      throw new AppError("NOT_FOUND", `This address does not exist.${hint === undefined ? "" : ` ${hint}`}`);
    },
  };
  return other(route, { method: method === "OPTIONS" ? "GET" : method, path });
}

interface Unrouted {
  /** OPTIONS only if it has a response of its own, since it counts in `free`. */
  method: string;
  path: string;
  name?: RouteName;
}

/** Who may see the response to a method that a path does not have. */
const UNROUTED_ACCESS: Partial<Record<Access, Access>> = { session: "browser", key: "public" };

/** A target outside the route table, whose response is made on the spot. */
function other(route: Route, { method, path, name = NO_ROUTE }: Unrouted): Target {
  const facts: Route = {
    ...route,
    body: "none",
    access: UNROUTED_ACCESS[route.access] ?? route.access,
  };
  const query = new URLSearchParams();
  const cost = costOf(facts.limit, method, query);
  return { route: facts, params: {}, path, query, cacheKey: undefined, cost, name, notes: [] };
}

/** Since when parameters with earlier names are deprecated, in seconds since 1970. */
const RENAMED_AT = Date.UTC(2026, 10, 23) / 1_000;

/** Names and values of the headers for the names in a query string: those that a route does not declare, and earlier ones. */
export function parameterNotes(
  given: readonly string[],
  { query, aliases = {} }: Pick<Route, "query" | "aliases">,
): string[] {
  const ignored = ignoredParameters(
    given.filter((name) => !Object.hasOwn(aliases, name)),
    query,
  );
  const isDated = given.some((name) => Object.hasOwn(aliases, name));
  return [
    ...(ignored === undefined ? [] : [IGNORED_HEADER, ignored]),
    ...(isDated ? [DEPRECATION_HEADER, `@${RENAMED_AT}`] : []),
  ];
}

/** Names in one header, and characters of a name. */
const MAX_NAMES = 5;
const MAX_LENGTH = 40;

/** Names that other services have for ours. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  per_page: "limit",
  perpage: "limit",
  page_size: "limit",
  pagesize: "limit",
  size: "limit",
  count: "limit",
  offset: "page",
  after: "cursor",
  direction: "order",
  sort_by: "sort",
  sortby: "sort",
  search: "q",
  query: "q",
  since: "window",
  lang: "language",
};

/**
 * The header for the names in a query string that are not `known`: each with the nearest known name, the first five of them. undefined
 * if all are known. Reads nothing but names, so it may run before a request is counted.
 */
export function ignoredParameters(given: Iterable<string>, known: readonly string[]): string | undefined {
  const ignored = new Set<string>();
  for (const name of given) {
    if (!known.includes(name)) ignored.add(name);
    if (ignored.size > MAX_NAMES) break;
  }
  if (ignored.size === 0) return undefined;
  return [...ignored]
    .slice(0, MAX_NAMES)
    .map((name) => {
      const nearest = nearestKnown(name.slice(0, MAX_LENGTH), known);
      return nearest === undefined ? quoted(name) : `${quoted(name)};nearest="${nearest}"`;
    })
    .join(", ");
}

function nearestKnown(name: string, known: readonly string[]): string | undefined {
  const plain = name.replace(/\[\w*\]$/, "");
  const other = OTHER_NAMES[plain.toLowerCase()];
  if (other !== undefined && known.includes(other)) return other;
  const nearest = nearestName(plain, known);
  // One letter is near every other.
  return nearest?.length === 1 && nearest !== plain.toLowerCase() ? undefined : nearest;
}

/** A name as a string of printable ASCII without quotes: everything else in it is percent-encoded. */
function quoted(name: string): string {
  return `"${encodeURIComponent(name.slice(0, MAX_LENGTH).toWellFormed()).slice(0, MAX_LENGTH)}"`;
}
