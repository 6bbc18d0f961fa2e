import type { RateLimit } from "./cost.js";
import type { Reply } from "./reply.js";
import type { HttpRequest } from "./request.js";

export type Method = "GET" | "POST" | "PATCH" | "DELETE";

/**
 * Who may use a route. `public`: everybody, and all get the same response. `token`: whoever knows the token in the path;
 * the handler looks it up. `browser`: everybody, but changes only from our own pages. `session`: signed-in users, and
 * changes only from our own pages; API keys do not help. `key`: whoever sends an API key.
 */
export type Access = "public" | "token" | "browser" | "session" | "key";

/** What a route returns, which decides its headers and the form of its errors. */
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
  /** Those of them whose case does not matter: the cache keeps one response for all spellings. */
  foldedQuery?: readonly string[];
  /** Those of them that concern the sender alone: a response to a request with one is never shared. */
  privateQuery?: readonly string[];
  /** Whether `format=csv` returns a table: then `Accept: text/csv` does so too. */
  csv?: true;
  body: "none" | "json" | "form";
  form: Form;
  /** Whether it signs the browser out: what the browser keeps of our pages then goes too. */
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
