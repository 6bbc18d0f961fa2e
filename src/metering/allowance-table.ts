import { getRandomValues } from "node:crypto";

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

/** Key of a hash: 64 random bits, as two 32-bit integers. */
export type HashKey = readonly [number, number];

const rotate = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));

/**
 * HalfSipHash-2-4 (Aumasson and Bernstein) of an ASCII text: 64 bits, as two 32-bit integers. Without the key nobody can find
 * colliding texts. Suited to short texts and 32-bit arithmetic, which is what JavaScript has.
 */
export class KeyedHash {
  readonly #key: HashKey;
  #v0 = 0;
  #v1 = 0;
  #v2 = 0;
  #v3 = 0;
  /** The two halves of the last hash; fields, to avoid allocation. */
  low = 0;
  high = 0;

  constructor(key: HashKey) {
    this.#key = key;
  }

  /** Hashes a text into `low` and `high`. */
  hash(text: string): void {
    const [k0, k1] = this.#key;
    this.#v0 = k0;
    this.#v1 = k1 ^ 0xee;
    this.#v2 = k0 ^ 0x6c796765;
    this.#v3 = k1 ^ 0x74656462;
    const whole = text.length & ~3;
    for (let i = 0; i < whole; i += 4) {
      this.#absorb(
        text.charCodeAt(i) |
          (text.charCodeAt(i + 1) << 8) |
          (text.charCodeAt(i + 2) << 16) |
          (text.charCodeAt(i + 3) << 24),
      );
    }
    let last = text.length << 24;
    for (let i = whole; i < text.length; i++) last |= text.charCodeAt(i) << (8 * (i - whole));
    this.#absorb(last);
    this.#v2 ^= 0xee;
    this.#rounds(4);
    this.low = (this.#v1 ^ this.#v3) >>> 0;
    this.#v1 ^= 0xdd;
    this.#rounds(4);
    this.high = (this.#v1 ^ this.#v3) >>> 0;
  }

  #absorb(word: number): void {
    this.#v3 ^= word;
    this.#rounds(2);
    this.#v0 ^= word;
  }

  #rounds(count: number): void {
    let v0 = this.#v0;
    let v1 = this.#v1;
    let v2 = this.#v2;
    let v3 = this.#v3;
    for (let i = 0; i < count; i++) {
      v0 = (v0 + v1) | 0;
      v1 = rotate(v1, 5) ^ v0;
      v0 = rotate(v0, 16);
      v2 = (v2 + v3) | 0;
      v3 = rotate(v3, 8) ^ v2;
      v0 = (v0 + v3) | 0;
      v3 = rotate(v3, 7) ^ v0;
      v2 = (v2 + v1) | 0;
      v1 = rotate(v1, 13) ^ v2;
      v2 = rotate(v2, 16);
    }
    this.#v0 = v0;
    this.#v1 = v1;
    this.#v2 = v2;
    this.#v3 = v3;
  }
}
