import type { Found, Search } from "../search/search.js";
import type { FoundRows } from "./find-rows.js";
import { FOUND } from "./plan.js";
import { beginOf, relevanceAt } from "./relevance.js";
import type { RowReader } from "./rows.js";
import { EXACT_TOTAL, type ListSpec } from "./spec.js";

/** Does the search of a list; undefined for a list without one. `all`: finds all matches even if the page needs only the first. */
export async function searchFor(search: Search, spec: ListSpec, all: boolean): Promise<Found | undefined> {
  const { scope } = spec;
  if (scope.kind !== "search") return undefined;
  // In the order of the search, one match after the page shows that there are more.
  const limit = isInOrder(spec) && !all ? Math.min(endOf(spec.page), EXACT_TOTAL) + 1 : EXACT_TOTAL + 1;
  return search.find(scope.text, { limit, counted: EXACT_TOTAL + 1, correct: scope.verbatim !== true });
}

/** Whether a list is all that a search has found, in its order. */
function isInOrder({ sort, filters }: ListSpec): boolean {
  return sort === "relevance" && Object.keys(filters).length === 0;
}

function endOf(page: ListSpec["page"]): number {
  return beginOf(page) + page.limit;
}

/** The list over the matches of its search. */
export function withFound(spec: ListSpec, { ids }: Found): ListSpec {
  return { ...spec, scope: { kind: "found", ids } };
}

/** Reads a page in the order of the search; undefined if filters or another order choose from the matches. */
export async function readFound(
  reader: RowReader,
  spec: ListSpec,
  { ids, total }: Found,
): Promise<FoundRows | undefined> {
  if (!isInOrder(spec)) return undefined;
  const end = endOf(spec.page);
  const rows = await reader.read(ids.slice(beginOf(spec.page), end), spec.window);
  const last = ids[end - 1];
  return {
    // The search index follows the catalogue with a delay.
    rows: rows.filter(({ repository }) => repository.availability === "AVAILABLE"),
    total,
    scoped: total,
    last: last === undefined || end >= ids.length ? undefined : { sortKey: relevanceAt(end - 1), id: last },
    plan: FOUND,
  };
}
