/** Selects the slots of a page: sorts all matches, walks an order, or takes them in the order of a search. */
import { beginOf, type ListSpec, type RowKey, relevanceAt } from "../spec.js";
import type { Condition } from "./conditions.js";
import type { Test } from "./filters.js";
import { findMatches, firstMatches, type Searched, searchedOf } from "./matches.js";
import { type CodeRange, type Direction, keyOfSlot, type Order } from "./order.js";
import { Positions, SortedSlots } from "./positions.js";
import { MatchReader, Walk } from "./walk.js";

/** The matches of a list from the start of a page on. */
export interface Selection {
  /** Number of all matches, at most `most` + 1. */
  total: number;
  /** The next `count` slots of the list; fewer at its end. */
  take(count: number): number[];
  /** The sort key of a slot as the index has it. */
  keyOf(slot: number): number;
}

interface SelectOptions {
  /** Number of slots of the index. */
  slots: number;
  tests: readonly Test[];
  order: Order;
  /** Totals are counted up to here, at most 10,000; a list of at most this many matches is sorted as a whole. */
  most: number;
  /** Least cost (`Walk`) at which a walk gives up, in small indexes. Default: 32,768. */
  minBudget?: number;
}

/** Budget of a walk, in passes over all slots, and in candidates if they are fewer: at most what the search that follows it costs. */
const WALK_SHARE = 0.25;
/** Least budget of a walk, which is enough for most pages. */
const MIN_BUDGET = 32_768;
/** Matches found beyond those wanted, since some rows may have left the list in the meantime. */
const AHEAD = 200;

/**
 * Selects the matches of a page: sorts them if they are at most `most`, else tests the slots of the order until the page is
 * full, and if that takes long, searches the first matches. It takes a few passes over the smallest set of candidates at most.
 */
export function select(
  { page, direction, sort }: Pick<ListSpec, "page" | "direction" | "sort">,
  { slots, tests, order, most, minBudget = MIN_BUDGET }: SelectOptions,
): Selection {
  const keyOf = (slot: number) => keyOfSlot(order, slot);
  const after = "after" in page ? page.after : undefined;
  const offset = "after" in page ? 0 : page.offset;
  // A filter on the sort key itself limits the walk to its range.
  const range = tests.find((test) => test.range?.sort === sort)?.range?.codes;
  const { cells } = order;
  const searched = searchedOf(tests, order, slots);
  const { filters } = searched;
  const fromPage = (total: number): Selection => {
    const budget = Math.max(minBudget, Math.min(WALK_SHARE * slots, searched.candidates?.size ?? slots));
    const walked = { order, direction, range, filters, after, budget };
    const reader = new PageReader({ ...walked, searched });
    reader.take(offset);
    return { total, take: (count) => reader.take(count), keyOf };
  };
  // A sparse order is itself a small set of candidates.
  if (cells === undefined)
    return fromPage(new MatchReader(new Walk(order, direction, { range }), filters).take(most + 1).length);
  const matches = findMatches(searched, most + 1);
  if (matches.length > most) return fromPage(matches.length);
  const positions = new Positions(order, cells, direction);
  const sorted = new SortedSlots(matches, positions, positionOf(positions, after));
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
  after: RowKey | undefined;
  /** Cost of the walk after which the page is searched. */
  budget: number;
}

/** Reads many matches from a row on: walks the order for a while, then searches for what is missing. */
class PageReader {
  readonly #reading: PageReading;
  readonly #reader: MatchReader;
  /** Matches that were searched; the reader continues after them. */
  #found: readonly number[] = [];
  #next = 0;
  /** The last slot that was taken. */
  #last: number | undefined;

  constructor(reading: PageReading) {
    const { order, direction, range, filters, after, budget } = reading;
    this.#reading = reading;
    const isSparse = order.cells === undefined;
    this.#reader = new MatchReader(
      new Walk(order, direction, { after, range }),
      filters,
      isSparse ? undefined : budget,
    );
  }

  take(count: number): number[] {
    const taken = this.#reader.take(count);
    this.#last = taken.at(-1) ?? this.#last;
    if (taken.length === count || !this.#reader.hasGivenUp) return taken;
    const missing = count - taken.length;
    if (this.#found.length - this.#next < missing) this.#search(missing);
    taken.push(...this.#found.slice(this.#next, this.#next + missing));
    this.#next += missing;
    this.#last = taken.at(-1) ?? this.#last;
    return taken;
  }

  #search(count: number): void {
    const { order, searched, direction, after } = this.#reading;
    const { cells } = order;
    if (cells === undefined) throw new Error("a sparse order is walked to its end");
    const positions = new Positions(order, cells, direction);
    const from = this.#last === undefined ? positionOf(positions, after) : positions.of(this.#last);
    this.#found = firstMatches({ searched, cells, positions, after: from, count: count + AHEAD });
    this.#next = 0;
  }
}

/** The position that a page begins after. */
function positionOf(positions: Positions, after: RowKey | undefined): number {
  return after === undefined ? -1 : positions.upTo(after);
}

interface FoundSlots {
  /** Number of slots of the index. */
  slots: number;
  /** Matches of a search, in its order, which is that of the list. */
  ids: readonly number[];
}

/** Selects the matches of a page in the order of a search: tests all of them. */
export function selectFound(
  page: ListSpec["page"],
  tests: readonly Test[],
  { slots, ids }: FoundSlots,
): Selection {
  const block = Uint32Array.from(ids.filter((id) => id < slots));
  const total = tests.reduce((count, { condition }) => condition.keep(block, count), block.length);
  const kept = block.subarray(0, total);
  let next = "after" in page ? keptBefore(kept, ids, beginOf(page)) : page.offset;
  const take = (count: number) => {
    next += count;
    return [...kept.subarray(next - count, next)];
  };
  return { total, take, keyOf: (slot) => relevanceAt(ids.indexOf(slot)) };
}

/** How many of the first `end` ids were kept. */
function keptBefore(kept: Uint32Array, ids: readonly number[], end: number): number {
  let count = 0;
  for (let i = 0; i < end && i < ids.length; i++) if (ids[i] === kept[count]) count++;
  return count;
}
