import type { Freshness } from "./index/list-index.js";
import { EXACT_TOTAL, type Filters, type ListSpec } from "./spec.js";

/** The plans that read all of a page with SQL. */
export type SqlPlan = "gather" | "walk";

/**
 * How a page is read, and why.
 * - `index`: select the ids of the page with the list index, and read their rows.
 * - `gather`: find all matches by the most selective filter, sort them, cut out the page.
 * - `walk`: read the database's index of the order and test each row until the page is full.
 */
export interface Plan {
  plan: "index" | SqlPlan;
  reason: string;
}

/** What is known about a list before a page of it is read. */
export interface PlanFacts {
  /** Number of matches, EXACT_TOTAL + 1 if there are more; undefined if gathering finds it. */
  total: number | undefined;
  /** Of the list index. */
  freshness: Freshness;
}

const INDEXED: Plan = { plan: "index", reason: "the index is of the present revision" };
const INDEXED_LATELY: Plan = {
  plan: "index",
  reason: "the index is some minutes old at most, and SQL would read many rows",
};
const WALK: Plan = { plan: "walk", reason: `more than ${EXACT_TOTAL} matches` };
const FEW: Plan = { plan: "gather", reason: `at most ${EXACT_TOTAL} matches` };
/** The plan of a search in its own order. */
export const FOUND: Plan = { plan: "gather", reason: "the search gives the order" };
const COUNTS: Plan = { plan: "gather", reason: "the filters are selective, and it counts as well" };

/** Whether the matches must be counted before one of the SQL plans can be chosen. */
export function mustCount({ scope, filters }: ListSpec, total: number | undefined): boolean {
  return scope.kind === "all" && total === undefined && !isSelective(filters);
}

/** Chooses the plan of a page. */
export function choosePlan({ scope, filters }: ListSpec, { total, freshness }: PlanFacts): Plan {
  const isSearch = scope.kind === "found";
  if (scope.kind === "all" || isSearch) {
    if (freshness === "current") return INDEXED;
    if (freshness === "recent" && (isSearch || isSelective(filters) || isTrusted(filters)))
      return INDEXED_LATELY;
  }
  if (scope.kind !== "all") return { plan: "gather", reason: `the scope "${scope.kind}" is bounded` };
  if (total === undefined) return COUNTS;
  return total > EXACT_TOTAL ? WALK : FEW;
}

/** Whether SQL may read very many rows to find a page: the matches of a search, or rows that the filters leave out. */
export function mayReadMany({ scope, filters }: ListSpec): boolean {
  if (scope.kind === "all") return isSelective(filters) || isTrusted(filters);
  return scope.kind === "found";
}

/** Whether a filter leaves few enough rows to start from it. Leaving out archived repositories or forks does not. */
export function isSelective(filters: Filters): boolean {
  const { archived, fork, reliableOnly: _, excludeAnomalous: __, ...others } = filters;
  return archived === true || fork === true || Object.values(others).some((value) => value !== undefined);
}

function isTrusted({ reliableOnly, excludeAnomalous }: Filters): boolean {
  return reliableOnly === true || excludeAnomalous === true;
}
