/** Whom secrets belong to, cached for seconds and until something is revoked. */
import type { Clock } from "../lib/clock.js";

/** How old the holder of a secret may be. */
const TTL_MS = 5_000;
/** How long it is known that a secret belongs to nobody. It never belongs to somebody later. */
const MISS_TTL_MS = 60_000;
/** How long a secret that was valid is familiar. */
const FAMILIAR_MS = 600_000;
/** Beyond this, the oldest entries are evicted. */
const MAX_ENTRIES = 10_000;

interface Entry<T> {
  value: T | undefined;
  /** Monotonic. */
  readAt: number;
}

interface Reading<T> {
  value: Promise<T | undefined>;
  /** Monotonic. */
  beganAt: number;
  /** Count of revocations when it began. */
  revocations: number;
}

export interface TtlCacheOptions {
  clock: Clock;
  /** Each of them discards all entries. */
  revocations: Revocations;
}

/**
 * Caches whom a secret belongs to, by the hash of the secret, so that a request need not read the database. An entry is at
 * most five seconds old, one of nobody a minute, and none outlives a revocation.
 */
export class TtlCache<T> {
  readonly #options: TtlCacheOptions;
  readonly #entries = new Map<string, Entry<T>>();
  /** When a secret was last found valid. Grants nothing but a read, so a revocation leaves it; the read that finds it ends it. */
  readonly #familiar = new Map<string, number>();
  /** Reads of `find` in flight. */
  readonly #readings = new Map<string, Reading<T>>();
  /** Count of revocations that the entries follow. */
  #revocations = 0;

  constructor(options: TtlCacheOptions) {
    this.#options = options;
  }

  /** The cached entry of a hash, whose value may be undefined; undefined without one. */
  peek(hash: string): { readonly value: T | undefined } | undefined {
    this.#discardRevoked();
    const entry = this.#entries.get(hash);
    if (entry === undefined) return undefined;
    const ttl = entry.value === undefined ? MISS_TTL_MS : TTL_MS;
    return this.#options.clock.monotonic() - entry.readAt < ttl ? entry : undefined;
  }

  /** Whether `find` reads nothing, or the secret was valid in the last ten minutes. */
  isFamiliar(hash: string): boolean {
    if (this.peek(hash) !== undefined) return true;
    const at = this.#familiar.get(hash);
    return at !== undefined && this.#options.clock.monotonic() - at < FAMILIAR_MS;
  }

  /** The cached value, else what `read` returns. Concurrent calls share one read, unless something was revoked since it began. */
  async find(hash: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const entry = this.peek(hash);
    if (entry !== undefined) return entry.value;
    const beganAt = this.#options.clock.monotonic();
    const revocations = this.#revocations;
    const known = this.#readings.get(hash);
    // A slow read may be older than an entry may be.
    if (known?.revocations === revocations && beganAt - known.beganAt < TTL_MS) return known.value;
    const reading: Reading<T> = { value: this.refresh(hash, read), beganAt, revocations };
    this.#readings.set(hash, reading);
    try {
      return await reading.value;
    } finally {
      if (this.#readings.get(hash) === reading) this.#readings.delete(hash);
    }
  }

  /** What `read` returns, which is cached for `find`. */
  async refresh(hash: string, read: () => Promise<T | undefined>): Promise<T | undefined> {
    const { clock, revocations } = this.#options;
    const readAt = clock.monotonic();
    const { count } = revocations;
    const value = await read();
    this.#discardRevoked();
    this.#familiar.delete(hash);
    if (value !== undefined) keepNewest(this.#familiar, hash, readAt);
    this.#entries.delete(hash);
    // A value that was read before a revocation may have been revoked.
    if (count === this.#revocations) keepNewest(this.#entries, hash, { value, readAt });
    return value;
  }

  #discardRevoked(): void {
    const { count } = this.#options.revocations;
    if (count === this.#revocations) return;
    this.#revocations = count;
    this.#entries.clear();
  }
}

/** Adds an entry at the end of a map, and evicts the oldest beyond MAX_ENTRIES. */
function keepNewest<V>(map: Map<string, V>, key: string, value: V): void {
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= MAX_ENTRIES) break;
    map.delete(oldest);
  }
}

/** Counts the keys, sessions and accounts that were revoked. Caches compare the count before each use. */
export class Revocations {
  #count = 0;
  readonly #publish: () => Promise<void>;

  /** `publish`: announces a revocation to other processes; must not throw. */
  constructor(publish: () => Promise<void> = async () => {}) {
    this.#publish = publish;
  }

  /** Differs after each revocation. */
  get count(): number {
    return this.#count;
  }

  /** Makes all caches discard their entries, here immediately, and in other processes before it resolves, if they can be reached. */
  announce(): Promise<void> {
    this.note();
    return this.#publish();
  }

  /** The same for a revocation by another process. */
  note(): void {
    this.#count++;
  }
}
