import { LRUCache } from "lru-cache";

/** Share of the cache for entries that have been used again. */
const PROTECTED = 0.8;

interface SegmentedCacheOptions<Value> {
  /** Bound of the sizes of all entries together; at least 10. */
  maxSize: number;
  /** Bound of the entries in each segment. */
  maxEntries: number;
  /** A whole number from 1. */
  sizeOf: (value: Value, key: string) => number;
}

/**
 * A segmented LRU cache (Karedla, Love and Wherry, 1994): a new entry is on probation, and its first use moves it to the protected
 * segment, from which it falls back. So a scan of keys that are each used once evicts only other entries on probation. These
 * have all the room that the protected ones leave.
 */
export class SegmentedCache<Value extends object> {
  readonly #maxSize: number;
  readonly #probation: LRUCache<string, Value>;
  readonly #protected: LRUCache<string, Value>;

  constructor({ maxSize, maxEntries, sizeOf }: SegmentedCacheOptions<Value>) {
    const options = { max: maxEntries, sizeCalculation: sizeOf };
    this.#maxSize = maxSize;
    this.#probation = new LRUCache({ ...options, maxSize });
    this.#protected = new LRUCache({
      ...options,
      maxSize: Math.floor(maxSize * PROTECTED),
      dispose: (value, key, reason) => {
        if (reason === "evict") this.#probation.set(key, value);
      },
    });
  }

  /** The value of a key, which counts as a use. */
  get(key: string): Value | undefined {
    const known = this.#protected.get(key);
    if (known !== undefined) return known;
    const value = this.#probation.get(key);
    if (value === undefined) return undefined;
    this.#protected.set(key, value);
    // One too large for the protected segment stays on probation.
    if (this.#protected.has(key)) this.#probation.delete(key);
    return value;
  }

  get count(): number {
    return this.#probation.size + this.#protected.size;
  }

  /** Sizes of all values together. */
  get size(): number {
    return this.#probation.calculatedSize + this.#protected.calculatedSize;
  }

  /** Adds or replaces a value. A new one begins on probation; one that is larger than the cache is not kept. */
  set(key: string, value: Value): void {
    const segment = this.#protected.has(key) ? this.#protected : this.#probation;
    segment.set(key, value);
    while (this.size > this.#maxSize) this.#probation.pop();
  }
}
