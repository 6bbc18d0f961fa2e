import type { Bucket } from "../config/config.js";

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
  /** Units for a response of 404 or 401 where it may be an attempt to guess a secret; without it, as for any other error. */
  unknownCost?: number;
  /** Most units for an error; default 1. */
  failedCost?: number;
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

/** What a request costs, which follows from its route, method and parameters. */
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
  if (surcharge.counts === "value") return values.includes(surcharge.value) ? 1 : 0;
  const { counts, included, step, most } = surcharge;
  const numbers = values.filter((value) => /^\d{1,9}$/.test(value)).map(Number);
  const amount = Math.min(counts === "values" ? values.length : Math.max(0, ...numbers), most);
  return Math.max(0, Math.ceil((amount - included) / step));
}
