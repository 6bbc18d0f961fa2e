import type { KeyedRequest } from "../accounts/accounts.js";
import { isByAddress } from "../config/config.js";
import { AppError } from "../lib/errors.js";
import { after } from "./after.js";
import type { Cost } from "./cost.js";
import { type Refusal, WAIT } from "./error-response.js";
import type { Allowances, Caller, Decision, Policy } from "./limiter.js";

/** What a request counts against. */
export interface Charged {
  /** Who sends it: the holder of a key, an account, or the address. */
  caller: Caller;
  /** The caller by address, used by the buckets that ignore keys and sessions. */
  address: Caller;
  cost: Cost;
}

/** One request that was counted. */
export class Charge {
  readonly #allowances: Allowances;
  readonly #charged: Charged;
  readonly decision: Decision;

  constructor(allowances: Allowances, charged: Charged, decision: Decision) {
    this.#allowances = allowances;
    this.#charged = charged;
    this.decision = decision;
  }

  /** Whether the request counted against an API key. */
  get isOfKey(): boolean {
    return payerOf(this.#charged).kind === "key";
  }

  /** Why the request is refused; undefined for one within its limit. */
  get refusal(): Refusal | undefined {
    const { allowed, policy, retryAfterSeconds } = this.decision;
    return allowed ? undefined : { error: overLimit(policy), waitSeconds: retryAfterSeconds };
  }

  /** Gives back what was counted. */
  refund(): Decision | Promise<Decision> {
    return this.#correct(-this.#charged.cost.units);
  }

  /**
   * Corrects the count by what the response cost, and returns what is left. `found`: its units, if it says so itself. `isFree`: the
   * caller had the response already, and nothing was computed to find that out: it counts in a bucket with a high limit.
   */
  settle(status: number, found: number | undefined, isFree: boolean): Decision | Promise<Decision> {
    const { address, cost } = this.#charged;
    const { units, unknownUnits, failedUnits } = cost;
    const { allowed, retryAfterSeconds } = this.decision;
    if (!allowed) return after(this.#correct(0), (left) => ({ ...left, retryAfterSeconds }));
    const isUnknown = status === 404 || status === 401;
    const used = isUnknown ? unknownUnits : status >= 400 ? failedUnits : (found ?? units);
    if (!isFree) return this.#correct(used - units);
    const taken = isOfThisMachine(address) || this.#allowances.decide(address, "free", 1);
    return after(taken, (free) => this.#correct(free === true || free.allowed ? -units : 0));
  }

  #correct(units: number): Decision | Promise<Decision> {
    const { cost } = this.#charged;
    // If reading the count is cheap, it is read again even without a correction: other requests may have been counted since.
    return units !== 0 || this.#allowances.isImmediate
      ? this.#allowances.adjust(payerOf(this.#charged), cost.bucket, units)
      : this.decision;
  }
}

/** Whose limits a request counts against. */
export function payerOf({ caller, address, cost }: Charged): Caller {
  return isByAddress(cost.bucket) ? address : caller;
}

/** What usage records of a decision: the count of the key itself. */
export function allowanceOf(decision: Decision | undefined): KeyedRequest["allowance"] {
  if (decision === undefined) return undefined;
  const { policy, own } = decision;
  return { bucket: policy.bucket, limit: own.limit, remaining: own.remaining };
}

/** Health checks of this machine must not depend on what others send through an unknown proxy on it. */
export function isOfThisMachine({ name }: Caller): boolean {
  return name.startsWith("127.") || name === LOOPBACK_NETWORK;
}

/** The name of a caller at ::1. */
const LOOPBACK_NETWORK = "0:0:0:0::/64";

const OVER_LIMIT = new WeakMap<Policy, AppError>();

/** The error for requests over a limit: always the same object for the same limit, with WAIT instead of the seconds. */
function overLimit(policy: Policy): AppError {
  const known = OVER_LIMIT.get(policy);
  if (known !== undefined) return known;
  const name = policyName(policy);
  const message = `at most ${policy.limit} requests in ${policy.windowSeconds} seconds; try again in ${WAIT} s`;
  const error = new AppError("RATE_LIMITED", `Rate limit of the bucket ${name} exceeded: ${message}.`, {
    details: [{ parameter: "bucket", message, values: [name] }],
    headers: { "Retry-After": WAIT },
  });
  OVER_LIMIT.set(policy, error);
  return error;
}

/** The name of a limit in headers: its bucket, and for the ceiling of an account `_account` after it. */
export function policyName({ bucket, scope }: Policy): string {
  return scope === "account" ? `${bucket}_account` : bucket;
}
