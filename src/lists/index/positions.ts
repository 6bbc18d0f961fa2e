import type { RowKey } from "../spec.js";
import { keyCount, UNKNOWN } from "./keys.js";
import { boundAfter, type CodeRange, type Direction, type Order } from "./order.js";

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
