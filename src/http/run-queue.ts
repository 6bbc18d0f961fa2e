import type { Clock } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { inQuietTurn } from "../lib/loop-turns.js";

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

/** What `add` returns. */
export interface QueuedWork<T> {
  /** Rejects with OVERLOADED if the task is refused, and with ABANDONED if nobody waits for it any longer. */
  readonly result: Promise<T>;
  /** To be called for every further request that waits for the result. */
  join(waiter: Waiter): void;
}

/** What refused tasks fail with: always this object, so that a refusal costs little. */
export const OVERLOADED = new AppError(
  "UNAVAILABLE",
  "The service is overloaded. Try again, or send an API key.",
  { headers: { "Retry-After": "5" } },
);

/** What a task fails with when nobody waits for it any longer: no overload, and no response to record. */
export const ABANDONED = new AppError("UNAVAILABLE", "Client disconnected.");

/** The share of the queue, and of the running tasks, that one caller may have. */
const CALLER_SHARE = 1 / 4;
/** Of so many turns, strangers get one while callers with an account wait. */
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
 * that has waited too long, or that nobody waits for any longer, is not started.
 */
export class RunQueue {
  readonly #options: RunQueueOptions;
  /** Waiting tasks by caller. The first caller is the next one. */
  readonly #waiting: Readonly<Record<Priority, Map<string, Task[]>>> = {
    account: new Map(),
    anonymous: new Map(),
  };
  /** Running tasks by caller. */
  readonly #running = new Map<string, number>();
  #runningCount = 0;
  #turns = 0;
  #hasStarted = false;
  #isTurnDue = false;
  #isWatched = false;

  constructor(options: RunQueueOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return sizeOf(this.#waiting.account) + sizeOf(this.#waiting.anonymous);
  }

  get running(): number {
    return this.#runningCount;
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
    return this.#runningCount < maxRunning && own < Math.ceil(maxRunning * CALLER_SHARE);
  }

  #start(task: Task): void {
    const { caller } = task;
    this.#hasStarted = true;
    this.#runningCount++;
    this.#running.set(caller, (this.#running.get(caller) ?? 0) + 1);
    this.#awaitTurn();
    void task.run().finally(() => {
      this.#runningCount--;
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

  /** Starts the next task, or drops it if nobody waits for it. False if there is none that may start. */
  #takeNext(): boolean {
    const order: readonly Priority[] =
      this.#turns++ % TURNS === TURNS - 1 ? ["anonymous", "account"] : ["account", "anonymous"];
    for (const priority of order)
      for (const [caller, tasks] of this.#waiting[priority]) {
        const [task] = tasks;
        if (task === undefined || !this.#mayRun(caller)) continue;
        this.#remove(task);
        // The caller goes to the end of the line.
        if (tasks.length > 0) {
          this.#waiting[priority].delete(caller);
          this.#waiting[priority].set(caller, tasks);
        }
        if (task.waiters.every((waiter) => waiter.isGone())) task.drop(ABANDONED);
        else this.#start(task);
        return true;
      }
    return false;
  }

  #enqueue(task: Task): void {
    const callers = this.#waiting[task.priority];
    const tasks = callers.get(task.caller);
    if (tasks === undefined) callers.set(task.caller, [task]);
    else tasks.push(task);
    this.#awaitTurn();
    if (!this.#isWatched && this.#options.bounds !== undefined) void this.#watch();
  }

  /** Removes a task that waits. False if it does not. */
  #remove(task: Task): boolean {
    const callers = this.#waiting[task.priority];
    const tasks = callers.get(task.caller);
    const index = tasks?.indexOf(task) ?? -1;
    if (tasks === undefined || index === -1) return false;
    tasks.splice(index, 1);
    if (tasks.length === 0) callers.delete(task.caller);
    return true;
  }

  #refuse(task: Task): void {
    this.#remove(task);
    task.drop(task.waiters.every((waiter) => waiter.isGone()) ? ABANDONED : OVERLOADED);
  }

  /** Whether there is room for a task, which another one may have to leave. */
  #makeRoom({ priority, caller }: Task): boolean {
    const length = this.#options.bounds?.length ?? Number.POSITIVE_INFINITY;
    const callers = this.#waiting[priority];
    const own = callers.get(caller)?.length ?? 0;
    if (own >= Math.ceil(length * CALLER_SHARE)) return false;
    if (sizeOf(callers) < length) return true;
    let longest: Task[] = [];
    for (const tasks of callers.values()) if (tasks.length > longest.length) longest = tasks;
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
    return Object.values(this.#waiting).flatMap((callers) => [...callers.values()].flat());
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

function sizeOf(callers: ReadonlyMap<string, readonly Task[]>): number {
  let size = 0;
  for (const tasks of callers.values()) size += tasks.length;
  return size;
}
