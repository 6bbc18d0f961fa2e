import type { KeyedRequest } from "../accounts/accounts.js";
import { AppError } from "../lib/errors.js";
import { type Refusal, WAIT } from "./error-response.js";
import type { Allowances, Caller, Decision, Policy } from "./limiter.js";
import type { Cost } from "./route.js";

interface ChargeOptions {
  allowances: Allowances;
  /** Whose limits the request counts against. */
  caller: Caller;
  address: Caller;
  cost: Cost;
  decision: Decision;
}

/** The outcome that decides what a request cost. */
export interface Settled {
  status: number;
  /** What it cost, where it says so itself. */
  units: number | undefined;
}

/** One request that was counted. */
export class Charge {
  readonly #options: ChargeOptions;

  constructor(options: ChargeOptions) {
    this.#options = options;
  }

  /** Whether the request counted against an API key. */
  get isOfKey(): boolean {
    return this.#options.caller.kind === "key";
  }

  get decision(): Decision {
    return this.#options.decision;
  }

  /** Why the request is refused; undefined for one within its limit. */
  get refusal(): Refusal | undefined {
    const { allowed, policy, retryAfterSeconds } = this.decision;
    return allowed ? undefined : { error: overLimit(policy), waitSeconds: retryAfterSeconds };
  }

  /** Counts the units of a part of a response, if the caller has that many left. */
  add(units: number): Decision | Promise<Decision> {
    const { allowances, caller, cost } = this.#options;
    return allowances.decide(caller, cost.bucket, units);
  }

  /** Gives back what was counted. */
  refund(): Decision | Promise<Decision> {
    const { allowances, caller, cost } = this.#options;
    return allowances.adjust(caller, cost.bucket, -cost.units);
  }

  /**
   * Corrects the count by what the response cost, and returns what is left. `isFree`: the caller had the response already, and
   * nothing was computed to find that out. A promise only where counting needs another process.
   */
  settle({ status, units: found }: Settled, isFree: boolean): Decision | Promise<Decision> {
    const { allowances, address, decision, cost } = this.#options;
    const { units, unknownUnits } = cost;
    if (!decision.allowed) return this.#withWait(this.#correct(0));
    if (!isFree) {
      const due = status === 404 || status === 401 ? unknownUnits : (found ?? units);
      return this.#correct(due - units);
    }
    const taken = takeFree(allowances, address);
    const correct = (isTaken: boolean) => this.#correct(isTaken ? -units : 0);
    return taken instanceof Promise ? taken.then(correct) : correct(taken);
  }

  /** What is left now, with the wait of the refused request. */
  #withWait(left: Decision | Promise<Decision>): Decision | Promise<Decision> {
    const { retryAfterSeconds } = this.decision;
    const waiting = (now: Decision): Decision => ({ ...now, retryAfterSeconds });
    return left instanceof Promise ? left.then(waiting) : waiting(left);
  }

  #correct(units: number): Decision | Promise<Decision> {
    const { allowances, caller, decision, cost } = this.#options;
    // Where reading the count is cheap, it is read again even without a correction: other requests may have been counted since.
    return units !== 0 || allowances.isImmediate ? allowances.adjust(caller, cost.bucket, units) : decision;
  }
}

/** What usage records of a decision: the count of the key itself. */
export function allowanceOf(decision: Decision | undefined): KeyedRequest["allowance"] {
  if (decision === undefined) return undefined;
  const { policy, own } = decision;
  return { bucket: policy.bucket, limit: own.limit, remaining: own.remaining };
}

/** Counts what is free of charge, which has a high limit by address: so even that cannot occupy the service. */
export function takeFree(allowances: Allowances, address: Caller): boolean | Promise<boolean> {
  if (isOfThisMachine(address)) return true;
  const decision = allowances.decide(address, "free", 1);
  return decision instanceof Promise ? decision.then(({ allowed }) => allowed) : decision.allowed;
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
