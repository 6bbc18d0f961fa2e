import { BUCKETS, type Bucket, type Config, isByAddress } from "../config/config.js";
import type { Clock } from "../lib/clock.js";
import { CountedLog } from "../lib/counted-log.js";
import { AppError } from "../lib/errors.js";
import type { Logger } from "../lib/log.js";
import { inQuietTurn } from "../lib/loop-turns.js";
import { type Refusal, WAIT } from "./errors.js";
import {
  type Allowances,
  after,
  type Caller,
  type Decision,
  type Level,
  Limiter,
  type Policy,
} from "./limiter.js";
import type { Cost } from "./route.js";

interface AdmissionOptions {
  config: Pick<Config, "limits">;
  clock: Clock;
  log: Logger;
  /** Counts requests; by default in this process alone. */
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
  /** The queue of responses that wait to be computed. */
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
   * `charge` decides then, and knows the counts of other processes.
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

  /** The remaining quota of a caller: for each of its buckets its own limit, then the ceilings; undefined when nothing is limited. */
  async remaining(caller: Caller): Promise<Level[][] | undefined> {
    const allowances = this.#allowances;
    if (allowances === undefined) return undefined;
    const buckets = BUCKETS.filter((bucket) => allowances.has(caller.kind, bucket));
    return Promise.all(buckets.map((bucket) => allowances.levels(caller, bucket)));
  }
}

/** The bucket and callers that a request counts against. */
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

  /** Gives the counted units back. */
  refund(): Decision | Promise<Decision> {
    return this.#correct(-this.#charged.cost.units);
  }

  /**
   * Corrects the count by the cost of the response, and returns the remaining quota. `found`: its units, if it says so itself. `isFree`: the
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
function payerOf({ caller, address, cost }: Charged): Caller {
  return isByAddress(cost.bucket) ? address : caller;
}

/** Health checks of this machine must not depend on requests of others through an unknown proxy on it. */
function isOfThisMachine({ name }: Caller): boolean {
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
function policyName({ bucket, scope }: Policy): string {
  return scope === "account" ? `${bucket}_account` : bucket;
}

/** Callers with an account get most turns. */
export type Priority = "account" | "anonymous";

/** Who waits for a task. */
export interface Waiter {
  readonly priority: Priority;
  /** Callers of one priority take turns. */
  readonly caller: string;
  /** Whether nobody will read the result. */
  isGone(): boolean;
}

interface RunQueueOptions {
  /** Tasks that may be running. */
  maxRunning: number;
  /** Tasks that may wait for each priority, and how long; undefined: any number, for ever. */
  bounds: { length: number; patienceMs: number } | undefined;
  clock: Clock;
}

/** The result of `add`. */
export interface QueuedWork<T> {
  /** Rejects with OVERLOADED if the task is refused, and with ABANDONED if its client has disconnected. */
  readonly result: Promise<T>;
  /** To be called for every further request that waits for the result. */
  join(waiter: Waiter): void;
}

/** The error of refused tasks: always this object, so that a refusal costs little. */
export const OVERLOADED = new AppError(
  "UNAVAILABLE",
  "The service is overloaded. Try again, or send an API key.",
  { headers: { "Retry-After": "5" } },
);

/** Thrown for a task whose client has disconnected: no overload, and no response to record. */
export const ABANDONED = new AppError("UNAVAILABLE", "Client disconnected.");

/** The share of the queue, and of the running tasks, that one caller may have. */
const CALLER_SHARE = 1 / 4;
/** Strangers get one of this many turns while callers with an account wait. */
const TURNS = 5;

interface Task {
  priority: Priority;
  caller: string;
  readonly waiters: Waiter[];
  /** When it was added, or joined by a new caller; monotonic. */
  addedAt: number;
  run(): Promise<unknown>;
  drop(reason: AppError): void;
}

/**
 * Runs tasks in a fair order, and starts one per turn of the event loop. A database that responds synchronously, as SQLite does, keeps
 * the loop until a task ends. So between two tasks, requests that have arrived are counted, and those whose responses are ready are
 * responded to. A task that comes when none was started in this turn starts immediately.
 *
 * Callers of one priority take turns. When the queue is full, the caller with the most waiting tasks loses the newest of them. A task
 * that has waited too long, or whose client has disconnected, is not started.
 */
export class RunQueue {
  readonly #options: RunQueueOptions;
  /** Waiting tasks, those of a caller together. The first caller is the next one. */
  readonly #waiting: Record<Priority, Task[]> = { account: [], anonymous: [] };
  /** Running tasks by caller. */
  readonly #running = new Map<string, number>();
  /** Tasks that are running. */
  running = 0;
  #turns = 0;
  #hasStarted = false;
  #isTurnDue = false;
  #isWatched = false;

  constructor(options: RunQueueOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiting.account.length + this.#waiting.anonymous.length;
  }

  /** Runs a task when its turn comes. */
  add<T>(waiter: Waiter, work: () => Promise<T>): QueuedWork<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const task: Task = {
      priority: waiter.priority,
      caller: waiter.caller,
      waiters: [waiter],
      addedAt: this.#options.clock.monotonic(),
      run: () => work().then(resolve, reject),
      drop: reject,
    };
    if (!this.#hasStarted && this.#mayRun(task.caller) && this.waiting === 0) this.#start(task);
    else if (this.#makeRoom(task)) this.#enqueue(task);
    else reject(OVERLOADED);
    return { result: promise, join: (joining) => this.#join(task, joining) };
  }

  #mayRun(caller: string): boolean {
    const { maxRunning } = this.#options;
    const own = this.#running.get(caller) ?? 0;
    return this.running < maxRunning && own < Math.ceil(maxRunning * CALLER_SHARE);
  }

  #start(task: Task): void {
    const { caller } = task;
    this.#hasStarted = true;
    this.running++;
    this.#running.set(caller, (this.#running.get(caller) ?? 0) + 1);
    this.#awaitTurn();
    void task.run().finally(() => {
      this.running--;
      const left = (this.#running.get(caller) ?? 1) - 1;
      if (left > 0) this.#running.set(caller, left);
      else this.#running.delete(caller);
      if (this.waiting > 0) this.#awaitTurn();
    });
  }

  #awaitTurn(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    inQuietTurn(() => {
      this.#isTurnDue = false;
      this.#hasStarted = false;
      this.#dropLate();
      while (!this.#hasStarted && this.#takeNext());
    });
  }

  /** Starts the next task, or drops it if nobody waits for it. False if none may start. */
  #takeNext(): boolean {
    const order: readonly Priority[] =
      this.#turns++ % TURNS === TURNS - 1 ? ["anonymous", "account"] : ["account", "anonymous"];
    for (const priority of order) {
      const task = this.#waiting[priority].find(({ caller }) => this.#mayRun(caller));
      if (task === undefined) continue;
      this.#remove(task);
      // The caller goes to the end of the line.
      const isOwn = ({ caller }: Task) => caller === task.caller;
      const tasks = this.#waiting[priority];
      this.#waiting[priority] = [...tasks.filter((other) => !isOwn(other)), ...tasks.filter(isOwn)];
      if (task.waiters.every((waiter) => waiter.isGone())) task.drop(ABANDONED);
      else this.#start(task);
      return true;
    }
    return false;
  }

  #enqueue(task: Task): void {
    const tasks = this.#waiting[task.priority];
    const last = tasks.findLastIndex(({ caller }) => caller === task.caller);
    tasks.splice(last === -1 ? tasks.length : last + 1, 0, task);
    this.#awaitTurn();
    if (!this.#isWatched && this.#options.bounds !== undefined) void this.#watch();
  }

  /** Removes a task that waits. False if it does not. */
  #remove(task: Task): boolean {
    const tasks = this.#waiting[task.priority];
    const index = tasks.indexOf(task);
    if (index === -1) return false;
    tasks.splice(index, 1);
    return true;
  }

  #refuse(task: Task): void {
    this.#remove(task);
    task.drop(task.waiters.every((waiter) => waiter.isGone()) ? ABANDONED : OVERLOADED);
  }

  /** Whether there is room for a task, which another one may have to leave. */
  #makeRoom({ priority, caller }: Task): boolean {
    const length = this.#options.bounds?.length ?? Number.POSITIVE_INFINITY;
    const tasks = this.#waiting[priority];
    const own = tasks.filter((task) => task.caller === caller).length;
    if (own >= Math.ceil(length * CALLER_SHARE)) return false;
    if (tasks.length < length) return true;
    let longest: Task[] = [];
    for (const others of Map.groupBy(tasks, (task) => task.caller).values())
      if (others.length > longest.length) longest = others;
    const newest = longest.at(-1);
    if (newest === undefined || longest.length <= own + 1) return false;
    this.#refuse(newest);
    return true;
  }

  #dropLate(): void {
    const { bounds, clock } = this.#options;
    const latest = clock.monotonic() - (bounds?.patienceMs ?? Number.POSITIVE_INFINITY);
    for (const task of this.#tasks()) if (task.addedAt <= latest) this.#refuse(task);
  }

  #tasks(): Task[] {
    return Object.values(this.#waiting).flat();
  }

  /** Refuses late tasks also while no running one ends, such as when the database hangs. */
  async #watch(): Promise<void> {
    const { bounds, clock } = this.#options;
    this.#isWatched = true;
    while (this.waiting > 0) {
      const earliest = Math.min(...this.#tasks().map(({ addedAt }) => addedAt));
      await clock.sleep(earliest + (bounds?.patienceMs ?? 0) - clock.monotonic());
      this.#dropLate();
    }
    this.#isWatched = false;
  }

  /** One more request waits for a task. A new caller may wait as long as for a task of its own, and brings its priority. */
  #join(task: Task, waiter: Waiter): void {
    const isNew = task.waiters.every(({ caller }) => caller !== waiter.caller);
    task.waiters.push(waiter);
    if (!isNew) return;
    task.addedAt = this.#options.clock.monotonic();
    if (waiter.priority === task.priority || task.priority === "account" || !this.#remove(task)) return;
    task.priority = waiter.priority;
    task.caller = waiter.caller;
    this.#enqueue(task);
  }
}
