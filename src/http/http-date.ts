import type { Clock } from "../clock.js";

/**
 * The value of `Date`, by the clock of the service. Node.js would take that of the machine, which may be wrong: caches compute the
 * age of a response from it.
 */
export class HttpDate {
  readonly #clock: Pick<Clock, "now">;
  #second = Number.NaN;
  #text = "";

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** The present second (RFC 9110, 5.6.7). */
  text(): string {
    const second = Math.floor(this.#clock.now() / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(second * 1_000).toUTCString();
    }
    return this.#text;
  }
}
