import { SetCondition } from "./conditions.js";
import { codeAtMost } from "./keys.js";
import { BLOCK } from "./matches.js";
import type { Order } from "./order.js";
import type { Topics } from "./parts.js";

/** Counts slots by the values that they have in one dimension. */
export interface Counter {
  /** Counts the first `count` slots of a block. */
  add(block: Uint32Array, count: number): void;
  /** The counts so far. */
  counts(): Uint32Array;
}

/**
 * Counts by code: that of a name, 0 for none. Every other slot is counted apart: most neighbours have the same code, and adding to a
 * count waits until the addition before it is in memory, which doubles the time.
 */
export class CodeCounter implements Counter {
  readonly #codes: Uint16Array;
  readonly #even: Uint32Array;
  readonly #odd: Uint32Array;

  constructor(codes: Uint16Array, names: number) {
    this.#codes = codes;
    this.#even = new Uint32Array(names + 1);
    this.#odd = new Uint32Array(names + 1);
  }

  add(block: Uint32Array, count: number): void {
    const codes = this.#codes;
    const even = this.#even;
    const odd = this.#odd;
    for (let i = 1; i < count; i += 2) {
      const one = codes[block[i - 1] ?? 0] ?? 0;
      const other = codes[block[i] ?? 0] ?? 0;
      even[one] = (even[one] ?? 0) + 1;
      odd[other] = (odd[other] ?? 0) + 1;
    }
    if (count % 2 === 0) return;
    const last = codes[block[count - 1] ?? 0] ?? 0;
    even[last] = (even[last] ?? 0) + 1;
  }

  counts(): Uint32Array {
    return this.#even.map((count, code) => count + (this.#odd[code] ?? 0));
  }
}

/** By slot of a block: its code less 1. Without a key the code is 0, and becomes the highest number, which no bound counts. */
const RANKS = new Uint32Array(BLOCK);

/** Counts, for each bound, the slots whose key is at least that. */
export class BoundCounter implements Counter {
  readonly #cells: Uint16Array | Uint32Array;
  /** The last code that counts, by bound. */
  readonly #last: Uint32Array;
  readonly #counts: Uint32Array;

  constructor({ keys, cells }: Order & { cells: Uint16Array | Uint32Array }, bounds: readonly number[]) {
    this.#cells = cells;
    this.#last = Uint32Array.from(bounds, (bound) => codeAtMost(keys, bound - 1) - 1);
    this.#counts = new Uint32Array(bounds.length);
  }

  add(block: Uint32Array, count: number): void {
    const cells = this.#cells;
    const ranks = RANKS;
    // Reading the code of a slot costs more than comparing it, so it is read once for all bounds.
    for (let i = 0; i < count; i++) ranks[i] = (cells[block[i] ?? 0] ?? 0) - 1;
    for (let bound = 0; bound < this.#last.length; bound++) {
      const last = this.#last[bound] ?? 0;
      let found = 0;
      // A branch would cost three times as much.
      for (let i = 0; i < count; i++) found += Number((ranks[i] ?? 0) < last);
      this.#counts[bound] = (this.#counts[bound] ?? 0) + found;
    }
  }

  counts(): Uint32Array {
    return this.#counts;
  }
}

/** Repositories of topics that are looked at; the topics with most repositories come first. */
const MOST_MEMBERS = 2_000_000;

/** Counts by topic: collects the slots, then looks which of each topic's are among them. Leaves out the rarest topics of very many. */
export class TopicCounter implements Counter {
  readonly #topics: Topics;
  readonly #found: SetCondition;

  constructor(topics: Topics, slots: number) {
    this.#topics = topics;
    this.#found = new SetCondition(slots);
  }

  add(block: Uint32Array, count: number): void {
    this.#found.add(block, 0, count);
  }

  counts(): Uint32Array {
    const { names, offsets, slots } = this.#topics;
    const counts = new Uint32Array(names.length);
    if (this.#found.size === 0) return counts;
    for (let topic = 0; topic < names.length; topic++) {
      const end = offsets[topic + 1] ?? 0;
      if (end > MOST_MEMBERS) break;
      counts[topic] = this.#found.count(slots, offsets[topic] ?? 0, end);
    }
    return counts;
  }
}
