import type { z } from "@hono/zod-openapi";
import type { Endpoint } from "./endpoint.js";
import { ANY_OTHER, type RouteLimit, UNKNOWN_TOKEN_COST } from "./meter.js";
import { ROUTES } from "./routes.js";

interface Row {
  method: string;
  /** The path of the contract. */
  pattern: string;
  path: RegExp;
  limit: RouteLimit;
  /** The query parameters that the route knows. */
  parameters: ReadonlySet<string>;
}

function rowOf({ route, pattern, limit }: Endpoint): Row {
  return {
    method: route.method.toUpperCase(),
    pattern: route.path,
    path: new RegExp(
      `^${route.path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, pattern === undefined ? "[^/]+" : ".+")}$`,
    ),
    limit,
    parameters: new Set(Object.keys((route.request?.query as z.ZodObject | undefined)?.shape ?? {})),
  };
}

const TABLE = ROUTES.map(rowOf);
const NO_PARAMETERS: ReadonlySet<string> = new Set();

/** What stands before the routes must know of the one that will answer. */
export interface FoundRoute {
  /** The path without needless escapes, which the router reads it by. */
  path: string;
  limit: RouteLimit;
  parameters: ReadonlySet<string>;
  /** Method and path pattern, the same for all requests of a route; `other` where none answers. */
  name: string;
}

/** Finds the route as the router does: the first that fits. HEAD is GET, and OPTIONS any method. */
export function findRoute(method: string, pathname: string): FoundRoute {
  const path = withoutEscapes(pathname);
  const wanted = method === "HEAD" ? "GET" : method;
  const row = TABLE.find((one) => (one.method === wanted || wanted === "OPTIONS") && one.path.test(path));
  if (row !== undefined) {
    const name = `${wanted === "OPTIONS" ? wanted : row.method} ${row.pattern}`;
    return { path, limit: row.limit, parameters: row.parameters, name };
  }
  return { path, limit: limitOfPage(wanted, path), parameters: NO_PARAMETERS, name: "other" };
}

/** Files that pages load, what tells robots where to go, and what tells whether we are there. */
const FREE = /^\/(?:assets\/|robots\.txt$|favicon\.ico$|sitemap[^/]*\.xml$|sitemaps?\/|healthz$|readyz$)/;

/** What a request counts for that no route of the API answers: a page, or what is sent from one. */
function limitOfPage(method: string, path: string): RouteLimit {
  if (path.startsWith("/api/") || !["GET", "POST"].includes(method)) return ANY_OTHER;
  if (FREE.test(path)) return { bucket: "none" };
  // A token that opens nothing may be a guess.
  const guess = path.startsWith("/watchlists/") ? { unknownCost: UNKNOWN_TOKEN_COST } : {};
  if (method === "GET") return { ...ANY_OTHER, ...guess };
  return { bucket: /^\/sign-in(?:\/|$)/.test(path) ? "auth" : "write", ...guess };
}

/** Decodes once what does not part the path, as the router does; otherwise an escape could hide which route answers. */
function withoutEscapes(pathname: string): string {
  if (!pathname.includes("%")) return pathname;
  try {
    return decodeURI(pathname.replaceAll("%25", "%2525"));
  } catch {
    return pathname;
  }
}
