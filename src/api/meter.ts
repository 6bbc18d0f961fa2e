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
import { Crowd, type Place } from "./crowd.js";
import { Overload } from "./overload.js";

/** What the requests of a route count for. */
export interface RouteLimit {
  /** `none`: not limited. With `q`, a search counts in another bucket than the same route without one. */
  bucket: Bucket | "none" | { withQ: Bucket; without: Bucket };
  /** Costs nothing, and so is answered also to those who have nothing left. */
  isFree?: boolean;
  /** What a request costs that is answered with 404 or 401, where that may be an attempt to guess a secret. */
  unknownCost?: number;
}

/** What a request costs whose watchlist token opens nothing, so that looking for tokens ends soon. */
export const UNKNOWN_TOKEN_COST = 10;

/** What a request that no route answers counts for. */
export const ANY_OTHER: RouteLimit = { bucket: "default" };

/** What a request counts for that comes with a key which opens nothing: trying keys out is made slow. */
export const BAD_KEY: RouteLimit = { bucket: "default", unknownCost: 10 };

export interface MeterOptions {
  config: Pick<Config, "limits" | "concurrency" | "shedding" | "trustedProxies">;
  clock: Clock;
  log: Logger;
  /** Where requests are counted, if they are limited; by default here alone. */
  allowances?: Allowances | undefined;
}

/** Counts requests against the limits of their callers. One for all that a process answers. */
export class Meter {
  readonly #allowances: Allowances | undefined;
  readonly #callers: Callers;
  readonly #crowd: Crowd;
  readonly #overload: Overload;
  readonly #clock: Clock;
  readonly #log: Logger;
  #mayWarn: boolean;

  constructor({ config, clock, log, allowances }: MeterOptions) {
    const { limits, trustedProxies } = config;
    this.#allowances = limits === undefined ? undefined : (allowances ?? new Limiter({ limits, clock }));
    this.#callers = new Callers(trustedProxies);
    this.#crowd = new Crowd(config.concurrency);
    this.#overload = new Overload(config.shedding);
    this.#clock = clock;
    this.#log = log;
    this.#mayWarn = limits !== undefined && trustedProxies.length === 0;
  }

  /** Who calls, by the address of the connection and what trusted proxies say. */
  callerOf(peer: string | undefined, forwardedFor: string | null): Caller {
    if (this.#mayWarn && forwardedFor !== null && isLoopback(peer)) {
      this.#mayWarn = false;
      this.#log.warn(
        "a proxy on this machine sends X-Forwarded-For, which is not believed: all behind it share one allowance until SIDEREAL_TRUSTED_PROXIES names it",
      );
    }
    const name = this.#callers.nameOf(peer, forwardedFor);
    const network = networkOf(name);
    return network === undefined ? { kind: "anonymous", name } : { kind: "anonymous", name, network };
  }

  /** Begins a request; where it has a refusal it must be refused, and does not count. It must leave at the end. */
  enter(caller: Caller, limit: RouteLimit, method: string): Place {
    return this.#crowd.enter(caller, isFree(limit, method));
  }

  /** Makes an answer that is not ready; undefined where there is too much to do for this one, and `tooMuch` is to be told. */
  make<T>(
    caller: Caller,
    limit: RouteLimit,
    method: string,
    query: URLSearchParams,
    work: () => Promise<T>,
  ): Promise<T> | undefined {
    if (limit.bucket === "none" || isFree(limit, method)) return work();
    return this.#overload.make(caller, bucketOf(limit.bucket, query), work);
  }

  /**
   * Counts a request; undefined where nothing is limited. The caller must look at `decision.allowed`. A promise only where
   * the count is not in this process.
   */
  admit(
    caller: Caller,
    limit: RouteLimit,
    method: string,
    query: URLSearchParams,
  ): Toll | undefined | Promise<Toll> {
    const allowances = this.#allowances;
    if (allowances === undefined || limit.bucket === "none") return undefined;
    const bucket = bucketOf(limit.bucket, query);
    // Browsers ask OPTIONS on their own; refused, they could not even tell the page why.
    const cost = limit.isFree || method === "OPTIONS" ? 0 : 1;
    const unknownCost = limit.unknownCost ?? cost;
    const toll = (decision: Decision) =>
      new Toll({ allowances, clock: this.#clock, caller, bucket, cost, unknownCost, decision });
    const decision = allowances.decide(caller, bucket, cost);
    return decision instanceof Promise ? decision.then(toll) : toll(decision);
  }

  /** What is left to a caller: for each of its buckets its own limit, then the ceilings; undefined when nothing is limited. */
  async remaining(caller: Caller): Promise<Level[][] | undefined> {
    const allowances = this.#allowances;
    if (allowances === undefined) return undefined;
    const buckets = BUCKETS.filter((bucket) => allowances.has(caller.kind, bucket));
    return Promise.all(buckets.map((bucket) => allowances.levels(caller, bucket)));
  }
}

/** Whether a request is let through in any case. */
function isFree({ bucket, isFree }: RouteLimit, method: string): boolean {
  return bucket === "none" || isFree === true || method === "OPTIONS";
}

function bucketOf(bucket: Exclude<RouteLimit["bucket"], "none">, query: URLSearchParams): Bucket {
  if (typeof bucket === "string") return bucket;
  return query.get("q") ? bucket.withQ : bucket.without;
}

interface TollOptions {
  allowances: Allowances;
  clock: Clock;
  caller: Caller;
  bucket: Bucket;
  cost: number;
  unknownCost: number;
  decision: Decision;
}

/** One request that has been counted. */
export class Toll {
  readonly #options: TollOptions;
  #left: Decision | undefined;

  constructor(options: TollOptions) {
    this.#options = options;
  }

  get decision(): Decision {
    return this.#options.decision;
  }

  /** What the response reported as left; undefined until it is settled. */
  get left(): Decision | undefined {
    return this.#left;
  }

  /** The error for a request that is not allowed. */
  refusal(): AppError {
    const { policy, retryAfterSeconds } = this.decision;
    const message = `at most ${policy.limit} requests in ${policy.windowSeconds} seconds; try again in ${retryAfterSeconds}`;
    return new AppError("RATE_LIMITED", `Too many requests of the kind ${policyName(policy)}: ${message}.`, {
      details: [{ parameter: "bucket", message, values: [policyName(policy)] }],
      headers: { "Retry-After": String(retryAfterSeconds) },
    });
  }

  /**
   * Counts what the answer shows to have cost more or less, and writes what is left into its headers. A promise only where
   * the count is not in this process.
   */
  settle(status: number, headers: Headers): void | Promise<void> {
    const { allowances, clock, caller, bucket, unknownCost, decision } = this.#options;
    const { allowed } = decision;
    const cost =
      !allowed || status === 304 ? 0 : status === 404 || status === 401 ? unknownCost : this.#options.cost;
    const more = cost - (allowed ? this.#options.cost : 0);
    // Where it costs nothing asked anew also if nothing changes: others may have been counted since.
    const left = more !== 0 || allowances.isImmediate ? allowances.adjust(caller, bucket, more) : decision;
    const write = (told: Decision) => {
      this.#left = told;
      setRateHeaders(headers, told, clock.now());
    };
    return left instanceof Promise ? left.then(write) : write(left);
  }
}

/** Names of the headers below, as they are documented. */
export const RATE_HEADERS = {
  "RateLimit-Policy": 'The limit: bucket, requests (q), seconds (w), such as "search";q=120;w=60.',
  RateLimit:
    'What is left: bucket, requests that pass at once (r), seconds until there are more (t), such as "search";r=119;t=1.',
  "X-RateLimit-Limit": "As q above.",
  "X-RateLimit-Remaining": "As r above.",
  "X-RateLimit-Reset": "When nothing will count any more, in seconds since 1970.",
  "X-RateLimit-Resource": "The bucket.",
} as const;

/** `RateLimit` as in draft-ietf-httpapi-ratelimit-headers-10, and the older names that many clients know. */
function setRateHeaders(headers: Headers, decision: Decision, now: number): void {
  const { policy, remaining, moreInSeconds, resetSeconds } = decision;
  const name = policyName(policy);
  headers.set("RateLimit-Policy", `"${name}";q=${policy.limit};w=${policy.windowSeconds}`);
  headers.set("RateLimit", `"${name}";r=${remaining};t=${moreInSeconds}`);
  headers.set("X-RateLimit-Limit", String(policy.limit));
  headers.set("X-RateLimit-Remaining", String(remaining));
  headers.set("X-RateLimit-Reset", String(Math.ceil(now / 1_000) + resetSeconds));
  headers.set("X-RateLimit-Resource", name);
}

/** The name of a limit in headers: its bucket, and for the ceiling of an account `_account` after it. */
export function policyName({ bucket, scope }: Policy): string {
  return scope === "account" ? `${bucket}_account` : bucket;
}

function isLoopback(peer: string | undefined): boolean {
  return peer !== undefined && /^(?:(?:::ffff:)?127\.|::1$)/.test(peer);
}
