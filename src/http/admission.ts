import { Callers, networkOf } from "../accounts/accounts.js";
import { BUCKETS, type Config, isByAddress } from "../config/config.js";
import type { Clock } from "../lib/clock.js";
import { isLoopbackHost } from "../lib/host-names.js";
import type { Logger } from "../lib/log.js";
import { Charge, isOfThisMachine, policyName, takeFree } from "./charge.js";
import { ConcurrencyLimiter, type Slot, StreamSlots } from "./concurrency.js";
import { CountedLog } from "./counted-log.js";
import type { Allowances, Caller, Decision, Level, Policy } from "./limiter.js";
import { Limiter } from "./limiter.js";
import type { Cost } from "./route.js";
import { RunQueue, type Waiter } from "./run-queue.js";

export interface AdmissionOptions {
  config: Pick<Config, "limits" | "concurrency" | "queue" | "trustedProxies">;
  clock: Clock;
  log: Logger;
  /** Where requests are counted; by default in this process alone. */
  allowances?: Allowances | undefined;
  /** Responses that may be computed at the same time. */
  maxComputing: number;
}

/** Connections and forwarded addresses whose callers are remembered, and the longest of them. */
const REMEMBERED_PEERS = 10_000;
const REMEMBERED_LENGTH = 200;

/** What a request counts against, decided before its handler runs. */
export interface Charging {
  caller: Caller;
  /** The caller by address, against which some buckets count whoever the caller is. */
  address: Caller;
  cost: Cost;
}

/** Tasks that a thread may have: while it works on one, the next one is there. */
const PER_THREAD = 2;
/** How long a list may wait to be found, in ms: with a million repositories a single one takes a second or more. */
const SCAN_PATIENCE_MS = 5_000;

/** Decides whether a request may go on, and when: rate limits, concurrency, the queues. One per process. */
export class Admission {
  /** Where responses wait to be computed. */
  readonly computing: RunQueue;
  /** Where drawings wait for the thread that renders them. */
  readonly rendering: RunQueue;
  /** Where lists wait for the thread in which SQLite scans the catalogue. */
  readonly scanning: RunQueue;
  /** Whether the process is about to stop, so that balancers should send it nothing new. It still responds. */
  isDraining = false;
  readonly #allowances: Allowances | undefined;
  readonly #callers: Callers;
  readonly #peers = new Map<string, Caller>();
  readonly #policyTexts = new WeakMap<Policy, { name: string; policy: string; limit: string }>();
  readonly #concurrency: ConcurrencyLimiter;
  readonly #streams = new StreamSlots();
  readonly #clock: Clock;
  readonly #log: Logger;
  #mayWarn: boolean;
  readonly #overloads: CountedLog;

  constructor({ config, clock, log, allowances, maxComputing }: AdmissionOptions) {
    const { limits, queue: bounds, trustedProxies } = config;
    this.#allowances = limits === undefined ? undefined : (allowances ?? new Limiter({ limits, clock }));
    this.#callers = new Callers(trustedProxies);
    this.#concurrency = new ConcurrencyLimiter(config.concurrency);
    this.computing = new RunQueue({ maxRunning: maxComputing, bounds, clock });
    this.rendering = new RunQueue({ maxRunning: PER_THREAD, bounds, clock });
    const patient = bounds && { ...bounds, patienceMs: Math.max(bounds.patienceMs, SCAN_PATIENCE_MS) };
    this.scanning = new RunQueue({ maxRunning: PER_THREAD, bounds: patient, clock });
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

  /**
   * Takes a concurrency slot, and one for streams where the response is one, which must be released in any case. If it has a
   * refusal, the request is refused and does not count.
   */
  enter({ caller, cost }: Charging): Slot {
    const slot = this.#concurrency.enter(caller, cost.bucket === "free");
    if (cost.streams === undefined || slot.refusal !== undefined) return slot;
    const streaming = this.#streams.enter(caller);
    const release = () => {
      streaming.release();
      slot.release();
    };
    return { refusal: streaming.refusal, release };
  }

  /** Logs that a request was refused because of overload, without a line for each. */
  noteOverload(): void {
    this.#overloads.note();
  }

  /** How a request waits for a response. Callers with an account go first, and so does signing in. */
  waiterOf({ caller, cost }: Charging, isGone: () => boolean): Waiter {
    const { kind, name, network, account } = caller;
    const isFirst = kind !== "anonymous" || cost.bucket === "auth";
    return {
      priority: isFirst ? "account" : "anonymous",
      caller: `${kind} ${network ?? account ?? name}`,
      isGone,
    };
  }

  /**
   * Counts a request; undefined where nothing is limited. The caller must look at `decision.allowed`. A promise only where
   * counting needs another process.
   */
  charge(charging: Charging): Charge | undefined | Promise<Charge> {
    const allowances = this.#allowances;
    const { address, cost } = charging;
    if (allowances === undefined || (cost.bucket === "free" && isOfThisMachine(address))) return undefined;
    const caller = payerOf(charging);
    const charge = (decision: Decision) => new Charge({ allowances, caller, address, cost, decision });
    const decision = allowances.decide(caller, cost.bucket, cost.units);
    return decision instanceof Promise ? decision.then(charge) : charge(decision);
  }

  /**
   * Why a request is refused whose caller has less left than it costs at least. Undefined, and nothing is counted, if it may go on:
   * `charge` decides then, and knows what other processes have counted.
   */
  refusalOf(charging: Charging): Charge | undefined {
    const allowances = this.#allowances;
    const { address, cost } = charging;
    if (allowances === undefined || (cost.bucket === "free" && isOfThisMachine(address))) return undefined;
    const caller = payerOf(charging);
    const decision = allowances.peek(caller, cost.bucket, cost.units);
    return decision.allowed ? undefined : new Charge({ allowances, caller, address, cost, decision });
  }

  /**
   * Counts a request whose response is ready: `charge` and `settle` in one step. It takes no slot, as it ends in its turn.
   * "unlimited" where nothing is limited; undefined, and nothing is counted, where the request would be refused or counting needs
   * another process. `units`: of the response, if it says so itself.
   */
  admit(
    charging: Charging,
    { status, units = charging.cost.units }: { status: number; units?: number | undefined },
  ): Decision | "unlimited" | undefined {
    const allowances = this.#allowances;
    const { address, cost } = charging;
    const { bucket } = cost;
    if (allowances === undefined || (bucket === "free" && isOfThisMachine(address))) return "unlimited";
    if (!allowances.isImmediate) return undefined;
    // A 304 of a cached response is free, but a caller that has nothing left gets none.
    const counted = status === 304 ? 0 : units;
    const decision = allowances.decide(payerOf(charging), bucket, counted);
    if (decision instanceof Promise || !decision.allowed) return undefined;
    if (decision.remaining + counted < units) return undefined;
    return status !== 304 || takeFree(allowances, address) === true ? decision : undefined;
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

/** Whose limits a request counts against. */
function payerOf({ caller, address, cost }: Charging): Caller {
  return isByAddress(cost.bucket) ? address : caller;
}
