import type { RowKey } from "../spec.js";
import { RangeCondition } from "./conditions.js";
import { eachMatch, findMatches, type Searched } from "./matches.js";
import { type Direction, keyCount, keyOfCode, type Order, UNKNOWN } from "./order.js";
import { boundOf, SortedSlots, TIES } from "./sorted.js";

/** Bound of the counters. Codes of 16 bits get one each. */
const MAX_BUCKETS = 2 ** 16;

export interface BucketsOptions {
  searched: Searched;
  order: Order;
  cells: Uint16Array | Uint32Array;
  direction: Direction;
  /** The row that they come after; undefined: the list's first ones. */
  after: RowKey | undefined;
  /** How many are wanted at least. */
  count: number;
}

/** The next matches of a list, in order. */
export interface NextMatches {
  slots: readonly number[];
  /** A row after which all others come; undefined for the beginning of the list. */
  end: RowKey | undefined;
}

/**
 * Finds the next matches without reading the order: counts all matches by their codes, then collects those with the codes of
 * the page. Two passes over the candidates, wherever in the order the matches are. Finds fewer than `count` where more than
 * TIES share a code or nearly do, or where only unknown keys come next: a walk from `end` on soon finds such.
 */
export function nextMatches({
  searched,
  order,
  cells,
  direction,
  after,
  count,
}: BucketsOptions): NextMatches {
  const isDown = direction === "desc";
  const last = keyCount(order.keys);
  const shift = Math.max(0, 32 - Math.clz32(last) - 16);
  const matchesIn = new Uint32Array(MAX_BUCKETS);
  eachMatch(searched, (block, kept) => {
    for (let i = 0; i < kept; i++) {
      const code = cells[block[i] ?? 0] ?? UNKNOWN;
      if (code === UNKNOWN) continue;
      const bucket = (isDown ? code : last - code) >>> shift;
      matchesIn[bucket] = (matchesIn[bucket] ?? 0) + 1;
    }
    return true;
  });
  const bound = after && boundOf(order, after, direction);
  const boundBucket = bound === undefined ? -1 : Math.floor(bound.rank / 2 ** shift);
  let first = Math.max(0, boundBucket);
  while (first < MAX_BUCKETS && matchesIn[first] === 0) first++;
  let to = first;
  let found = 0;
  let wanted = count;
  for (; to < MAX_BUCKETS && found < wanted; to++) {
    const more = matchesIn[to] ?? 0;
    if (found + more >= TIES) break;
    found += more;
    // Some of these come before the bound.
    if (to === boundBucket) wanted += more;
  }
  const codeAt = (bucket: number) => (isDown ? Math.max(1, bucket * 2 ** shift) : last - bucket * 2 ** shift);
  const end = to === boundBucket ? after : rowBefore(order, codeAt(to), direction);
  if (found === 0) return { slots: [], end };
  const [low, high] = isDown ? [codeAt(first), codeAt(to) - 1] : [codeAt(to) + 1, codeAt(first)];
  const range = new RangeCondition(cells, Math.max(1, low), Math.min(last, high));
  const matches = findMatches({ ...searched, conditions: [range, ...searched.conditions] }, found);
  const sorted = new SortedSlots({ slots: matches, cells, order, direction, after });
  return { slots: sorted.slice(0, found), end };
}

/** A row directly before all that have a code, or are after those. */
function rowBefore({ keys }: Order, code: number, direction: Direction): RowKey {
  const isDown = direction === "desc";
  const isKnown = code >= 1 && code <= keyCount(keys);
  const beyond = isDown ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return { sortKey: isKnown ? keyOfCode(keys, code) : beyond, id: isDown ? Number.POSITIVE_INFINITY : -1 };
}
