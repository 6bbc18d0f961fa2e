/** Walks an order of the index, and reads the slots on the way that pass the conditions of a list. */
import type { RowKey } from "../spec.js";
import type { Condition } from "./conditions.js";
import { BLOCK } from "./matches.js";
import {
  type Bound,
  boundAfter,
  type CodeRange,
  codeAt,
  type Direction,
  firstIndex,
  type Order,
  type Piece,
  piecesInRange,
  UNKNOWN,
  UNORDERED_COST,
} from "./order.js";

/** Where a walk begins and ends. */
interface WalkLimits {
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

/** A walk begins with few slots, as most pages fill up quickly. */
const FIRST_BLOCK = 256;

/** Reads the slots of a walk that pass all conditions, until the walk has cost the budget. */
export class MatchReader {
  readonly #walk: Walk;
  readonly #conditions: readonly Condition[];
  #block = new Uint32Array(0);
  #size = FIRST_BLOCK;
  #next = 0;
  #count = 0;
  readonly #budget: number;

  constructor(walk: Walk, conditions: readonly Condition[], budget = Number.POSITIVE_INFINITY) {
    this.#walk = walk;
    this.#conditions = conditions;
    this.#budget = budget;
  }

  /** Whether the budget is used up, so that there may be more slots than were taken. */
  get hasGivenUp(): boolean {
    return this.#walk.cost >= this.#budget;
  }

  /** The next `count` slots; fewer at the end of the walk or of the budget. */
  take(count: number): number[] {
    const taken: number[] = [];
    while (taken.length < count && this.#fill()) {
      const end = Math.min(this.#count, this.#next + count - taken.length);
      for (; this.#next < end; this.#next++) taken.push(this.#block[this.#next] ?? 0);
    }
    return taken;
  }

  /** Whether the block has tested slots left; tests more if not. */
  #fill(): boolean {
    while (this.#next === this.#count) {
      if (this.hasGivenUp) return false;
      if (this.#block.length < this.#size) this.#block = new Uint32Array(this.#size);
      const read = this.#walk.fill(this.#block);
      if (read === 0) return false;
      this.#count = read;
      for (const condition of this.#conditions) this.#count = condition.keep(this.#block, this.#count);
      this.#next = 0;
      this.#size = Math.min(BLOCK, 2 * this.#size);
    }
    return true;
  }
}
