import type { Clock } from "../clock.js";
import type { Config } from "../config.js";
import { AppError } from "../errors.js";
import { BUCKETS, type Bucket } from "../limit-config.js";
import type { Logger } from "../log.js";
import {
  type Allowances,
  type Caller,
  Callers,
  type Decision,
  type Level,
  Limiter,
  networkOf,
  type Policy,
} from "../metering/metering.js";
import { ConcurrencyLimiter, LoadShedder, type Slot } from "./load.js";
import type { RateLimit } from "./route.js";

export interface AdmissionOptions {
  config: Pick<Config, "limits" | "concurrency" | "shedding" | "trustedProxies">;
  clock: Clock;
  log: Logger;
  /** Where requests are counted; by default in this process alone. */
  allowances?: Allowances | undefined;
}

/** Connections whose callers are remembered. */
const REMEMBERED_PEERS = 10_000;

/** What a request counts against, decided before its handler runs. */
export interface Charging {
  caller: Caller;
  limit: RateLimit;
  method: string;
  /** The parameters that the route declares. */
  query: URLSearchParams;
}

/** Decides whether a request may go on: rate limits, concurrency, load. One per process. */
export class Admission {
  readonly #allowances: Allowances | undefined;
  readonly #callers: Callers;
  /** The callers of connections without a proxy. */
  readonly #peers = new Map<string, Caller>();
  readonly #concurrency: ConcurrencyLimiter;
  readonly #shedder: LoadShedder;
  readonly #clock: Clock;
  readonly #log: Logger;
  #mayWarn: boolean;

  constructor({ config, clock, log, allowances }: AdmissionOptions) {
    const { limits, trustedProxies } = config;
    this.#allowances = limits === undefined ? undefined : (allowances ?? new Limiter({ limits, clock }));
    this.#callers = new Callers(trustedProxies);
    this.#concurrency = new ConcurrencyLimiter(config.concurrency);
    this.#shedder = new LoadShedder(config.shedding);
    this.#clock = clock;
    this.#log = log;
    this.#mayWarn = limits !== undefined && trustedProxies.length === 0;
  }

  /** The caller by the address of its connection and what trusted proxies say. */
  callerOf(peer: string | undefined, forwardedFor: string | null): Caller {
    if (peer === undefined || forwardedFor !== null) return this.#readCaller(peer, forwardedFor);
    let caller = this.#peers.get(peer);
    if (caller === undefined) {
      caller = this.#readCaller(peer, forwardedFor);
      if (this.#peers.size >= REMEMBERED_PEERS) this.#peers.clear();
      this.#peers.set(peer, caller);
    }
    return caller;
  }

  #readCaller(peer: string | undefined, forwardedFor: string | null): Caller {
    if (this.#mayWarn && forwardedFor !== null && isLoopback(peer)) {
      this.#mayWarn = false;
      this.#log.warn(
        "a proxy on this machine sends X-Forwarded-For, but SIDEREAL_TRUSTED_PROXIES does not name it: all clients behind it share one rate limit",
      );
    }
    const name = this.#callers.nameOf(peer, forwardedFor);
    const network = networkOf(name);
    return network === undefined ? { kind: "anonymous", name } : { kind: "anonymous", name, network };
  }

  /** Takes a concurrency slot. With a refusal the request must be refused and does not count; it must be released either way. */
  enter({ caller, limit, method }: Charging): Slot {
    return this.#concurrency.enter(caller, isFree(limit, method));
  }

  /** Starts computing a response; undefined where the request is shed, and `overloaded` is the response. */
  start<T>({ caller, limit, method, query }: Charging, work: () => Promise<T>): Promise<T> | undefined {
    if (limit.bucket === "none" || isFree(limit, method)) return work();
    return this.#shedder.start(caller, bucketOf(limit.bucket, query), work);
  }

  /**
   * Counts a request; undefined where nothing is limited. The caller must look at `decision.allowed`. A promise only where
   * counting needs another process.
   */
  charge({ caller, limit, method, query }: Charging): Charge | undefined | Promise<Charge> {
    const allowances = this.#allowances;
    if (allowances === undefined || limit.bucket === "none") return undefined;
    const bucket = bucketOf(limit.bucket, query);
    const cost = isFree(limit, method) ? 0 : limit.cost * unitsOf(limit, query);
    const unknownCost = limit.unknownCost ?? cost;
    const charge = (decision: Decision) =>
      new Charge({ allowances, clock: this.#clock, caller, bucket, cost, unknownCost, decision });
    const decision = allowances.decide(caller, bucket, cost);
    return decision instanceof Promise ? decision.then(charge) : charge(decision);
  }

  /** What is left to a caller: for each of its buckets its own limit, then the ceilings; undefined when nothing is limited. */
  async remaining(caller: Caller): Promise<Level[][] | undefined> {
    const allowances = this.#allowances;
    if (allowances === undefined) return undefined;
    const buckets = BUCKETS.filter((bucket) => allowances.has(caller.kind, bucket));
    return Promise.all(buckets.map((bucket) => allowances.levels(caller, bucket)));
  }
}

/** Browsers send OPTIONS on their own: if it were refused, they could not even show the page why. */
function isFree({ bucket, cost }: RateLimit, method: string): boolean {
  return bucket === "none" || cost === 0 || method === "OPTIONS";
}

function bucketOf(bucket: Exclude<RateLimit["bucket"], "none">, query: URLSearchParams): Bucket {
  if (typeof bucket === "string") return bucket;
  return query.get("q") ? bucket.withQ : bucket.without;
}

function unitsOf({ perValueOf }: RateLimit, query: URLSearchParams): number {
  return perValueOf === undefined ? 1 : Math.max(1, query.getAll(perValueOf).length);
}

function isLoopback(peer: string | undefined): boolean {
  return peer !== undefined && (peer === "::1" || peer.startsWith("127.") || peer.startsWith("::ffff:127."));
}

interface ChargeOptions {
  allowances: Allowances;
  clock: Clock;
  caller: Caller;
  bucket: Bucket;
  cost: number;
  unknownCost: number;
  decision: Decision;
}

/** One request that was counted. */
export class Charge {
  readonly #options: ChargeOptions;

  constructor(options: ChargeOptions) {
    this.#options = options;
  }

  get decision(): Decision {
    return this.#options.decision;
  }

  /** The error for a request that is over its limit. */
  refusal(): AppError {
    const { policy, retryAfterSeconds } = this.decision;
    const message = `at most ${policy.limit} requests in ${policy.windowSeconds} seconds; try again in ${retryAfterSeconds} s`;
    const name = policyName(policy);
    return new AppError("RATE_LIMITED", `Rate limit of the bucket ${name} exceeded: ${message}.`, {
      details: [{ parameter: "bucket", message, values: [name] }],
      headers: { "Retry-After": String(retryAfterSeconds) },
    });
  }

  /** Corrects the count by what the response cost, and returns what is left. A promise only where counting needs another process. */
  settle(status: number): Decision | Promise<Decision> {
    const { allowances, caller, bucket, unknownCost, decision, cost } = this.#options;
    const { allowed } = decision;
    const due = !allowed || status === 304 ? 0 : status === 404 || status === 401 ? unknownCost : cost;
    const correction = due - (allowed ? cost : 0);
    // Where asking is cheap it is done even without a correction: other requests may have been counted since.
    return correction !== 0 || allowances.isImmediate
      ? allowances.adjust(caller, bucket, correction)
      : decision;
  }

  /** The headers that report what is left: `RateLimit` of draft-ietf-httpapi-ratelimit-headers-10, and older ones that many clients know. */
  headers({ policy, remaining, moreInSeconds, resetSeconds }: Decision): string[] {
    const now = Math.ceil(this.#options.clock.now() / 1_000);
    const name = policyName(policy);
    return [
      "RateLimit-Policy",
      `"${name}";q=${policy.limit};w=${policy.windowSeconds}`,
      "RateLimit",
      `"${name}";r=${remaining};t=${moreInSeconds}`,
      "X-RateLimit-Limit",
      String(policy.limit),
      "X-RateLimit-Remaining",
      String(remaining),
      "X-RateLimit-Reset",
      String(now + resetSeconds),
      "X-RateLimit-Resource",
      name,
    ];
  }
}

/** The name of a limit in headers: its bucket, and for the ceiling of an account `_account` after it. */
function policyName({ bucket, scope }: Policy): string {
  return scope === "account" ? `${bucket}_account` : bucket;
}

/** The headers above and what they mean, for documentation. */
export const RATE_HEADERS = {
  "RateLimit-Policy": 'The limit: bucket, requests (q), seconds (w), such as "search";q=120;w=60.',
  RateLimit:
    'What is left: bucket, requests that would succeed now (r), seconds until there are more (t), such as "search";r=119;t=1.',
  "X-RateLimit-Limit": "The same as q.",
  "X-RateLimit-Remaining": "The same as r.",
  "X-RateLimit-Reset": "When the whole limit is available again, in seconds since 1970.",
  "X-RateLimit-Resource": "The bucket.",
} as const;
