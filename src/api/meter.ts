import type { Clock } from "../clock.js";
import type { Config } from "../config.js";
import { AppError } from "../errors.js";
import { BUCKETS, type Bucket } from "../limit-config.js";
import type { Logger } from "../log.js";
import { type Caller, Callers, type Decision, Limiter } from "../metering/metering.js";

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
  config: Pick<Config, "limits" | "trustedProxies">;
  clock: Clock;
  log: Logger;
}

/** Counts requests against the limits of their callers. One for all that a process answers. */
export class Meter {
  readonly #limiter: Limiter | undefined;
  readonly #callers: Callers;
  readonly #clock: Clock;
  readonly #log: Logger;
  #mayWarn: boolean;

  constructor({ config, clock, log }: MeterOptions) {
    const { limits, trustedProxies } = config;
    this.#limiter = limits === undefined ? undefined : new Limiter({ limits, clock });
    this.#callers = new Callers(trustedProxies);
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
    return { kind: "anonymous", name: this.#callers.nameOf(peer, forwardedFor) };
  }

  /** Counts a request; undefined where nothing is limited. The caller must look at `decision.allowed`. */
  admit(caller: Caller, limit: RouteLimit, method: string, query: URLSearchParams): Toll | undefined {
    if (this.#limiter === undefined || limit.bucket === "none") return undefined;
    const bucket = bucketOf(limit.bucket, query);
    // Browsers ask OPTIONS on their own; refused, they could not even tell the page why.
    const cost = limit.isFree || method === "OPTIONS" ? 0 : 1;
    return new Toll(this.#limiter, this.#clock, caller, bucket, cost, limit.unknownCost ?? cost);
  }

  /** What the caller may still ask in each bucket it has; undefined where nothing is limited. */
  standing(caller: Caller): Decision[] | undefined {
    const limiter = this.#limiter;
    return (
      limiter &&
      BUCKETS.filter((bucket) => limiter.has(caller.kind, bucket)).map((bucket) =>
        limiter.decide(caller, bucket, 0),
      )
    );
  }
}

function bucketOf(bucket: Exclude<RouteLimit["bucket"], "none">, query: URLSearchParams): Bucket {
  if (typeof bucket === "string") return bucket;
  return query.get("q") ? bucket.withQ : bucket.without;
}

/** One request that has been counted. */
export class Toll {
  readonly decision: Decision;
  readonly #limiter: Limiter;
  readonly #clock: Clock;
  readonly #caller: Caller;
  readonly #cost: number;
  readonly #unknownCost: number;

  constructor(
    limiter: Limiter,
    clock: Clock,
    caller: Caller,
    bucket: Bucket,
    cost: number,
    unknownCost: number,
  ) {
    this.#limiter = limiter;
    this.#clock = clock;
    this.#caller = caller;
    this.#cost = cost;
    this.#unknownCost = unknownCost;
    this.decision = limiter.decide(caller, bucket, cost);
  }

  /** The error for a request that is not allowed. */
  refusal(): AppError {
    const { policy, retryAfterSeconds } = this.decision;
    const message = `at most ${policy.limit} requests in ${policy.windowSeconds} seconds; try again in ${retryAfterSeconds}`;
    return new AppError("RATE_LIMITED", `Too many requests of the kind ${policy.bucket}: ${message}.`, {
      details: [{ parameter: "bucket", message, values: [policy.bucket] }],
      headers: { "Retry-After": String(retryAfterSeconds) },
    });
  }

  /** Counts what the answer shows to have cost more or less, and writes what is left into its headers. */
  settle(status: number, headers: Headers): void {
    const { allowed, policy } = this.decision;
    const cost =
      !allowed || status === 304 ? 0 : status === 404 || status === 401 ? this.#unknownCost : this.#cost;
    const counted = allowed ? this.#cost : 0;
    // Asked anew also where nothing changes: others may have been counted since.
    setRateHeaders(
      headers,
      this.#limiter.adjust(this.#caller, policy.bucket, cost - counted),
      this.#clock.now(),
    );
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
  headers.set("RateLimit-Policy", `"${policy.bucket}";q=${policy.limit};w=${policy.windowSeconds}`);
  headers.set("RateLimit", `"${policy.bucket}";r=${remaining};t=${moreInSeconds}`);
  headers.set("X-RateLimit-Limit", String(policy.limit));
  headers.set("X-RateLimit-Remaining", String(remaining));
  headers.set("X-RateLimit-Reset", String(Math.ceil(now / 1_000) + resetSeconds));
  headers.set("X-RateLimit-Resource", policy.bucket);
}

function isLoopback(peer: string | undefined): boolean {
  return peer !== undefined && /^(?:(?:::ffff:)?127\.|::1$)/.test(peer);
}
