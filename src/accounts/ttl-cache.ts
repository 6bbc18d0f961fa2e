import type { Clock } from "../clock.js";
import type { Revocations } from "./revocations.js";

const TTL_MS = 5_000;
/** Beyond this, the oldest entries are evicted. */
const MAX_ENTRIES = 10_000;

interface Entry<T> {
  value: T | undefined;
  /** Monotonic. */
  readAt: number;
}

export interface TtlCacheOptions {
  clock: Clock;
  /** Each of them discards all entries. */
  revocations: Revocations;
  /** Also caches that a hash belongs to nobody. Many misses evict other entries, which are then read again. */
  cachesMisses: boolean;
}

/**
 * Caches whom a secret belongs to, by the hash of the secret, so that a request need not read the database. An entry is at
 * most five seconds old, and none outlives a revocation.
 */
export class TtlCache<T> {
  readonly #options: TtlCacheOptions;
  readonly #entries = new Map<string, Entry<T>>();
  /** Count of revocations that the entries follow. */
  #revocations = 0;

  constructor(options: TtlCacheOptions) {
    this.#options = options;
  }

  /** The cached entry of a hash, whose value may be undefined; undefined where there is none. */
  peek(hash: string): { readonly value: T | undefined } | undefined {
    this.#discardRevoked();
    const entry = this.#entries.get(hash);
    return entry !== undefined && this.#options.clock.monotonic() - entry.readAt < TTL_MS ? entry : undefined;
  }

  /** The cached value, else what `read` returns. */
  async find(hash: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const entry = this.peek(hash);
    return entry === undefined ? this.refresh(hash, read) : entry.value;
  }

  /** What `read` returns, which is cached for `find`. */
  async refresh(hash: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const { clock, revocations, cachesMisses } = this.#options;
    const readAt = clock.monotonic();
    const { count } = revocations;
    const value = await read();
    this.#discardRevoked();
    this.#entries.delete(hash);
    // What was read before a revocation may be what was revoked.
    if (count === this.#revocations && (value !== undefined || cachesMisses))
      this.#entries.set(hash, { value, readAt });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES) break;
      this.#entries.delete(oldest);
    }
    return value;
  }

  #discardRevoked(): void {
    const { count } = this.#options.revocations;
    if (count === this.#revocations) return;
    this.#revocations = count;
    this.#entries.clear();
  }
}
