import type { ListSpec, RowKey } from "../spec.js";
import { type Candidates, candidatesInRange } from "./candidates.js";
import { type Condition, RangeCondition } from "./conditions.js";
import type { Test } from "./filters.js";
import { boundAfter, type Direction, keyCount, keyOfSlot, type Order, UNKNOWN, Walk } from "./order.js";
import { firstIndex } from "./shared-arrays.js";

/** The matches of a list from the begin of a page on. */
export interface Selection {
  /** Number of all matches, at most `most` + 1. */
  total: number;
  /** The next `count` slots of the list; fewer at its end. */
  take(count: number): number[];
  /** The sort key of a slot as the index has it. */
  keyOf(slot: number): number;
}

export interface SelectOptions {
  /** Number of slots of the index. */
  slots: number;
  tests: readonly Test[];
  order: Order;
  /** Totals are counted up to here, at most 10,000; a list of at most this many matches is sorted as a whole. */
  most: number;
}

/** Slots tested together: their arrays fit in the caches of the processor. */
const BLOCK = 4_096;
/** A walk begins with few slots, as most pages are full soon. */
const FIRST_BLOCK = 256;
/** Slots on which conditions are tried, to find the most selective one. */
const SAMPLE = 512;

/**
 * Selects the matches of a page: sorts them if they are at most `most`, else tests the slots of the order until the page is
 * full. Each takes one pass over the smallest set of candidates, or over all slots, at most.
 */
export function select(
  { page, direction, sort }: Pick<ListSpec, "page" | "direction" | "sort">,
  { slots, tests, order, most }: SelectOptions,
): Selection {
  const keyOf = (slot: number) => keyOfSlot(order, slot);
  const after = "after" in page ? page.after : undefined;
  const offset = "after" in page ? 0 : page.offset;
  const all = mostSelectiveFirst(
    tests.map(({ condition }) => condition),
    slots,
  );
  // A filter on the sort key itself limits the walk: it would read in vain until it gets there, or behind the end.
  const range = tests.find((test) => test.range?.sort === sort)?.range?.codes;
  const readFrom = (start: RowKey | undefined) =>
    new Reader(new Walk(order, direction, { after: start, range }), all);
  const fromPage = (total: number): Selection => {
    const reader = readFrom(after);
    reader.take(offset);
    return { total, take: (count) => reader.take(count), keyOf };
  };
  const { cells } = order;
  // A sparse order is itself a small set of candidates.
  if (cells === undefined) return fromPage(readFrom(undefined).take(most + 1).length);
  const inOrder = order.keepsUnknown ? [] : [knownTest(order, cells)];
  const conditions = [...all, ...inOrder.map(({ condition }) => condition)];
  const candidates = fewestCandidates([...tests, ...inOrder]);
  const matches = findMatches(conditions, candidates, { slots, limit: most + 1 });
  if (matches.length > most) return fromPage(matches.length);
  const sorted = sortSlots(matches, cells, order, direction);
  let next = after === undefined ? offset : firstAfter(sorted, cells, boundOf(order, after, direction));
  const take = (count: number) => {
    next += count;
    return [...sorted.subarray(next - count, next)];
  };
  return { total: matches.length, take, keyOf };
}

/** That a slot is in an order which does not contain all. */
function knownTest(order: Order, cells: Uint16Array | Uint32Array): Test {
  const codes = { first: 1, last: Math.max(1, keyCount(order.keys)) };
  return {
    condition: new RangeCondition(cells, codes.first, codes.last),
    candidates: candidatesInRange(order, codes),
  };
}

function fewestCandidates(tests: readonly Test[]): Candidates | undefined {
  let fewest: Candidates | undefined;
  for (const { candidates } of tests)
    if (candidates !== undefined && candidates.size < (fewest?.size ?? Number.POSITIVE_INFINITY))
      fewest = candidates;
  return fewest;
}

/** Conditions by the share of some slots that pass. */
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

/** At most `limit` slots that pass all conditions, ascending; undefined candidates: all slots. */
function findMatches(
  [first, ...others]: readonly Condition[],
  candidates: Candidates | undefined,
  { slots, limit }: { slots: number; limit: number },
): Uint32Array {
  const found = new Uint32Array(limit);
  const block = new Uint32Array(BLOCK);
  const among = candidates?.slots();
  const end = among?.length ?? slots;
  let total = 0;
  for (let from = 0; from < end && total < limit; from += BLOCK) {
    const to = Math.min(end, from + BLOCK);
    let count: number;
    if (among === undefined) count = first?.scan(from, to, block) ?? 0;
    else {
      block.set(among.subarray(from, to));
      count = first?.keep(block, to - from) ?? 0;
    }
    for (const condition of others) count = condition.keep(block, count);
    const kept = Math.min(count, limit - total);
    found.set(block.subarray(0, kept), total);
    total += kept;
  }
  const matches = found.subarray(0, total);
  return candidates === undefined || candidates.isAscending ? matches : matches.sort();
}

/** More than the slots that are ever sorted: a sort key and a number below this fit in a double exactly. */
const TIES = 2 ** 14;

/** Sorts ascending slots into the order of the list. */
function sortSlots(
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

/** Ascends in the direction of the list; greatest for an unknown key. */
function rankOf(code: number, last: number, isDown: boolean): number {
  if (code === UNKNOWN) return last + 1;
  return isDown ? code : last - code;
}

interface RankBound {
  rankOf: (code: number) => number;
  rank: number;
  slot: number;
  isDown: boolean;
}

function boundOf(order: Order, after: RowKey, direction: Direction): RankBound {
  const last = keyCount(order.keys);
  const isDown = direction === "desc";
  const { code, slot } = boundAfter(order, after);
  const rank = (one: number) => rankOf(one, last, isDown);
  return { rankOf: rank, rank: rank(code), slot, isDown };
}

/** Index of the first slot after a row. */
function firstAfter(sorted: Uint32Array, cells: Uint16Array | Uint32Array, bound: RankBound): number {
  return firstIndex(0, sorted.length, (index) => {
    const slot = sorted[index] ?? 0;
    const rank = bound.rankOf(cells[slot] ?? UNKNOWN);
    if (rank !== bound.rank) return rank > bound.rank;
    return bound.isDown ? slot < bound.slot : slot > bound.slot;
  });
}

/** Reads the slots of a walk that pass all conditions. */
class Reader {
  readonly #walk: Walk;
  readonly #conditions: readonly Condition[];
  readonly #block = new Uint32Array(BLOCK);
  #size = FIRST_BLOCK;
  #next = 0;
  #count = 0;

  constructor(walk: Walk, conditions: readonly Condition[]) {
    this.#walk = walk;
    this.#conditions = conditions;
  }

  take(count: number): number[] {
    const taken: number[] = [];
    while (taken.length < count && this.#fill()) {
      const end = Math.min(this.#count, this.#next + count - taken.length);
      for (; this.#next < end; this.#next++) taken.push(this.#block[this.#next] ?? 0);
    }
    return taken;
  }

  /** Whether there are tested slots in the block; reads on if there are none left. */
  #fill(): boolean {
    while (this.#next === this.#count) {
      const read = this.#walk.fill(this.#block.subarray(0, this.#size));
      if (read === 0) return false;
      this.#count = read;
      for (const condition of this.#conditions) this.#count = condition.keep(this.#block, this.#count);
      this.#next = 0;
      this.#size = Math.min(BLOCK, 2 * this.#size);
    }
    return true;
  }
}
