import { BUCKETS, type Bucket, type Config } from "../config/config.js";
import type { Clock } from "../lib/clock.js";
import { CountedLog } from "../lib/counted-log.js";
import type { Logger } from "../lib/log.js";
import { after } from "./after.js";
import { Charge, type Charged, isOfThisMachine, payerOf, policyName } from "./charge.js";
import type { Cost } from "./cost.js";
import type { Allowances, Caller, Decision, Level } from "./limiter.js";
import { Limiter } from "./limiter.js";
import { RunQueue, type Waiter } from "./run-queue.js";

interface AdmissionOptions {
  config: Pick<Config, "limits">;
  clock: Clock;
  log: Logger;
  /** Where requests are counted; by default in this process alone. */
  allowances?: Allowances | undefined;
  /** Connections that may read the database at the same time. */
  readers: number;
}

/** Responses that may be computed at the same time, at least: some wait for another thread, for mail or for another site. */
const MIN_RUNNING = 16;
/** Responses that may wait to be computed for callers with an account, and as many for strangers. Half a second later they come too late. */
const QUEUE_BOUNDS = { length: 400, patienceMs: 500 };

/** Decides whether a request may go on, and when: rate limits and the queue. One per process. */
export class Admission {
  /** Where responses wait to be computed. */
  readonly computing: RunQueue;
  /** Whether the process is about to stop, so that balancers should send it nothing new. It still responds. */
  isDraining = false;
  /** How many requests were refused since the start: by the bucket whose limit they were over, or `overload`. */
  readonly refusals = new Map<string, number>();
  readonly #allowances: Allowances | undefined;
  readonly #clock: Clock;
  readonly #overloads: CountedLog;

  constructor({ config, clock, log, allowances, readers }: AdmissionOptions) {
    const { limits } = config;
    this.#allowances = limits === undefined ? undefined : (allowances ?? new Limiter({ limits, clock }));
    const bounds = limits && QUEUE_BOUNDS;
    this.computing = new RunQueue({ maxRunning: Math.max(MIN_RUNNING, readers), bounds, clock });
    this.#clock = clock;
    this.#overloads = new CountedLog(clock, (refused) =>
      log.warn({ refused }, "overloaded: requests are refused"),
    );
  }

  /** Counts a request that was refused over the limit of a bucket, or because of overload. */
  noteRefusal(reason: Bucket | "overload"): void {
    this.refusals.set(reason, (this.refusals.get(reason) ?? 0) + 1);
  }

  /** Counts and logs that a request was refused because of overload, without a line for each. */
  noteOverload(): void {
    this.noteRefusal("overload");
    this.#overloads.note();
  }

  /** How a request waits for a response. Callers with an account get most turns, and so does signing in. */
  waiterOf(caller: Caller, cost: Cost, isGone: () => boolean): Waiter {
    const { kind, name, network, account } = caller;
    const isFirst = kind !== "anonymous" || cost.bucket === "auth";
    return {
      priority: isFirst ? "account" : "anonymous",
      caller: `${kind} ${network ?? account ?? name}`,
      isGone,
    };
  }

  /** Counts a request; undefined if nothing is limited. A promise only if counting needs another process. */
  charge(charged: Charged): Charge | undefined | Promise<Charge | undefined> {
    const allowances = this.#allowancesFor(charged);
    if (allowances === undefined) return undefined;
    const { bucket, units } = charged.cost;
    return after(
      allowances.decide(payerOf(charged), bucket, units),
      (decision) => new Charge(allowances, charged, decision),
    );
  }

  /**
   * Why a request is refused whose caller has less left than it costs at least. Undefined, and nothing is counted, if it may go on:
   * `charge` decides then, and knows what other processes have counted.
   */
  refusalOf(charged: Charged): Charge | undefined {
    const allowances = this.#allowancesFor(charged);
    if (allowances === undefined) return undefined;
    const { bucket, units } = charged.cost;
    const decision = allowances.peek(payerOf(charged), bucket, units);
    return decision.allowed ? undefined : new Charge(allowances, charged, decision);
  }

  #allowancesFor({ address, cost }: Charged): Allowances | undefined {
    return cost.bucket === "free" && isOfThisMachine(address) ? undefined : this.#allowances;
  }

  /** The values of RATE_HEADERS, in their order. */
  ratesOf({ policy, remaining, moreInSeconds, retryAfterSeconds }: Decision): string[] {
    const name = policyName(policy);
    const { limit, windowSeconds } = policy;
    const left = String(remaining);
    const now = Math.ceil(this.#clock.now() / 1_000);
    return [
      `"${name}";q=${limit};w=${windowSeconds}`,
      `"${name}";r=${left};t=${moreInSeconds}`,
      String(limit),
      left,
      String(now + Math.max(moreInSeconds, retryAfterSeconds)),
      name,
    ];
  }

  /** What is left to a caller: for each of its buckets its own limit, then the ceilings; undefined when nothing is limited. */
  async remaining(caller: Caller): Promise<Level[][] | undefined> {
    const allowances = this.#allowances;
    if (allowances === undefined) return undefined;
    const buckets = BUCKETS.filter((bucket) => allowances.has(caller.kind, bucket));
    return Promise.all(buckets.map((bucket) => allowances.levels(caller, bucket)));
  }
}
