import { type Condition, RangeCondition } from "./conditions.js";
import { BLOCK, type Searched } from "./matches.js";
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
  const { candidates, slots, conditions } = searched;
  const among = candidates?.slots();
  const end = among?.length ?? slots;
  const blocks = Math.ceil(end / BLOCK);
  const stride = strideOf(blocks);
  const block = new Uint32Array(BLOCK);
  const best = new BestPositions(count);
  let limit = Number.POSITIVE_INFINITY;
  let [first, ...others] = conditions;
  for (let i = 0, at = 0; i < blocks; i++, at = (at + stride) % blocks) {
    if (best.limit < limit) {
      limit = best.limit;
      [first, ...others] = [...withinOf(positions.codesWithin(after, limit), cells), ...conditions];
    }
    const from = at * BLOCK;
    const to = Math.min(end, from + BLOCK);
    let kept: number;
    if (among === undefined) kept = first?.scan(from, to, block) ?? 0;
    else {
      block.set(among.subarray(from, to));
      kept = first?.keep(block, to - from) ?? 0;
    }
    for (const condition of others) kept = condition.keep(block, kept);
    for (let j = 0; j < kept; j++) {
      const position = positions.of(block[j] ?? 0);
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
