import type { Logger } from "./log.js";

/** Writes that no response waits for, one after the other. One that fails is logged, and the next ones go on. */
export class BackgroundWrites {
  readonly #log: Logger;
  #last: Promise<unknown> = Promise.resolve();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** `failure`: the message to log if the write fails, with `details`. */
  add(write: () => Promise<unknown>, failure: string, details: object = {}): void {
    this.#last = this.#last
      .then(write)
      .catch((error: unknown) => this.#log.error({ err: error, ...details }, failure));
  }

  /** Resolves when all pending writes have ended. */
  async flush(): Promise<void> {
    await this.#last;
  }
}
