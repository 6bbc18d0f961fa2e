import { type Condition, RangeCondition } from "./conditions.js";
import { Blocks, type Searched } from "./matches.js";
import type { Positions } from "./positions.js";

export interface FirstMatchesOptions {
  searched: Searched;
  cells: Uint16Array | Uint32Array;
  positions: Positions;
  /** The position that they come after. */
  after: number;
  count: number;
}

/** Distance between two blocks searched in succession, as a share of all blocks: the golden ratio spreads them evenly. */
const STRIDE = 0.618;

/**
 * Finds the first matches after a position, in order, without reading the order: one pass over the candidates, which soon
 * only checks whether a slot comes before the last of the best ones so far. The blocks are searched in a scattered sequence,
 * so that the best ones are found early even if the order follows the ids.
 */
export function firstMatches({ searched, cells, positions, after, count }: FirstMatchesOptions): number[] {
  const blocks = new Blocks(searched);
  const stride = strideOf(blocks.length);
  const best = new BestPositions(count);
  let limit = Number.POSITIVE_INFINITY;
  let { conditions } = searched;
  for (let i = 0, at = 0; i < blocks.length; i++, at = (at + stride) % blocks.length) {
    if (best.limit < limit) {
      limit = best.limit;
      conditions = [...withinOf(positions.codesWithin(after, limit), cells), ...searched.conditions];
    }
    const kept = blocks.read(at, conditions);
    for (let j = 0; j < kept; j++) {
      const position = positions.of(blocks.slots[j] ?? 0);
      if (position > after) best.add(position);
    }
  }
  return Array.from(best.sorted(), (position) => positions.slotAt(position));
}

function withinOf(
  codes: { first: number; last: number } | undefined,
  cells: Uint16Array | Uint32Array,
): Condition[] {
  return codes === undefined || codes.last < codes.first
    ? []
    : [new RangeCondition(cells, codes.first, codes.last)];
}

/** A step that visits each block exactly once when it is repeated and wraps around. */
function strideOf(blocks: number): number {
  let stride = Math.max(1, Math.round(blocks * STRIDE));
  while (divisorOf(stride, blocks) > 1) stride++;
  return stride;
}

function divisorOf(a: number, b: number): number {
  return b === 0 ? a : divisorOf(b, a % b);
}

/** Keeps the lowest of the positions added to it. */
class BestPositions {
  readonly #count: number;
  readonly #positions: Float64Array;
  #size = 0;
  /** A position beyond this is not among the lowest. */
  limit = Number.POSITIVE_INFINITY;

  constructor(count: number) {
    this.#count = count;
    this.#positions = new Float64Array(2 * count);
  }

  add(position: number): void {
    if (position > this.limit) return;
    this.#positions[this.#size++] = position;
    if (this.#size === this.#positions.length) this.#cut();
  }

  sorted(): Float64Array {
    this.#cut();
    return this.#positions.subarray(0, this.#size);
  }

  #cut(): void {
    this.#positions.subarray(0, this.#size).sort();
    this.#size = Math.min(this.#size, this.#count);
    if (this.#size === this.#count) this.limit = this.#positions[this.#count - 1] ?? this.limit;
  }
}
