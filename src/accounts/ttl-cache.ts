import type { Clock } from "../clock.js";

const TTL_MS = 5_000;
/** Beyond this, the oldest entries are evicted. */
const MAX_ENTRIES = 10_000;

interface Entry<T> {
  value: T | undefined;
  /** Monotonic. */
  readAt: number;
}

/**
 * Caches whom a secret belongs to, by the hash of the secret, so that a request need not read the database. An entry is at
 * most five seconds old, and `clear` discards all of them immediately.
 */
export class TtlCache<T> {
  readonly #clock: Clock;
  readonly #cachesMisses: boolean;
  readonly #entries = new Map<string, Entry<T>>();
  /** Grows with each `clear`: a value that was being read then is not cached. */
  #clears = 0;

  /** `cachesMisses`: also caches that a hash belongs to nobody. Many misses evict other entries, which are then read again. */
  constructor(clock: Clock, cachesMisses: boolean) {
    this.#clock = clock;
    this.#cachesMisses = cachesMisses;
  }

  /** The cached value, else what `read` returns. */
  async find(hash: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const entry = this.#entries.get(hash);
    if (entry !== undefined && this.#clock.monotonic() - entry.readAt < TTL_MS) return entry.value;
    return this.refresh(hash, read);
  }

  /** What `read` returns, which is cached for `find`. */
  async refresh(hash: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const readAt = this.#clock.monotonic();
    const clears = this.#clears;
    const value = await read();
    this.#entries.delete(hash);
    if (clears === this.#clears && (value !== undefined || this.#cachesMisses))
      this.#entries.set(hash, { value, readAt });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES) break;
      this.#entries.delete(oldest);
    }
    return value;
  }

  clear(): void {
    this.#clears++;
    this.#entries.clear();
  }
}
