import type { Bucket } from "../config/config.js";
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

/** How the requests of a route count against the rate limits of their caller. */
export interface RateLimit {
  /** A pair: a request with `q` is a search and counts in the first bucket. */
  bucket: Bucket | { withQ: Bucket; without: Bucket };
  /** Units of the cheapest request. One unit is a few milliseconds of CPU time; see decision 10. 0: it counts in `free`. */
  cost: number;
  /** Units that parameters add. */
  surcharges?: readonly Surcharge[];
  /** Whether the response is a stream, of which few may be in flight; see `StreamSlots`. */
  streams?: true;
  /** Units for a response of 404 or 401 where it may be an attempt to guess a secret; without it, as for any other. */
  unknownCost?: number;
}

/**
 * Units that a query parameter adds. `values` and `number`: one for each `step` by which its values, or the number in it,
 * exceed `included`; beyond `most` the request is refused, and costs no more. Values of several parameters count together.
 * `value`: one where it has this value.
 */
export type Surcharge =
  | {
      parameter: string | readonly string[];
      counts: "values" | "number";
      included: number;
      step: number;
      most: number;
    }
  | { parameter: string; counts: "value"; value: string };

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
  /** Those of them that hold names in any order, separated by commas: the order matters only in a table (`format=csv`). */
  setQuery?: readonly string[];
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

/** What a request costs, which follows from its route, method and parameters. */
export interface Cost {
  bucket: Bucket;
  /** At least 1. */
  units: number;
  /** Units for a response of 404 or 401. */
  unknownUnits: number;
  /** Whether the request takes a slot for streams. */
  streams?: true;
}

/** The cost of a request. `query`: the parameters that the route declares. */
export function costOf(limit: RateLimit, method: string, query: URLSearchParams): Cost {
  // Browsers send OPTIONS on their own: if it were refused, they could not even show the page why.
  if (method === "OPTIONS" || limit.cost === 0) return { bucket: "free", units: 1, unknownUnits: 1 };
  let units = limit.cost;
  for (const surcharge of limit.surcharges ?? []) units += unitsOf(surcharge, query);
  const cost = { bucket: bucketOf(limit, query), units, unknownUnits: limit.unknownCost ?? units };
  return limit.streams === undefined ? cost : { ...cost, streams: limit.streams };
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
  if (surcharge.counts === "value") return values.includes(surcharge.value) ? 1 : 0;
  const { counts, included, step, most } = surcharge;
  const numbers = values.filter((value) => /^\d{1,9}$/.test(value)).map(Number);
  const amount = Math.min(counts === "values" ? values.length : Math.max(0, ...numbers), most);
  return Math.max(0, Math.ceil((amount - included) / step));
}
