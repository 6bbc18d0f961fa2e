import { AppError } from "../errors.js";
import type { Bucket, Shedding } from "../limit-config.js";
import type { Caller } from "../metering/metering.js";

/** The error for what is left undone. */
export function tooMuch(): AppError {
  return new AppError("UNAVAILABLE", "Too much is asked here at the moment; try again, or with an API key.", {
    headers: { "Retry-After": "5" },
  });
}

/**
 * Tells when this process has more to do than it can, by how many answers are being made, and what it leaves undone then:
 * first what is dear and asked by nobody in particular, then all that is asked by nobody in particular. Who has a key or a
 * session goes on, and so does signing in, as the way to have one; each of them is kept in bounds by its own limits.
 *
 * An answer counts until the event loop comes round. Where the store answers at once, as SQLite does, nothing is ever under
 * way beside something else: what waits is then in the sockets, and how much that is shows in how many requests one turn of
 * the loop finds there.
 */
export class Overload {
  readonly #shedding: Shedding | undefined;
  #making = 0;
  #made = 0;

  /** Undefined: nothing is left undone. */
  constructor(shedding: Shedding | undefined) {
    this.#shedding = shedding;
  }

  /**
   * Makes an answer; undefined where it is left undone. Nothing may stand between asking and counting, or all that come at
   * once would pass.
   */
  make<T>(caller: Caller, bucket: Bucket, work: () => Promise<T>): Promise<T> | undefined {
    return this.#isTooMuch(caller, bucket) ? undefined : this.#count(work);
  }

  #isTooMuch({ kind }: Caller, bucket: Bucket): boolean {
    if (this.#shedding === undefined || kind !== "anonymous" || bucket === "auth") return false;
    return this.#making >= (bucket === "heavy" ? this.#shedding.heavy : this.#shedding.anonymous);
  }

  async #count<T>(work: () => Promise<T>): Promise<T> {
    this.#making++;
    try {
      return await work();
    } finally {
      if (this.#made++ === 0) setImmediate(() => this.#forgetMade());
    }
  }

  #forgetMade(): void {
    this.#making -= this.#made;
    this.#made = 0;
  }
}
