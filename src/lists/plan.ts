import type { Summary } from "../rankings/rankings.js";
import type { Filters, ListSpec } from "./spec.js";

/** Totals are exact up to here. A list of at most this many matches can be sorted as a whole; a longer one is walked. */
export const EXACT_TOTAL = 10_000;

/** Rows that the plan "head" reads from the index of the order. */
export const HEAD_ROWS = 2_000;

/**
 * How a page is read, and why.
 * - `gather`: find all matches by the most selective filter, sort them, cut out the page.
 * - `walk`: read the index of the order and test each row until the page is full.
 * - `head`: read the first 2,000 rows of that index and test them. The page may stay incomplete.
 */
export interface Plan {
  plan: "gather" | "walk" | "head";
  reason: string;
}

/** Facts about a list that hold for one revision of the catalogue. */
export interface ListFacts {
  /** Number of matches; EXACT_TOTAL + 1 if there are more. */
  total?: number;
  /** Pages that end at this row or later are not within the head of the order. */
  headEnd?: number;
  /** The languages of the filter as the catalogue spells them. */
  languages?: readonly string[];
  /** Facts about the whole catalogue, shared by all lists. */
  catalogue: { summary?: Summary };
}

/** Whether the matches must be counted before a plan can be chosen. */
export function mustCount({ scope, filters }: ListSpec, { total }: Pick<ListFacts, "total">): boolean {
  return scope.kind === "all" && total === undefined && !isSelective(filters);
}

/** Chooses the plan of a page, once the total is known or gathering finds it. */
export function choosePlan(
  spec: ListSpec,
  { total, headEnd = Number.POSITIVE_INFINITY }: Pick<ListFacts, "total" | "headEnd">,
): Plan {
  const { scope, page } = spec;
  if (scope.kind !== "all") return { plan: "gather", reason: `the scope "${scope.kind}" is bounded` };
  if (total === undefined)
    return { plan: "gather", reason: "the filters are selective, and it counts as well" };
  if (total > EXACT_TOTAL) return WALK;
  const isByCursor = "after" in page;
  const end = isByCursor ? page.limit : page.offset + page.limit;
  const canFill = spec.direction === "desc" && (isByCursor || total > end) && end < headEnd;
  return canFill
    ? { plan: "head", reason: "the total is known, and the head of the order may fill the page" }
    : {
        plan: "gather",
        reason: `at most ${EXACT_TOTAL} matches, and the head of the order cannot fill the page`,
      };
}

/** From this number of matches on, reading the index of the order fills a page quickly. */
export const WALK: Plan = { plan: "walk", reason: `more than ${EXACT_TOTAL} matches` };
export const AFTER_HEAD: Plan = {
  plan: "gather",
  reason: `the first ${HEAD_ROWS} rows of the order did not fill the page`,
};

/** Whether a filter leaves few enough rows to start from it. Leaving out archived repositories or forks does not. */
export function isSelective(filters: Filters): boolean {
  const { archived, fork, reliableOnly: _, excludeAnomalous: __, ...others } = filters;
  return archived === true || fork === true || Object.values(others).some((value) => value !== undefined);
}

/** Number of lists remembered. */
const CAPACITY = 1_000;

/**
 * Remembers facts about lists while the catalogue's revision stays the same: most of the time of a page would go into
 * counting what an earlier page has counted. Evicts the least recently used list.
 */
export class ListMemory {
  #revision = -1;
  #catalogue: ListFacts["catalogue"] = {};
  readonly #lists = new Map<string, ListFacts>();

  /** The facts of a list, for the caller to add to. `revision` must have been read before the list is. */
  of(revision: number, key: string): ListFacts {
    if (revision > this.#revision) {
      this.#revision = revision;
      this.#catalogue = {};
      this.#lists.clear();
    }
    // A request that started before the revision grew may find stale facts; they are not kept.
    if (revision < this.#revision) return { catalogue: {} };
    const facts = this.#lists.get(key) ?? { catalogue: this.#catalogue };
    this.#lists.delete(key);
    this.#lists.set(key, facts);
    const oldest = this.#lists.keys().next();
    if (this.#lists.size > CAPACITY && oldest.done !== true) this.#lists.delete(oldest.value);
    return facts;
  }
}
