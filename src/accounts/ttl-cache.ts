import { LRUCache } from "lru-cache";
import type { Clock } from "../lib/clock.js";

/** How old the holder of a secret may be. */
const TTL_MS = 5_000;
/** How long it is known that a secret belongs to nobody. It never belongs to somebody later. */
const MISS_TTL_MS = 60_000;
/** How long a secret that was valid is familiar. */
const FAMILIAR_MS = 600_000;
const MAX_ENTRIES = 10_000;

interface Entry<T> {
  reading: Promise<T | undefined>;
  /** The value that was read; undefined while the read is in flight. */
  found: { value: T | undefined } | undefined;
  /** When the read began. Monotonic. */
  readAt: number;
  /** Count of revocations when the read began. */
  revocations: number;
}

/**
 * Caches whom a secret belongs to, by the hash of the secret, so that a request need not read the database. An entry is at
 * most five seconds old, one of nobody a minute, and none outlives a revocation.
 */
export class TtlCache<T> {
  readonly #entries = new LRUCache<string, Entry<T>>({ max: MAX_ENTRIES });
  /** When a secret was last found valid. Grants nothing but a read, so a revocation leaves it; the read that finds it ends it. */
  readonly #familiar = new LRUCache<string, number>({ max: MAX_ENTRIES });

  constructor(
    private readonly clock: Clock,
    private readonly revocations: Revocations,
  ) {}

  /** The cached value of a hash, which may be undefined; undefined if `find` must read or wait for it. */
  peek(hash: string): { readonly value: T | undefined } | undefined {
    return this.#fresh(hash)?.found;
  }

  /** Whether `find` reads nothing, or the secret was valid in the last ten minutes. */
  isFamiliar(hash: string): boolean {
    const at = this.#familiar.get(hash);
    return this.#fresh(hash) !== undefined || (at !== undefined && this.clock.monotonic() - at < FAMILIAR_MS);
  }

  /** The cached value, else the result of `read`. Concurrent calls share one read, unless something was revoked since it began. */
  find(hash: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    return this.#fresh(hash)?.reading ?? this.refresh(hash, read);
  }

  /** The result of `read`, which is cached for `find`. */
  refresh(hash: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const readAt = this.clock.monotonic();
    const entry: Entry<T> = {
      readAt,
      revocations: this.revocations.count,
      found: undefined,
      reading: read().then(
        (value) => {
          entry.found = { value };
          if (value === undefined) this.#familiar.delete(hash);
          else this.#familiar.set(hash, readAt);
          return value;
        },
        (error: unknown) => {
          if (this.#entries.peek(hash) === entry) this.#entries.delete(hash);
          throw error;
        },
      ),
    };
    this.#entries.set(hash, entry);
    return entry.reading;
  }

  #fresh(hash: string): Entry<T> | undefined {
    const entry = this.#entries.get(hash);
    if (entry === undefined || entry.revocations !== this.revocations.count) return undefined;
    const isMiss = entry.found !== undefined && entry.found.value === undefined;
    return this.clock.monotonic() - entry.readAt < (isMiss ? MISS_TTL_MS : TTL_MS) ? entry : undefined;
  }
}

/** Counts the keys, sessions and accounts that were revoked. A cached entry is valid only while the count is the same. */
export class Revocations {
  count = 0;

  /** `publish`: announces a revocation to other processes; must not throw. */
  constructor(private readonly publish = async () => {}) {}

  /** Makes all cached entries invalid, here immediately, and in other processes before it resolves, if they can be reached. */
  announce(): Promise<void> {
    this.note();
    return this.publish();
  }

  /** The same for a revocation by another process. */
  note(): void {
    this.count++;
  }
}
