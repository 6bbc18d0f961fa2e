import { BUCKETS, type Config } from "../config/config.js";
import type { Clock } from "../lib/clock.js";
import { CountedLog } from "../lib/counted-log.js";
import { isLoopbackHost } from "../lib/host-names.js";
import type { Logger } from "../lib/log.js";
import { after } from "./after.js";
import { Callers, networkOf } from "./callers.js";
import { Charge, type Charged, isOfThisMachine, payerOf, policyName } from "./charge.js";
import type { Allowances, Caller, Decision, Level, Policy } from "./limiter.js";
import { Limiter } from "./limiter.js";
import { RunQueue, type Waiter } from "./run-queue.js";

interface AdmissionOptions {
  config: Pick<Config, "limits" | "trustedProxies">;
  clock: Clock;
  log: Logger;
  /** Where requests are counted; by default in this process alone. */
  allowances?: Allowances | undefined;
  /** Connections that may read the database at the same time. */
  readers: number;
}

/** Connections and forwarded addresses whose callers are remembered, and the longest of them. */
const REMEMBERED_PEERS = 10_000;
const REMEMBERED_LENGTH = 200;
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
  readonly #allowances: Allowances | undefined;
  readonly #callers: Callers;
  readonly #peers = new Map<string, Caller>();
  readonly #policyTexts = new WeakMap<Policy, { name: string; policy: string; limit: string }>();
  readonly #clock: Clock;
  readonly #log: Logger;
  #mayWarn: boolean;
  readonly #overloads: CountedLog;

  constructor({ config, clock, log, allowances, readers }: AdmissionOptions) {
    const { limits, trustedProxies } = config;
    this.#allowances = limits === undefined ? undefined : (allowances ?? new Limiter({ limits, clock }));
    this.#callers = new Callers(trustedProxies);
    const bounds = limits && QUEUE_BOUNDS;
    this.computing = new RunQueue({ maxRunning: Math.max(MIN_RUNNING, readers), bounds, clock });
    this.#clock = clock;
    this.#log = log;
    this.#overloads = new CountedLog(clock, (refused) =>
      log.warn({ refused }, "overloaded: requests are refused"),
    );
    this.#mayWarn = limits !== undefined && trustedProxies.length === 0;
  }

  /**
   * The caller by the address of its connection and what trusted proxies say: `forwardedFor` has all lines of the header, joined by
   * commas. The same object for the same connection, as long as it is remembered.
   */
  callerOf(peer: string | undefined, forwardedFor: string | undefined): Caller {
    const path = forwardedFor === undefined ? (peer ?? "") : `${peer} ${forwardedFor}`;
    const known = this.#peers.get(path);
    if (known !== undefined) return known;
    const caller = this.#readCaller(peer, forwardedFor ?? null);
    if (path.length > REMEMBERED_LENGTH) return caller;
    if (this.#peers.size >= REMEMBERED_PEERS) this.#peers.clear();
    this.#peers.set(path, caller);
    return caller;
  }

  #readCaller(peer: string | undefined, forwardedFor: string | null): Caller {
    if (this.#mayWarn && forwardedFor !== null && peer !== undefined && isLoopbackHost(peer)) {
      this.#mayWarn = false;
      this.#log.warn(
        "a proxy on this machine sends X-Forwarded-For, but SIDEREAL_TRUSTED_PROXIES does not name it: all clients behind it share one rate limit",
      );
    }
    const name = this.#callers.nameOf(peer, forwardedFor);
    const network = networkOf(name);
    return network === undefined ? { kind: "anonymous", name } : { kind: "anonymous", name, network };
  }

  /** Logs that a request was refused because of overload, without a line for each. */
  noteOverload(): void {
    this.#overloads.note();
  }

  /** How a request waits for a response. Callers with an account get most turns, and so does signing in. */
  waiterOf({ caller, cost }: Charged, isGone: () => boolean): Waiter {
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
    let texts = this.#policyTexts.get(policy);
    if (texts === undefined) {
      const name = policyName(policy);
      const { limit, windowSeconds } = policy;
      texts = { name, policy: `"${name}";q=${limit};w=${windowSeconds}`, limit: String(limit) };
      this.#policyTexts.set(policy, texts);
    }
    const { name } = texts;
    const left = String(remaining);
    const now = Math.ceil(this.#clock.now() / 1_000);
    return [
      texts.policy,
      `"${name}";r=${left};t=${moreInSeconds}`,
      texts.limit,
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
