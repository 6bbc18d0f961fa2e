import type { Clock } from "./clock.js";

/** Time between two lines. */
const LINE_MS = 10_000;

/** Logs events of many requests at a time, without a line for each: the first immediately, then their number every ten seconds. */
export class CountedLog<T = void> {
  readonly #clock: Clock;
  readonly #write: (count: number, last: T) => void;
  #count = 0;
  /** Monotonic. */
  #writtenAt = Number.NEGATIVE_INFINITY;

  /** `write`: logs how many there were since the last line, and the last of them. */
  constructor(clock: Clock, write: (count: number, last: T) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  note(one: T): void {
    this.#count++;
    const now = this.#clock.monotonic();
    if (now - this.#writtenAt < LINE_MS) return;
    this.#write(this.#count, one);
    this.#count = 0;
    this.#writtenAt = now;
  }
}
