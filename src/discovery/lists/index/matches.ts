/**
 * Searches the matches of a list: chooses the slots to test and the sequence of the conditions, and tests a block of slots at a
 * time, either all matches or the first ones in an order.
 */
import { type Condition, RangeCondition } from "./conditions.js";
import { type Candidates, candidatesInRange, type Test } from "./filters.js";
import { type CodeRange, keyCount, type Order, UNORDERED_COST } from "./order.js";
import type { Positions } from "./positions.js";

/** Maximum number of slots tested at a time: few enough for the caches of the processor. */
export const BLOCK = 4_096;

/** Where matches are searched. */
export interface Searched {
  conditions: readonly Condition[];
  /** Slots that include all matches; undefined: all slots. */
  candidates: Candidates | undefined;
  /** Number of slots of the index. */
  slots: number;
}

/** Nothing waits while blocks are read, so one buffer serves all searches. */
const SLOTS = new Uint32Array(BLOCK);

/** The slots that are searched, in blocks in the order of the candidates. One search must end before the next one begins. */
export class Blocks {
  /** Number of blocks. */
  readonly length: number;
  /** Begins with the matches of the block that was read last. */
  readonly slots = SLOTS;
  readonly #among: Uint32Array | undefined;
  readonly #end: number;

  constructor({ candidates, slots }: Searched) {
    this.#among = candidates?.slots();
    this.#end = this.#among?.length ?? slots;
    this.length = Math.ceil(this.#end / BLOCK);
  }

  /** Reads a block, and leaves the slots in it that pass all conditions. Returns their number. */
  read(index: number, [first, ...others]: readonly Condition[]): number {
    const from = index * BLOCK;
    const to = Math.min(this.#end, from + BLOCK);
    let count: number;
    if (this.#among === undefined) count = first?.scan(from, to, this.slots) ?? 0;
    else {
      this.slots.set(this.#among.subarray(from, to));
      count = first?.keep(this.slots, to - from) ?? 0;
    }
    for (const condition of others) count = condition.keep(this.slots, count);
    return count;
  }
}

/** At most `limit` matches, ascending. */
export function findMatches(searched: Searched, limit: number): Uint32Array {
  const blocks = new Blocks(searched);
  const found = new Uint32Array(limit);
  let total = 0;
  for (let i = 0; i < blocks.length && total < limit; i++) {
    const kept = Math.min(blocks.read(i, searched.conditions), limit - total);
    found.set(blocks.slots.subarray(0, kept), total);
    total += kept;
  }
  const matches = found.subarray(0, total);
  return searched.candidates?.isAscending === false ? matches.sort() : matches;
}

/** Slots in the sample that shows which conditions are most selective. */
const SAMPLE = 512;

/** Where the matches of a list are searched. */
interface SearchedList extends Searched {
  /** The conditions without that of the order. */
  filters: readonly Condition[];
}

/** Where to search the slots that pass all tests, and are in an order if one is given. */
export function searchedOf(tests: readonly Test[], order: Order | undefined, slots: number): SearchedList {
  const filters = mostSelectiveFirst(
    tests.map(({ condition }) => condition),
    slots,
  );
  if (order === undefined || order.keepsUnknown)
    return { filters, conditions: filters, candidates: cheapestCandidates(tests, slots), slots };
  const { cells } = order;
  // A sparse order is itself a small set of candidates.
  if (cells === undefined) {
    const { slots: members } = order;
    const candidates = { size: members.length, slots: () => members, isAscending: false };
    return { filters, conditions: filters, candidates, slots };
  }
  const known = knownTest(order, cells);
  return {
    filters,
    conditions: [...filters, known.condition],
    candidates: cheapestCandidates([...tests, known], slots),
    slots,
  };
}

/** Passes the slots that are in an order which does not contain all of them. */
function knownTest(order: Order, cells: Uint16Array | Uint32Array): Test {
  const codes = { first: 1, last: Math.max(1, keyCount(order.keys)) };
  return {
    condition: new RangeCondition(cells, codes.first, codes.last),
    candidates: candidatesInRange(order, codes),
  };
}

/** The candidates that are cheapest to test; undefined if testing all slots is cheaper. */
function cheapestCandidates(tests: readonly Test[], slots: number): Candidates | undefined {
  let cheapest: Candidates | undefined;
  let least = slots;
  for (const { candidates } of tests) {
    if (candidates === undefined) continue;
    const cost = candidates.size * (candidates.isAscending ? 1 : UNORDERED_COST);
    if (cost >= least) continue;
    cheapest = candidates;
    least = cost;
  }
  return cheapest;
}

/** The conditions, those that fewest slots of a sample pass first. */
function mostSelectiveFirst(conditions: readonly Condition[], slots: number): Condition[] {
  if (conditions.length < 2) return [...conditions];
  const step = Math.max(1, slots / SAMPLE);
  const block = new Uint32Array(SAMPLE);
  const passing = new Map(
    conditions.map((condition) => {
      for (let i = 0; i < SAMPLE; i++) block[i] = Math.min(slots - 1, Math.floor(i * step));
      return [condition, condition.keep(block, SAMPLE)];
    }),
  );
  return conditions.toSorted((a, b) => (passing.get(a) ?? 0) - (passing.get(b) ?? 0));
}

interface FirstMatchesOptions {
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

function withinOf(codes: CodeRange | undefined, cells: Uint16Array | Uint32Array): Condition[] {
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
