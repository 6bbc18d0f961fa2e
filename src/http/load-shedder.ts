import { AppError } from "../errors.js";
import type { Bucket, Shedding } from "../limit-config.js";
import type { Caller } from "../metering/metering.js";

/** The error for a request that is shed. */
export function overloaded(): AppError {
  return new AppError("UNAVAILABLE", "The service is overloaded. Try again, or send an API key.", {
    headers: { "Retry-After": "5" },
  });
}

/**
 * Sheds load when this process computes too many responses at the same time: first heavy requests of anonymous callers,
 * then all of theirs. Callers with a key or a session go on, and so does signing in; their own limits bound them.
 *
 * A response counts until the event loop turns. Where the store answers synchronously, as SQLite does, no two responses are
 * ever computed at the same time: the backlog is in the sockets, and shows in how many requests one turn of the loop finds there.
 */
export class LoadShedder {
  readonly #thresholds: Shedding | undefined;
  #computing = 0;
  #finished = 0;

  /** Undefined: nothing is shed. */
  constructor(thresholds: Shedding | undefined) {
    this.#thresholds = thresholds;
  }

  /**
   * Starts the work, unless it is shed; undefined then. Checking and counting happen in one step, or all requests that
   * arrive together would pass.
   */
  start<T>(caller: Caller, bucket: Bucket, work: () => Promise<T>): Promise<T> | undefined {
    return this.#isShed(caller, bucket) ? undefined : this.#count(work);
  }

  #isShed({ kind }: Caller, bucket: Bucket): boolean {
    if (this.#thresholds === undefined || kind !== "anonymous" || bucket === "auth") return false;
    return this.#computing >= (bucket === "heavy" ? this.#thresholds.heavy : this.#thresholds.anonymous);
  }

  async #count<T>(work: () => Promise<T>): Promise<T> {
    this.#computing++;
    try {
      return await work();
    } finally {
      if (this.#finished++ === 0) setImmediate(() => this.#forgetFinished());
    }
  }

  #forgetFinished(): void {
    this.#computing -= this.#finished;
    this.#finished = 0;
  }
}
