import { type Clock, DAY_MS } from "../clock.js";

/** How long a field is left out. */
const LEFT_OUT_MS = DAY_MS;

/** The fields that an instance does not send, so that they are not requested from it for a day. */
export class WithheldFields<Field extends string> {
  readonly #clock: Clock;
  /** End of each, on the monotonic clock. */
  readonly #until = new Map<Field, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(fields: Iterable<Field>): void {
    for (const field of fields) this.#until.set(field, this.#clock.monotonic() + LEFT_OUT_MS);
  }

  /** Those that are left out now, in alphabetical order. */
  list(): Field[] {
    const now = this.#clock.monotonic();
    return [...this.#until].flatMap(([field, until]) => (until > now ? [field] : [])).sort();
  }
}
