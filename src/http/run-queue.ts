import type { QueueBounds } from "../config/config.js";
import type { Clock } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { inQuietTurn } from "../lib/loop-turns.js";
import { Backlog } from "./backlog.js";

/** Callers with an account go before anonymous ones. */
export type Priority = "account" | "anonymous";

/** Who waits for a task. */
export interface Waiter {
  readonly priority: Priority;
  /** Callers of one priority take turns. */
  readonly caller: string;
  /** Whether nobody will read the result. */
  isGone(): boolean;
}

export interface RunQueueOptions {
  /** Tasks that may be running, without those that have left the queue. */
  maxRunning: number;
  /** Undefined: nothing is refused. */
  bounds: QueueBounds | undefined;
  clock: Clock;
}

/** What refused tasks fail with: always this object, so that a refusal costs little. */
export const OVERLOADED = new AppError(
  "UNAVAILABLE",
  "The service is overloaded. Try again, or send an API key.",
  { headers: { "Retry-After": "5" } },
);

/** What a task fails with when nobody waits for it any longer: no overload, and no response to record. */
export const ABANDONED = new AppError("UNAVAILABLE", "Nobody waits for the response anymore.");

const UNBOUNDED: QueueBounds = { length: Number.POSITIVE_INFINITY, patienceMs: Number.POSITIVE_INFINITY };

/** The share of the queue that one caller may have. */
const CALLER_SHARE = 1 / 4;

/**
 * Runs tasks in a fair order, and starts one per turn of the event loop. Where the database responds synchronously, as SQLite does, a
 * task runs to its end without giving the loop back. So between two tasks, requests that have arrived are counted, and those whose
 * responses are ready are responded to. A task that comes when none was started in this turn starts immediately.
 *
 * Callers of one priority take turns. When the queue is full, the caller with the most waiting tasks loses the newest of them. A task
 * that has waited too long, or that nobody waits for any longer, is not started.
 */
export class RunQueue {
  readonly #maxRunning: number;
  readonly #bounds: QueueBounds;
  readonly #clock: Clock;
  readonly #backlogs: Readonly<Record<Priority, Backlog<Task>>> = {
    account: new Backlog(),
    anonymous: new Backlog(),
  };
  /** All waiting tasks, those with the earliest deadline first. */
  readonly #arrivals = new Set<Task>();
  #running = 0;
  #hasStarted = false;
  #isTurnDue = false;
  #isWatched = false;

  constructor({ maxRunning, bounds = UNBOUNDED, clock }: RunQueueOptions) {
    this.#maxRunning = maxRunning;
    this.#bounds = bounds;
    this.#clock = clock;
  }

  /** Tasks that wait. */
  get waiting(): number {
    return this.#arrivals.size;
  }

  /** Runs a task when its turn comes. `work` gets the task, with which it can leave the queue. */
  add<T>(waiter: Waiter, work: (task: Task) => Promise<T>): QueuedWork<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const task = new Task(waiter, {
      start: () => work(task).then(resolve, reject),
      drop: reject,
      leave: () => {
        this.#running--;
        if (this.#arrivals.size > 0) this.#awaitTurn();
      },
    });
    if (this.#arrivals.size === 0 && this.#mayStart()) this.#start(task);
    else if (this.#makeRoom(task)) this.#enqueue(task);
    else task.drop(OVERLOADED);
    return { result: promise, join: (joining) => this.#join(task, joining) };
  }

  #mayStart(): boolean {
    return !this.#hasStarted && this.#running < this.#maxRunning;
  }

  #start(task: Task): void {
    this.#hasStarted = true;
    this.#running++;
    this.#awaitTurn();
    task.start();
  }

  #awaitTurn(): void {
    if (this.#isTurnDue) return;
    this.#isTurnDue = true;
    inQuietTurn(() => {
      this.#isTurnDue = false;
      this.#hasStarted = false;
      this.#refuseLate();
      while (this.#mayStart() && this.#takeNext());
    });
  }

  /** Starts the next task, or drops it if nobody waits for it. False if no task waits. */
  #takeNext(): boolean {
    const { account, anonymous } = this.#backlogs;
    const task = account.takeNext() ?? anonymous.takeNext();
    if (task === undefined) return false;
    this.#arrivals.delete(task);
    if (task.isGone()) task.drop(ABANDONED);
    else this.#start(task);
    return true;
  }

  /** Whether there is room for a task, which another one may have to leave. */
  #makeRoom({ priority, caller }: Task): boolean {
    const { length } = this.#bounds;
    const backlog = this.#backlogs[priority];
    const own = backlog.sizeOf(caller);
    if (own >= Math.ceil(length * CALLER_SHARE)) return false;
    if (backlog.size < length) return true;
    const longest = backlog.findLongest();
    if (longest === undefined || longest.size <= own + 1) return false;
    this.#refuse(longest.newest);
    return true;
  }

  #enqueue(task: Task): void {
    task.arrivedAt = this.#clock.monotonic();
    this.#backlogs[task.priority].add(task);
    this.#arrivals.add(task);
    if (!this.#isWatched && this.#bounds.patienceMs < Number.POSITIVE_INFINITY) void this.#watchDeadlines();
  }

  #refuse(task: Task): void {
    this.#backlogs[task.priority].delete(task);
    this.#arrivals.delete(task);
    task.drop(task.isGone() ? ABANDONED : OVERLOADED);
  }

  #refuseLate(): void {
    const latest = this.#clock.monotonic() - this.#bounds.patienceMs;
    for (const task of this.#arrivals) {
      if (task.arrivedAt > latest) return;
      this.#refuse(task);
    }
  }

  /**
   * Refuses late tasks also while no running one ends, such as when the database hangs. Begins a new iteration after each wait: an
   * unfinished one keeps every task that has left the set since, and its response, in memory.
   */
  async #watchDeadlines(): Promise<void> {
    this.#isWatched = true;
    for (;;) {
      const [arrivedAt] = this.#arrivals.values().map((task) => task.arrivedAt);
      if (arrivedAt === undefined) break;
      await this.#clock.sleep(arrivedAt + this.#bounds.patienceMs - this.#clock.monotonic());
      this.#refuseLate();
    }
    this.#isWatched = false;
  }

  /**
   * One more request waits for a task, which must not be worse for it than a task of its own: the task moves to its caller if it
   * would be started sooner there, and a caller that is new to the task may wait as long as for any other.
   */
  #join(task: Task, waiter: Waiter): void {
    const isNew = task.addWaiter(waiter);
    const isWaiting = this.#arrivals.has(task);
    if (this.#isSooner(task, waiter, isWaiting)) {
      if (isWaiting) this.#backlogs[task.priority].delete(task);
      task.priority = waiter.priority;
      task.caller = waiter.caller;
      if (isWaiting) this.#backlogs[task.priority].add(task);
    }
    if (!isWaiting || !isNew) return;
    task.arrivedAt = this.#clock.monotonic();
    this.#arrivals.delete(task);
    this.#arrivals.add(task);
  }

  /** Whether a task would be started sooner as a new task of another caller. */
  #isSooner(task: Task, { priority, caller }: Waiter, isWaiting: boolean): boolean {
    if (task.priority !== priority) return priority === "account";
    if (!isWaiting || task.caller === caller) return false;
    const backlog = this.#backlogs[priority];
    return backlog.sizeOf(caller) < backlog.turnsBefore(task);
  }
}

/** What `add` returns. */
export interface QueuedWork<T> {
  /** Rejects with OVERLOADED if the task is refused, and with ABANDONED if nobody waits for it any longer. */
  readonly result: Promise<T>;
  /** To be called for every further request that waits for the result. */
  join(waiter: Waiter): void;
}

interface TaskHooks {
  start(): Promise<unknown>;
  drop(reason: AppError): void;
  leave(): void;
}

/** A task in the queue. It may wait for another task on behalf of its own waiters. */
export class Task implements Waiter {
  priority: Priority;
  caller: string;
  /** When its newest caller arrived; monotonic. Only of a task that had to wait. */
  arrivedAt = 0;
  readonly #hooks: TaskHooks;
  readonly #waiters: Waiter[] = [];
  readonly #callers = new Set<string>();
  #isRunning = false;

  constructor(waiter: Waiter, hooks: TaskHooks) {
    this.priority = waiter.priority;
    this.caller = waiter.caller;
    this.#hooks = hooks;
    this.addWaiter(waiter);
  }

  /** Returns whether the caller is new: no other request of it has waited for the task. */
  addWaiter(waiter: Waiter): boolean {
    const known = this.#callers.size;
    this.#waiters.push(waiter);
    return this.#callers.add(waiter.caller).size > known;
  }

  isGone(): boolean {
    return this.#waiters.every((waiter) => waiter.isGone());
  }

  start(): void {
    this.#isRunning = true;
    void this.#hooks.start().finally(() => this.leave());
  }

  /** `reason`: OVERLOADED or ABANDONED. */
  drop(reason: AppError): void {
    this.#hooks.drop(reason);
  }

  /** Lets the next task run while this one waits for something that takes nothing from it, such as another thread. */
  leave(): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#hooks.leave();
  }
}
