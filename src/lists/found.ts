import type { Found, Search } from "../search/search.js";
import type { FoundRows } from "./find-rows.js";
import { EXACT_TOTAL, FOUND } from "./plan.js";
import type { RowReader } from "./rows.js";
import type { ListSpec, Scope } from "./spec.js";

/** Does the search of a scope; undefined for a scope without one. */
export async function searchIn(search: Search, scope: Scope): Promise<Found | undefined> {
  if (scope.kind !== "search") return undefined;
  return search.find(scope.text, { limit: EXACT_TOTAL + 1, correct: scope.verbatim !== true });
}

/** The sort key of the match at an index: as in other orders, a greater one comes first. */
function keyAt(index: number): number {
  return EXACT_TOTAL + 1 - index;
}

/** The list over the matches of its search. */
export function withFound(spec: ListSpec, { ids }: Found): ListSpec {
  return { ...spec, scope: { kind: "found", rows: ids.map((id, index) => ({ id, key: keyAt(index) })) } };
}

/** Reads a page in the order of the search; undefined if filters or another order choose from the matches. */
export async function readFound(
  reader: RowReader,
  { sort, filters, page, window }: ListSpec,
  { ids }: Found,
): Promise<FoundRows | undefined> {
  if (sort !== "relevance" || Object.keys(filters).length > 0) return undefined;
  const from = "after" in page ? Math.max(0, keyAt(page.after.sortKey) + 1) : page.offset;
  const end = from + page.limit;
  const rows = await reader.read(ids.slice(from, end), window);
  const last = ids[end - 1];
  return {
    // The search index follows the catalogue with a delay.
    rows: rows.filter(({ repository }) => repository.availability === "AVAILABLE"),
    total: ids.length,
    scoped: ids.length,
    last: last === undefined || end >= ids.length ? undefined : { sortKey: keyAt(end - 1), id: last },
    plan: FOUND,
  };
}
