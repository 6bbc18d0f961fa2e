/** The positions of slots in a list, and slots sorted by them. */
import type { RowKey } from "../spec.js";
import { boundAfter, type CodeRange, type Direction, keyCount, type Order, UNKNOWN } from "./order.js";

/** More than there are slots. A rank and a slot together fit in a double exactly. */
const SLOTS = 2 ** 27;

/**
 * Maps slots to their positions in a list, as numbers that ascend along the list. A position combines the rank of the slot's key
 * with the slot, since equal keys go by id.
 */
export class Positions {
  readonly #order: Order;
  readonly #cells: Uint16Array | Uint32Array;
  readonly #last: number;
  readonly #isDown: boolean;

  constructor(order: Order, cells: Uint16Array | Uint32Array, direction: Direction) {
    this.#order = order;
    this.#cells = cells;
    this.#last = keyCount(order.keys);
    this.#isDown = direction === "desc";
  }

  of(slot: number): number {
    return this.#at(this.#rankOf(this.#cells[slot] ?? UNKNOWN), slot);
  }

  slotAt(position: number): number {
    const tie = position % SLOTS;
    return this.#isDown ? SLOTS - 1 - tie : tie;
  }

  /** The last position that is not after a row, whether or not the row is still there. */
  upTo(row: RowKey): number {
    const { code, slot } = boundAfter(this.#order, row);
    return this.#at(this.#rankOf(code), Math.min(slot, this.#isDown ? SLOTS : SLOTS - 1));
  }

  /** The codes that lie between two positions; undefined if unknown keys do. */
  codesWithin(first: number, last: number): CodeRange | undefined {
    const from = Math.max(0, Math.floor(first / SLOTS));
    const to = Math.floor(last / SLOTS);
    if (to > this.#last) return undefined;
    return this.#isDown
      ? { first: Math.max(1, from), last: to }
      : { first: Math.max(1, this.#last - to), last: this.#last - from };
  }

  #rankOf(code: number): number {
    if (code === UNKNOWN) return this.#last + 1;
    return this.#isDown ? code : this.#last - code;
  }

  #at(rank: number, slot: number): number {
    return rank * SLOTS + (this.#isDown ? SLOTS - 1 - slot : slot);
  }
}

/** Positions in the sample that shows how far the first ones of a list reach. */
const SAMPLE = 256;
/** The estimate is rough, so it is made for this many times the slots wanted. */
const MARGIN = 3;

/** Slots in the order of a list, sorted as far as they are read: a page is a small part of most lists. */
export class SortedSlots {
  readonly #positions: Positions;
  /** Of all slots, the lowest ones that are sorted so far first. */
  readonly #all: Float64Array;
  /** The number of those. */
  #sorted = 0;

  /** Of some slots, those after a position. */
  constructor(slots: Uint32Array, positions: Positions, after: number) {
    const all = new Float64Array(slots.length);
    let size = 0;
    for (const slot of slots) {
      const position = positions.of(slot);
      if (position > after) all[size++] = position;
    }
    this.#positions = positions;
    this.#all = all.subarray(0, size);
  }

  /** The slots from one index to another, which is excluded; fewer at the end of the list. */
  slice(from: number, to: number): number[] {
    this.#sort(Math.min(to, this.#all.length));
    return Array.from(this.#all.subarray(from, to), (position) => this.#positions.slotAt(position));
  }

  #sort(count: number): void {
    if (count <= this.#sorted) return;
    const lowest = this.#moveLowest(count);
    this.#sorted = lowest < count ? this.#all.length : lowest;
    this.#all.subarray(0, this.#sorted).sort();
  }

  /** Moves the lowest ones to the front: probably somewhat more than `count`, but perhaps fewer. Returns their number. */
  #moveLowest(count: number): number {
    const all = this.#all;
    const share = (MARGIN * count) / all.length;
    if (share > 0.5 || all.length < 2 * SAMPLE) return all.length;
    const sample = new Float64Array(SAMPLE);
    for (let i = 0; i < SAMPLE; i++) sample[i] = all[Math.floor((i * all.length) / SAMPLE)] ?? 0;
    const bound = sample.sort()[Math.ceil(share * SAMPLE) + MARGIN] ?? Number.POSITIVE_INFINITY;
    let moved = 0;
    for (let i = 0; i < all.length; i++) {
      const position = all[i] ?? 0;
      if (position > bound) continue;
      all[i] = all[moved] ?? 0;
      all[moved++] = position;
    }
    return moved;
  }
}
