import type { Logger } from "../lib/log.js";

/** Maximum number of pending tasks; further ones are dropped and logged. */
const MAX_PENDING = 200;

/** Runs tasks after the responses that caused them, whose time then reveals nothing about them. Failures are logged. */
export class DeferredTasks {
  readonly #pending = new Set<Promise<void>>();

  /** `failure`: the outcome of a task that fails, for the log. */
  constructor(
    private readonly log: Logger,
    private readonly failure: string,
  ) {}

  /** Starts a task when the current turn of the event loop is over. `reasonOf`: the words of the log for a failure. */
  add(task: () => Promise<void>, reasonOf: (error: unknown) => object = (err) => ({ err })): void {
    if (this.#pending.size >= MAX_PENDING) {
      this.log.error({ reason: "too many are pending" }, this.failure);
      return;
    }
    const running: Promise<void> = new Promise<void>((resolve) => setImmediate(resolve))
      .then(task)
      .catch((error: unknown) => this.log.error(reasonOf(error), this.failure))
      .finally(() => this.#pending.delete(running));
    this.#pending.add(running);
  }

  /** Resolves when all pending tasks are done or have failed. */
  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }
}
