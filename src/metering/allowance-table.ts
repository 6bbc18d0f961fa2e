import { getRandomValues } from "node:crypto";
import { type HashKey, KeyedHash } from "./keyed-hash.js";

/** Entries of a set; a caller can be in any of them. */
const WAYS = 16;
const DEFAULT_ENTRIES = 2 ** 21;
/** A time (8 bytes) and a tag (4). */
const ENTRY_BYTES = 12;
/** Attempts to get a lock before the thread sleeps: its holder may have been preempted. */
const SPINS = 200;
const SLEEP_MS = 1;

/** The memory of a table, which can be handed to other threads. */
export interface TableMemory {
  buffer: SharedArrayBuffer;
  /** The same in all threads, so that they find each other's entries. */
  key: HashKey;
}

/** New, empty memory. `entries`: a power of two, at least 16; `key`: random, so that nobody can aim at an entry. */
export function createTableMemory(entries = DEFAULT_ENTRIES, key: HashKey = randomKey()): TableMemory {
  return { buffer: new SharedArrayBuffer(entries * ENTRY_BYTES + (entries / WAYS) * 4), key };
}

/**
 * Until when each caller owes, in memory of fixed size that threads may share. A keyed hash picks the set of sixteen entries a
 * name belongs to. In a full set, the entry that owes least is evicted, which owes nothing if there is such an entry; the
 * new name inherits its debt (Space-Saving, Metwally et al. 2005).
 *
 * `open` finds an entry and holds the lock of its set until `close`; between the two nothing may throw or wait.
 */
export class AllowanceTable {
  readonly #hash: KeyedHash;
  readonly #clearAt: Float64Array;
  readonly #tags: Uint32Array;
  /** One lock per set; 1 while it is held. */
  readonly #locks: Int32Array;
  readonly #setMask: number;
  #set = 0;
  #entry = 0;

  constructor({ buffer, key }: TableMemory) {
    const sets = buffer.byteLength / (WAYS * ENTRY_BYTES + 4);
    const entries = sets * WAYS;
    this.#hash = new KeyedHash(key);
    this.#clearAt = new Float64Array(buffer, 0, entries);
    this.#tags = new Uint32Array(buffer, entries * 8, entries);
    this.#locks = new Int32Array(buffer, entries * ENTRY_BYTES, sets);
    this.#setMask = sets - 1;
  }

  /** Finds the entry of a name, or the one it would take over. Returns the time at which nothing is owed there any more. */
  open(name: string): number {
    this.#hash.hash(name);
    this.#set = this.#hash.low & this.#setMask;
    this.#lock();
    const tag = this.#hash.high;
    const first = this.#set * WAYS;
    let leastAt = Number.POSITIVE_INFINITY;
    for (let entry = first; entry < first + WAYS; entry++) {
      const clearAt = this.#clearAt[entry] ?? 0;
      if (this.#tags[entry] === tag) {
        this.#entry = entry;
        return clearAt;
      }
      if (clearAt < leastAt) {
        leastAt = clearAt;
        this.#entry = entry;
      }
    }
    return leastAt;
  }

  /** Whether the open entry belongs to the name already. */
  get isOwn(): boolean {
    return this.#tags[this.#entry] === this.#hash.high;
  }

  /** Stores a time in the open entry, taking it over if necessary. */
  write(clearAt: number): void {
    this.#tags[this.#entry] = this.#hash.high;
    this.#clearAt[this.#entry] = clearAt;
  }

  close(): void {
    Atomics.store(this.#locks, this.#set, 0);
  }

  #lock(): void {
    for (let tries = 1; Atomics.compareExchange(this.#locks, this.#set, 0, 1) !== 0; tries++) {
      if (tries % SPINS === 0) Atomics.wait(this.#locks, this.#set, 1, SLEEP_MS);
    }
  }
}

function randomKey(): HashKey {
  const [low = 0, high = 0] = getRandomValues(new Uint32Array(2));
  return [low, high];
}
