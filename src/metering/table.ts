import { getRandomValues } from "node:crypto";
import { type HashKey, KeyedHash } from "./keyed-hash.js";

/** Places that one caller may take; they are next to each other. */
const WAYS = 16;
const DEFAULT_ENTRIES = 2 ** 21;
/** Bytes of one place: a time and a tag. */
const ENTRY_BYTES = 12;
/** How often a lock is tried before the thread sleeps: whoever holds it may have been put aside by the machine. */
const SPINS = 200;
const NAP_MS = 1;

/** The memory of a table, as it is handed to other threads. */
export interface TableMemory {
  buffer: SharedArrayBuffer;
  /** The same in all threads, or they would not find each other's places. */
  key: HashKey;
}

/** New, empty memory. `entries`: a power of two, from 16 on; `key`: random, so that nobody can aim at a place. */
export function createTableMemory(entries = DEFAULT_ENTRIES, key: HashKey = randomKey()): TableMemory {
  return { buffer: new SharedArrayBuffer(entries * ENTRY_BYTES + (entries / WAYS) * 4), key };
}

/**
 * Who owes until when, by name, in memory that never grows and that threads may share. A name's place is one of sixteen that
 * a keyed hash chooses. When all are taken, the one that owes least goes, which is one that owes nothing wherever
 * there is such a one; whoever takes its place takes over its debt (Space-Saving, Metwally et al. 2005).
 *
 * `open` finds a place and holds its lock until `shut`; between the two nothing may throw or wait.
 */
export class Table {
  readonly #hash: KeyedHash;
  /** When nothing is owed any more. */
  readonly #clearAt: Float64Array;
  readonly #tags: Uint32Array;
  /** One lock for each set of sixteen; 1 while it is held. */
  readonly #locks: Int32Array;
  readonly #setMask: number;
  #set = 0;
  #slot = 0;

  constructor({ buffer, key }: TableMemory) {
    const sets = buffer.byteLength / (WAYS * ENTRY_BYTES + 4);
    const entries = sets * WAYS;
    this.#hash = new KeyedHash(key);
    this.#clearAt = new Float64Array(buffer, 0, entries);
    this.#tags = new Uint32Array(buffer, entries * 8, entries);
    this.#locks = new Int32Array(buffer, entries * ENTRY_BYTES, sets);
    this.#setMask = sets - 1;
  }

  /** Bytes it has, whatever it holds. */
  get bytes(): number {
    return this.#clearAt.buffer.byteLength;
  }

  /** Goes to the place of a name, or the one it would take. Returns when nothing is owed there any more. */
  open(name: string): number {
    this.#hash.hash(name);
    this.#set = this.#hash.low & this.#setMask;
    this.#lock();
    const tag = this.#hash.high;
    const first = this.#set * WAYS;
    let leastAt = Number.POSITIVE_INFINITY;
    for (let slot = first; slot < first + WAYS; slot++) {
      const clearAt = this.#clearAt[slot] ?? 0;
      if (this.#tags[slot] === tag) {
        this.#slot = slot;
        return clearAt;
      }
      if (clearAt < leastAt) {
        leastAt = clearAt;
        this.#slot = slot;
      }
    }
    return leastAt;
  }

  /** Whether the open place is the name's own, and not one that it would take from another. */
  get isOwn(): boolean {
    return this.#tags[this.#slot] === this.#hash.high;
  }

  /** Takes the open place for the name. */
  write(clearAt: number): void {
    this.#tags[this.#slot] = this.#hash.high;
    this.#clearAt[this.#slot] = clearAt;
  }

  shut(): void {
    Atomics.store(this.#locks, this.#set, 0);
  }

  #lock(): void {
    for (let tries = 1; Atomics.compareExchange(this.#locks, this.#set, 0, 1) !== 0; tries++) {
      if (tries % SPINS === 0) Atomics.wait(this.#locks, this.#set, 1, NAP_MS);
    }
  }
}

function randomKey(): HashKey {
  const [low = 0, high = 0] = getRandomValues(new Uint32Array(2));
  return [low, high];
}
