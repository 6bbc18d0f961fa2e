import { hash, randomBytes } from "node:crypto";

/** Entries of a set; a name can be in any of them. */
const WAYS = 16;
const DEFAULT_ENTRIES = 2 ** 21;
const ENTRY_BYTES = 8;
/** An entry holds a tag in its upper 20 bits and a time in the 44 below: whole microseconds, which return after 203 days. */
const TAG_SHIFT = 12;
const HIGH_TIME_MASK = (1 << TAG_SHIFT) - 1;
const TIME_SPAN = 2 ** 44;
/** Times further ahead than this, over an hour, have passed. */
const MAX_AHEAD = 2 ** 32;

/** The memory of a table, which can be handed to other threads. */
export interface TableMemory {
  buffer: SharedArrayBuffer;
  /** The same in all threads, so that they find each other's entries, and secret, so that nobody can aim at an entry. */
  secret: string;
}

/** New, empty memory. `entries`: a power of two, at least 16. */
export function createTableMemory(
  entries = DEFAULT_ENTRIES,
  secret = randomBytes(16).toString("hex"),
): TableMemory {
  return { buffer: new SharedArrayBuffer(entries * ENTRY_BYTES), secret };
}

/** Where the entry of a name is found. */
export interface Slot {
  /** Index of the first entry of its set. */
  readonly first: number;
  /** 1 to 2^20 - 1: tells the names of a set apart. */
  readonly tag: number;
}

/**
 * Until when each name owes, in memory of fixed size that threads may share. Each entry is one word, changed by compare-and-swap: no
 * thread waits for another, and one that dies leaves nothing behind. A secret hash picks the set of sixteen entries a name belongs
 * to. In a full set, the entry that owes least is evicted, which owes nothing if there is such an entry; the new name
 * inherits its debt (Space-Saving, Metwally et al. 2005).
 */
export class AllowanceTable {
  readonly #secret: string;
  readonly #setMask: number;
  readonly #words: BigInt64Array<SharedArrayBuffer>;
  /** The same memory as halves of words, the lower half first. */
  readonly #halves: Int32Array<SharedArrayBuffer>;
  readonly #scratchHalves = new Int32Array(2);
  readonly #scratch = new BigInt64Array(this.#scratchHalves.buffer);
  #index = 0;
  #word = 0n;
  #isOwn = false;

  constructor({ buffer, secret }: TableMemory) {
    this.#secret = secret;
    this.#words = new BigInt64Array(buffer);
    this.#halves = new Int32Array(buffer);
    this.#setMask = this.#words.length / WAYS - 1;
  }

  /** Takes some microseconds, so callers keep it. */
  slotOf(name: string): Slot {
    const digest = hash("sha256", this.#secret + name, "buffer");
    return {
      first: (digest.readUInt32LE(0) & this.#setMask) * WAYS,
      tag: 1 + (digest.readUInt32LE(4) % (2 ** 20 - 1)),
    };
  }

  /** Finds the entry of a slot, or the one it would take over. Returns what is owed there, in microseconds; at most `most`. */
  find({ first, tag }: Slot, now: number, most: number): number {
    let least = Number.POSITIVE_INFINITY;
    for (let entry = first; entry < first + WAYS; entry++) {
      const high = Atomics.load(this.#halves, 2 * entry + 1);
      this.#isOwn = high >>> TAG_SHIFT === tag;
      const owes = this.#isOwn ? -1 : owed(Atomics.load(this.#halves, 2 * entry), high, now);
      if (owes >= least) continue;
      least = owes;
      this.#index = entry;
      if (this.#isOwn) break;
    }
    this.#word = Atomics.load(this.#words, this.#index);
    this.#scratch[0] = this.#word;
    const [low = 0, high = 0] = this.#scratchHalves;
    // It may have changed since.
    this.#isOwn = high >>> TAG_SHIFT === tag;
    return Math.min(owed(low, high, now), most);
  }

  /** Whether the entry that was found belongs to its name already. */
  get isOwn(): boolean {
    return this.#isOwn;
  }

  /**
   * Stores what is owed in the entry that was found, and takes it over if necessary. Returns false where another thread has
   * changed it since; then the entry must be found again.
   */
  store({ first, tag }: Slot, now: number, owes: number): boolean {
    const clearAt = (now + owes) % TIME_SPAN;
    this.#scratchHalves[0] = clearAt | 0;
    this.#scratchHalves[1] = (tag << TAG_SHIFT) | Math.floor(clearAt / 2 ** 32);
    const word = this.#scratch[0] ?? 0n;
    if (Atomics.compareExchange(this.#words, this.#index, this.#word, word) !== this.#word) return false;
    if (this.#isOwn || !this.#isElsewhere(first, tag)) return true;
    // Another thread has just taken over another entry for the same name: it gives way, or this one does, or both.
    return Atomics.compareExchange(this.#words, this.#index, word, this.#word) !== word;
  }

  #isElsewhere(first: number, tag: number): boolean {
    for (let entry = first; entry < first + WAYS; entry++) {
      if (entry !== this.#index && Atomics.load(this.#halves, 2 * entry + 1) >>> TAG_SHIFT === tag)
        return true;
    }
    return false;
  }
}

/** Microseconds owed; 0 for a time that has passed. */
function owed(low: number, high: number, now: number): number {
  const clearAt = (high & HIGH_TIME_MASK) * 2 ** 32 + (low >>> 0);
  const ahead = clearAt - (now % TIME_SPAN);
  const wrapped = ahead < 0 ? ahead + TIME_SPAN : ahead;
  return wrapped < MAX_AHEAD ? wrapped : 0;
}
