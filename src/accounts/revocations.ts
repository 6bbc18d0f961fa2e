/**
 * Counts the keys, sessions and accounts that were revoked, in memory that threads may share. Caches compare the count, so all
 * threads see a revocation immediately.
 */
export class Revocations {
  /** Can be handed to other threads. */
  readonly memory: SharedArrayBuffer;
  readonly #counts: Int32Array<SharedArrayBuffer>;
  readonly #publish: () => Promise<void>;

  /** `publish`: tells other processes; must not throw. */
  constructor(
    memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
    publish: () => Promise<void> = async () => {},
  ) {
    this.memory = memory;
    this.#counts = new Int32Array(memory);
    this.#publish = publish;
  }

  /** Differs after each revocation. */
  get count(): number {
    return Atomics.load(this.#counts, 0);
  }

  /** Makes caches discard what they have, here immediately, and in other processes before it resolves, if they can be reached. */
  announce(): Promise<void> {
    this.note();
    return this.#publish();
  }

  /** The same for a revocation by another process. */
  note(): void {
    Atomics.add(this.#counts, 0, 1);
  }
}
