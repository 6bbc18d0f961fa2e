import type { ListSpec, RowKey } from "../spec.js";
import { nextMatches } from "./buckets.js";
import { type Candidates, candidatesInRange } from "./candidates.js";
import { type Condition, RangeCondition } from "./conditions.js";
import type { Test } from "./filters.js";
import { findMatches, Reader, type Searched } from "./matches.js";
import {
  type CodeRange,
  type Direction,
  keyCount,
  keyOfSlot,
  type Order,
  UNORDERED_COST,
  Walk,
} from "./order.js";
import { SortedSlots } from "./sorted.js";

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
  /** Least cost (`Walk`) at which a walk gives up, in small indexes. Default: 32,768. */
  minBudget?: number;
}

/** A walk costs up to this many passes over all slots: about as much as a search by codes. */
const WALK_SHARE = 2;
/** A walk costs at least this much, which fills most pages. */
const MIN_BUDGET = 32_768;
/** Matches searched beyond those wanted: some rows can have left the list since. */
const AHEAD = 200;
/** Slots on which conditions are tried, to find the most selective one. */
const SAMPLE = 512;

/**
 * Selects the matches of a page: sorts them if they are at most `most`, else tests the slots of the order until the page is
 * full, and if that takes long, searches the page by codes. It takes a few passes over the smallest set of candidates at most.
 */
export function select(
  { page, direction, sort }: Pick<ListSpec, "page" | "direction" | "sort">,
  { slots, tests, order, most, minBudget = MIN_BUDGET }: SelectOptions,
): Selection {
  const keyOf = (slot: number) => keyOfSlot(order, slot);
  const after = "after" in page ? page.after : undefined;
  const offset = "after" in page ? 0 : page.offset;
  const filters = mostSelectiveFirst(
    tests.map(({ condition }) => condition),
    slots,
  );
  // A filter on the sort key itself limits the walk: it would read in vain until it gets there, or behind the end.
  const range = tests.find((test) => test.range?.sort === sort)?.range?.codes;
  const { cells } = order;
  const inOrder = order.keepsUnknown || cells === undefined ? [] : [knownTest(order, cells)];
  const searched: Searched = {
    conditions: [...filters, ...inOrder.map(({ condition }) => condition)],
    candidates: cheapestCandidates([...tests, ...inOrder], slots),
    slots,
  };
  const fromPage = (total: number): Selection => {
    const budget = Math.max(minBudget, WALK_SHARE * slots);
    const walked = { order, direction, range, filters, after, budget };
    const reader = new PageReader({ ...walked, searched, cells, keyOf });
    reader.take(offset);
    return { total, take: (count) => reader.take(count), keyOf };
  };
  // A sparse order is itself a small set of candidates.
  if (cells === undefined)
    return fromPage(new Reader(new Walk(order, direction, { range }), filters).take(most + 1).length);
  const matches = findMatches(searched, most + 1);
  if (matches.length > most) return fromPage(matches.length);
  const sorted = new SortedSlots({ slots: matches, cells, order, direction, after });
  let next = offset;
  const take = (count: number) => {
    next += count;
    return sorted.slice(next - count, next);
  };
  return { total: matches.length, take, keyOf };
}

interface PageReading {
  order: Order;
  direction: Direction;
  range: CodeRange | undefined;
  /** The conditions of the list. */
  filters: readonly Condition[];
  /** For searching matches without the order. */
  searched: Searched;
  cells: Order["cells"];
  after: RowKey | undefined;
  /** Cost of the walk after which the page is searched by codes. */
  budget: number;
  keyOf: (slot: number) => number;
}

/** Reads many matches from a row on: walks the order for a while, and searches by codes if the page is not full then. */
class PageReader {
  readonly #reading: PageReading;
  /** Matches that were searched; the reader continues after them. */
  #found: readonly number[] = [];
  #next = 0;
  #reader: Reader;
  #last: RowKey | undefined;

  constructor(reading: PageReading) {
    this.#reading = reading;
    this.#last = reading.after;
    const { cells, after, budget } = reading;
    this.#reader = this.#walkAfter(after, cells === undefined ? undefined : budget);
  }

  take(count: number): number[] {
    const taken = this.#found.slice(this.#next, this.#next + count);
    this.#next += taken.length;
    taken.push(...this.#reader.take(count - taken.length));
    const end = taken.at(-1);
    if (end !== undefined) this.#last = { sortKey: this.#reading.keyOf(end), id: end };
    if (taken.length === count || !this.#reader.hasGivenUp) return taken;
    this.#search(count - taken.length);
    return [...taken, ...this.take(count - taken.length)];
  }

  #search(count: number): void {
    const { cells } = this.#reading;
    if (cells === undefined) throw new Error("a sparse order is walked to its end");
    const next = nextMatches({ ...this.#reading, cells, after: this.#last, count: count + AHEAD });
    this.#found = next.slots;
    this.#next = 0;
    this.#reader = this.#walkAfter(next.end, undefined);
  }

  #walkAfter(after: RowKey | undefined, budget: number | undefined): Reader {
    const { order, direction, range, filters } = this.#reading;
    return new Reader(new Walk(order, direction, { after, range }), filters, budget);
  }
}

/** That a slot is in an order which does not contain all. */
function knownTest(order: Order, cells: Uint16Array | Uint32Array): Test {
  const codes = { first: 1, last: Math.max(1, keyCount(order.keys)) };
  return {
    condition: new RangeCondition(cells, codes.first, codes.last),
    candidates: candidatesInRange(order, codes),
  };
}

/** The candidates that take least to test; undefined if all slots take less. */
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
