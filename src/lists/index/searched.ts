import { type Candidates, candidatesInRange } from "./candidates.js";
import { type Condition, RangeCondition } from "./conditions.js";
import type { Test } from "./filters.js";
import { keyCount } from "./keys.js";
import type { Searched } from "./matches.js";
import { type Order, UNORDERED_COST } from "./order.js";

/** Slots in the sample that shows which conditions are most selective. */
const SAMPLE = 512;

/** Where the matches of a list are searched. */
export interface SearchedList extends Searched {
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
