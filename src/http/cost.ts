import type { Bucket } from "../config/config.js";
import type { RateLimit, Surcharge } from "./route.js";

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
