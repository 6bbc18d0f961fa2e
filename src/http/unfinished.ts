/** Counts work that is going on, so that what it needs can be closed after it. */
export class Unfinished {
  #count = 0;
  #ended = Promise.withResolvers<void>();

  /** Runs work, and counts it until it has settled. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#count++;
    try {
      return await work();
    } finally {
      if (--this.#count === 0) {
        this.#ended.resolve();
        this.#ended = Promise.withResolvers();
      }
    }
  }

  /** Resolves when nothing is going on. */
  async none(): Promise<void> {
    while (this.#count > 0) await this.#ended.promise;
  }
}
