/**
 * Counts the keys, sessions and accounts that were revoked, in memory that threads may share. Caches compare the count, so all
 * threads see a revocation immediately.
 */
export class Revocations {
  /** Can be handed to other threads. */
  readonly memory: SharedArrayBuffer;
  readonly #counts: Int32Array<SharedArrayBuffer>;

  constructor(memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#counts = new Int32Array(memory);
  }

  /** Differs after each revocation. */
  get count(): number {
    return Atomics.load(this.#counts, 0);
  }

  announce(): void {
    Atomics.add(this.#counts, 0, 1);
  }
}
