import type { RowKey } from "../spec.js";
import { boundAfter, type Direction, keyCount, type Order, UNKNOWN } from "./order.js";

/** Bound of the slots that are sorted: a code and a number below this fit in a double exactly. */
export const TIES = 2 ** 14;

/** Slots compared with one another to estimate how far the first ones of a list reach. */
const SAMPLE = 256;
/** Estimates are made for more slots than are wanted, as they are rough. */
const MARGIN = 3;

export interface Unsorted {
  /** Ascending, fewer than TIES. */
  slots: Uint32Array;
  cells: Uint16Array | Uint32Array;
  order: Order;
  direction: Direction;
  /** The row that the list begins after; undefined: all slots are in it. */
  after: RowKey | undefined;
}

/** Slots in the order of a list, sorted as far as they are read: a page is a small part of most lists. */
export class SortedSlots {
  readonly #slots: Uint32Array;
  readonly #isDown: boolean;
  /** The rank and the tie of each slot in one number, in any order. */
  readonly #packed: Float64Array;
  /** The lowest of them, ascending. */
  #sorted = new Float64Array(0);

  constructor({ slots, cells, order, direction, after }: Unsorted) {
    const isDown = direction === "desc";
    const last = keyCount(order.keys);
    const bound = after && boundOf(order, after, direction);
    const first = bound?.rank ?? -1;
    const count = slots.length;
    const packed = new Float64Array(count);
    let size = 0;
    for (let i = 0; i < count; i++) {
      const slot = slots[i] ?? 0;
      const rank = rankOf(cells[slot] ?? UNKNOWN, last, isDown);
      if (rank < first) continue;
      if (rank === first && bound !== undefined && !(isDown ? slot < bound.slot : slot > bound.slot))
        continue;
      packed[size++] = rank * TIES + (isDown ? count - 1 - i : i);
    }
    this.#slots = slots;
    this.#isDown = isDown;
    this.#packed = packed.subarray(0, size);
  }

  /** The slots from one index to another, which is excluded; fewer at the end of the list. */
  slice(from: number, to: number): number[] {
    this.#sort(Math.min(to, this.#packed.length));
    const { length } = this.#slots;
    const slots: number[] = [];
    for (const packed of this.#sorted.subarray(from, to)) {
      const tie = packed % TIES;
      slots.push(this.#slots[this.#isDown ? length - 1 - tie : tie] ?? 0);
    }
    return slots;
  }

  #sort(count: number): void {
    if (count <= this.#sorted.length) return;
    const lowest = this.#lowest(count);
    this.#sorted = lowest.length < count ? this.#packed.toSorted() : lowest.sort();
  }

  /** Probably somewhat more than the `count` lowest ones, but perhaps fewer. */
  #lowest(count: number): Float64Array<ArrayBuffer> {
    const all = this.#packed;
    const share = (MARGIN * count) / all.length;
    if (share > 0.5 || all.length < 2 * SAMPLE) return all.slice();
    const sample = Float64Array.from(
      { length: SAMPLE },
      (_, i) => all[Math.floor((i * all.length) / SAMPLE)] ?? 0,
    );
    const bound = sample.sort()[Math.ceil(share * SAMPLE) + MARGIN] ?? Number.POSITIVE_INFINITY;
    return all.filter((packed) => packed <= bound);
  }
}

/** Ascends in the direction of the list; greatest for an unknown key. `last`: the highest code. */
export function rankOf(code: number, last: number, isDown: boolean): number {
  if (code === UNKNOWN) return last + 1;
  return isDown ? code : last - code;
}

/** A point between two rows, as `boundAfter`, with the rank of its code. */
export interface RankBound {
  rank: number;
  slot: number;
}

/** The point directly after a row. */
export function boundOf(order: Order, after: RowKey, direction: Direction): RankBound {
  const { code, slot } = boundAfter(order, after);
  return { rank: rankOf(code, keyCount(order.keys), direction === "desc"), slot };
}
