import { beginOf, relevanceAt } from "../relevance.js";
import type { ListSpec } from "../spec.js";
import type { Test } from "./filters.js";
import type { Selection } from "./select.js";

export interface FoundSlots {
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
