import type { Database } from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { DeferredTasks } from "./deferred-tasks.js";

/** Time between two erasures, which block the thread for some milliseconds. */
const INTERVAL_MS = 60_000;

/** Removes deleted accounts from the files of the database too, soon after the response that says that they are deleted. */
export class Erasure {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #tasks: DeferredTasks;
  /** Whether something may be left. True at first, as an earlier process may have been killed. */
  #isWaiting = true;
  /** Monotonic. */
  #triedAt = Number.NEGATIVE_INFINITY;

  constructor({ database, clock, log }: { database: Database; clock: Clock; log: Logger }) {
    this.#database = database;
    this.#clock = clock;
    this.#tasks = new DeferredTasks(log, "deleted data could not be removed from the files of the database");
  }

  /** Notes that an account was deleted. At most once a minute its data is removed immediately, else with the next `run`. */
  start(): void {
    this.#isWaiting = true;
    if (this.#clock.monotonic() - this.#triedAt < INTERVAL_MS) return;
    this.#triedAt = this.#clock.monotonic();
    this.#tasks.add(async () => void (await this.run()));
  }

  /** Removes deleted data that may be left. Returns false if others use the files: a later call tries again. */
  async run(): Promise<boolean> {
    if (!this.#isWaiting) return true;
    this.#isWaiting = false;
    const { dialect, durable } = this.#database;
    try {
      this.#isWaiting = !(await dialect.eraseDeleted(durable));
    } catch (error) {
      this.#isWaiting = true;
      throw error;
    }
    return !this.#isWaiting;
  }

  /** Resolves when the started erasures have ended. */
  settled(): Promise<void> {
    return this.#tasks.settled();
  }
}
