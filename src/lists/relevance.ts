import { EXACT_TOTAL, type ListSpec } from "./spec.js";

/** The sort key of the match at an index of a search's order: as in other orders, a greater one comes first. */
export function relevanceAt(index: number): number {
  return EXACT_TOTAL + 1 - index;
}

/** The index at which a page begins in the order of a search, before filters. */
export function beginOf(page: ListSpec["page"]): number {
  return "after" in page ? Math.max(0, relevanceAt(page.after.sortKey) + 1) : page.offset;
}
