import type { RowKey } from "../spec.js";
import { codeAtMost, type Keys, keyCount, keyOfCode, UNKNOWN, UNKNOWN_KEY } from "./keys.js";
import { firstIndex } from "./shared-arrays.js";

/**
 * An order of the list index. Sort keys are numbered from 1, the highest key first: the number is the *code* of a key, and
 * comparing codes is comparing keys. Rows with equal keys go by id, and the slot of a repository is its id.
 */
export interface Order {
  keys: Keys;
  /**
   * Slots from the highest key to the lowest, within equal keys from the highest slot to the lowest. Slots whose key is in
   * `runs` are left out.
   */
  slots: Uint32Array;
  /** The code of each slot; 0 for one without a key. Absent in a sparse order, which few repositories are in. */
  cells: Uint16Array | Uint32Array | undefined;
  /** For a sparse order: the code at each position of `slots`. */
  codes: Uint16Array | Uint32Array;
  /** The parts of the order, highest keys first. */
  pieces: readonly Piece[];
  /** Whether repositories without a key come at the end; otherwise the order does not contain them. */
  keepsUnknown: boolean;
}

/** Some positions of `slots`; or a run: all slots whose cell is `code`, as very many repositories share that key. */
export type Piece = { from: number; to: number; code?: undefined } | { code: number };

export type Direction = "asc" | "desc";

/** Cost of testing a slot far from the one before, relative to the next slot in memory. */
export const UNORDERED_COST = 8;

/** The code at a position of `slots`. */
export function codeAt({ cells, codes, slots }: Order, position: number): number {
  return (cells === undefined ? codes[position] : cells[slots[position] ?? 0]) ?? UNKNOWN;
}

/** The sort key of a slot of the order. Takes time proportional to the length of a sparse order. */
export function keyOfSlot(order: Order, slot: number): number {
  const { cells, codes, slots, keys } = order;
  const code = cells === undefined ? codes[slots.indexOf(slot)] : cells[slot];
  return keyOfCode(keys, code ?? UNKNOWN);
}

/** A point between two rows: after all rows with codes before `code`, and after those with `code` and slots up to `slot`. */
interface Bound {
  code: number;
  slot: number;
}

/** The point directly after a row, whether or not the row is still there. */
export function boundAfter({ keys, keepsUnknown }: Order, after: RowKey): Bound {
  if (keepsUnknown && after.sortKey === UNKNOWN_KEY) return { code: UNKNOWN, slot: after.id };
  const code = codeAtMost(keys, after.sortKey);
  if (code <= keyCount(keys) && keyOfCode(keys, code) === after.sortKey) return { code, slot: after.id };
  // No row has this key. Going down, all rows with `code` come next; going up, none of them.
  return { code, slot: Number.POSITIVE_INFINITY };
}

/** Codes from `first` to `last`, both included. */
export interface CodeRange {
  first: number;
  last: number;
}

/** The parts of an order that hold codes of a range. */
export function piecesInRange(order: Order, { first, last }: CodeRange): Piece[] {
  return order.pieces.flatMap((piece): Piece[] => {
    if (piece.code !== undefined) return piece.code >= first && piece.code <= last ? [piece] : [];
    const from = firstIndex(piece.from, piece.to, (position) => codeAt(order, position) >= first);
    const to = firstIndex(from, piece.to, (position) => codeAt(order, position) > last);
    return to > from ? [{ from, to }] : [];
  });
}

/** Where a walk begins and ends. */
export interface WalkLimits {
  /** The row that it begins after. */
  after?: RowKey | undefined;
  /** The codes that it is limited to; then unknown keys are left out. */
  range?: CodeRange | undefined;
}

/**
 * Reads an order, or a part of it, in blocks of slots. Unknown keys come last in both directions, by id in the
 * direction of the list.
 */
export class Walk {
  readonly #order: Order;
  readonly #direction: Direction;
  readonly #pieces: readonly Piece[];
  readonly #after: Bound | undefined;
  /** Cost so far, in steps from one slot to the next. */
  cost = 0;
  #piece = -1;
  /** Next position of `slots`, or next slot of a run. */
  #next = 0;
  /** One beyond the last of them, in the direction of the walk. */
  #end = 0;

  constructor(order: Order, direction: Direction, { after, range }: WalkLimits = {}) {
    this.#order = order;
    this.#direction = direction;
    const pieces = range === undefined ? order.pieces : piecesInRange(order, range);
    const known = direction === "desc" ? pieces : pieces.toReversed();
    this.#pieces = order.keepsUnknown && range === undefined ? [...known, { code: UNKNOWN }] : known;
    this.#after = after && boundAfter(order, after);
    this.#enterNext();
  }

  /** Fills the block with the next slots. Returns their number; 0 at the end. */
  fill(block: Uint32Array): number {
    let count = 0;
    while (count < block.length && this.#piece < this.#pieces.length) {
      const piece = this.#pieces[this.#piece];
      if (piece === undefined || this.#next === this.#end) this.#enterNext();
      else if (piece.code === undefined) count = this.#fillFromSlots(block, count);
      else count = this.#fillFromRun(piece.code, block, count);
    }
    return count;
  }

  #fillFromSlots(block: Uint32Array, filled: number): number {
    const { slots } = this.#order;
    const step = this.#direction === "desc" ? 1 : -1;
    const count = Math.min(block.length - filled, Math.abs(this.#end - this.#next));
    let next = this.#next;
    for (let i = 0; i < count; i++, next += step) block[filled + i] = slots[next] ?? 0;
    this.#next = next;
    this.cost += count * UNORDERED_COST;
    return filled + count;
  }

  #fillFromRun(code: number, block: Uint32Array, filled: number): number {
    const { cells } = this.#order;
    if (cells === undefined) throw new Error("a sparse order has no runs");
    const step = this.#direction === "desc" ? -1 : 1;
    const end = this.#end;
    let count = filled;
    const first = this.#next;
    let slot = first;
    for (; slot !== end && count < block.length; slot += step)
      if (cells[slot] === code) block[count++] = slot;
    this.#next = slot;
    this.cost += Math.abs(slot - first);
    return count;
  }

  #enterNext(): void {
    this.#piece++;
    const piece = this.#pieces[this.#piece];
    if (piece === undefined) return;
    const isDown = this.#direction === "desc";
    if (piece.code === undefined) {
      const { from, to } = piece;
      const first = this.#firstAfter(from, to);
      this.#next = isDown ? first : first - 1;
      this.#end = isDown ? to : from - 1;
      return;
    }
    const length = this.#order.cells?.length ?? 0;
    this.#next = isDown ? length - 1 : 0;
    this.#end = isDown ? -1 : length;
    const compared = this.#compareCode(piece.code);
    if (compared < 0) this.#next = this.#end;
    if (compared !== 0) return;
    // The run that holds the bound.
    const slot = Math.min(length, this.#after?.slot ?? 0);
    this.#next = isDown ? slot - 1 : Math.min(length, slot + 1);
  }

  /** The first position after the bound going down; one more than the first position after it going up. */
  #firstAfter(from: number, to: number): number {
    const { slots } = this.#order;
    const isDown = this.#direction === "desc";
    if (this.#after === undefined) return isDown ? from : to;
    const { slot: bound } = this.#after;
    const isAfter = (position: number): boolean => {
      const compared = this.#compareCode(codeAt(this.#order, position));
      if (compared !== 0) return compared > 0;
      const slot = slots[position] ?? 0;
      return isDown ? slot < bound : slot > bound;
    };
    return isDown ? firstIndex(from, to, isAfter) : firstIndex(from, to, (position) => !isAfter(position));
  }

  /** Whether all rows with a code come after the bound (1), all before it (-1), or it is among them (0). */
  #compareCode(code: number): number {
    const bound = this.#after?.code;
    if (bound === undefined || code === bound) return bound === undefined ? 1 : 0;
    // Rows without a key are the last in both directions.
    if (code === UNKNOWN) return 1;
    if (bound === UNKNOWN) return -1;
    return (this.#direction === "desc" ? code > bound : code < bound) ? 1 : -1;
  }
}
