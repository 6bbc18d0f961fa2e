import type { RowKey } from "../spec.js";
import { boundAfter, type Direction, keyCount, type Order, UNKNOWN } from "./order.js";
import { firstIndex } from "./shared-arrays.js";

/** Bound of the slots that are sorted: a code and a number below this fit in a double exactly. */
export const TIES = 2 ** 14;

/** Sorts ascending slots, fewer than TIES, into the order of the list. */
export function sortSlots(
  slots: Uint32Array,
  cells: Uint16Array | Uint32Array,
  { keys }: Order,
  direction: Direction,
): Uint32Array {
  const last = keyCount(keys);
  const count = slots.length;
  const isDown = direction === "desc";
  const packed = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const rank = rankOf(cells[slots[i] ?? 0] ?? UNKNOWN, last, isDown);
    packed[i] = rank * TIES + (isDown ? count - 1 - i : i);
  }
  packed.sort();
  const sorted = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const tie = (packed[i] ?? 0) % TIES;
    sorted[i] = slots[isDown ? count - 1 - tie : tie] ?? 0;
  }
  return sorted;
}

/** Ascends in the direction of the list; greatest for an unknown key. `last`: the highest code. */
export function rankOf(code: number, last: number, isDown: boolean): number {
  if (code === UNKNOWN) return last + 1;
  return isDown ? code : last - code;
}

/** A point between two rows, as `boundAfter`. */
export interface RankBound {
  rankOf: (code: number) => number;
  rank: number;
  slot: number;
  isDown: boolean;
}

/** The point directly after a row. */
export function boundOf(order: Order, after: RowKey, direction: Direction): RankBound {
  const last = keyCount(order.keys);
  const isDown = direction === "desc";
  const { code, slot } = boundAfter(order, after);
  const rank = (one: number) => rankOf(one, last, isDown);
  return { rankOf: rank, rank: rank(code), slot, isDown };
}

/** Index of the first of some sorted slots after a row. */
export function firstAfter(sorted: Uint32Array, cells: Uint16Array | Uint32Array, bound: RankBound): number {
  return firstIndex(0, sorted.length, (index) => {
    const slot = sorted[index] ?? 0;
    const rank = bound.rankOf(cells[slot] ?? UNKNOWN);
    if (rank !== bound.rank) return rank > bound.rank;
    return bound.isDown ? slot < bound.slot : slot > bound.slot;
  });
}
