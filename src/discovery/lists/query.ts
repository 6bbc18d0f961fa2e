/** Queries of lists: their parameters, the list that they request, and one canonical way to write their filters. */
import { invalidParameter } from "../../lib/errors.js";
import { oneOf, z } from "../../lib/schema.js";
import { eachFilter, FILTER_PARAMETERS, type FilterName, filtersOf } from "./filters.js";
import { cursorParameter, limitParameter, pageParameter, searchText, windowParameter } from "./parameters.js";
import { DEFAULT_SORT, isGrowthSort, SORTS, type Sort, WATCHLIST_SORTS } from "./sorts.js";
import { decodeCursor, LAST_NUMBERED, type ListSpec, listKey } from "./spec.js";

/** Parameters of every list of repositories. */
export const listQuery = z.object({
  q: searchText(200).optional().openapi({
    description:
      "Search text: a name, owner/name, the address of a repository, or words that must all occur. The last word may be a prefix.",
  }),
  verbatim: z
    .enum(["true", "false"])
    .default("false")
    .openapi({ description: "true: do not correct typing errors in q when little is found." }),
  ...FILTER_PARAMETERS,
  sort: oneOf(SORTS).optional().openapi({
    description:
      "Default: relevance with q, otherwise all repositories, by trending and then by stars. relevance requires q. stars-gained and forks-gained are by the gain that counts, stars-delta and forks-delta by the plain difference.",
  }),
  order: z.enum(["asc", "desc"]).default("desc").openapi({ description: "Ignored for relevance." }),
  window: windowParameter,
  limit: limitParameter,
  page: pageParameter,
  cursor: cursorParameter,
});

export type ListQuery = z.output<typeof listQuery>;

/** Parameters of the repositories of a watchlist. */
export const watchlistQuery = z.object({
  window: windowParameter,
  sort: oneOf(WATCHLIST_SORTS).default("added").openapi({
    description: "trending and stars-gained use the window; repositories without a trend in it come last.",
  }),
  order: z
    .enum(["asc", "desc"])
    .optional()
    .openapi({ description: "Default: asc for added, otherwise desc." }),
  limit: limitParameter,
  page: pageParameter,
  cursor: cursorParameter,
});

export type WatchlistQuery = z.output<typeof watchlistQuery>;

/** The list that a query requests. Throws VALIDATION_FAILED and INVALID_REQUEST for parameters that contradict each other. */
export function listSpec(query: ListQuery): ListSpec {
  checkRanges(query);
  const sort = sortOf(query);
  const text = query.q ?? "";
  return withPage(
    {
      scope: text === "" ? { kind: "all" } : searchScope(text, query.verbatim === "true"),
      filters: filtersOf(query, isGrowthSort(sort)),
      sort,
      direction: sort === "relevance" ? "desc" : query.order,
      window: query.window,
    },
    query,
  );
}

/** Throws VALIDATION_FAILED for a range without any value. */
function checkRanges(query: ListFilters): void {
  const { minStars = 0, maxStars = minStars, createdAfter, createdBefore } = query;
  if (maxStars < minStars) throw invalidParameter("maxStars", "must not be less than minStars");
  if (createdAfter !== undefined && createdBefore !== undefined && createdBefore <= createdAfter)
    throw invalidParameter("createdBefore", "must be later than createdAfter");
}

function searchScope(text: string, verbatim: boolean): ListSpec["scope"] {
  return { kind: "search", text, ...(verbatim ? { verbatim } : {}) };
}

/** The list of a watchlist's repositories. Throws as `listSpec` does. */
export function watchlistSpec(scope: ListSpec["scope"], query: WatchlistQuery): ListSpec {
  const { sort, window } = query;
  const direction = query.order ?? (sort === "added" ? "asc" : "desc");
  return withPage({ scope, filters: {}, sort, direction, window }, query);
}

/** Number of rows before a page. Throws VALIDATION_FAILED for a page too deep to reach by number; `advice` names a way. */
export function pageOffset({ page = 1, limit }: PageQuery, advice = ""): number {
  if (page * limit <= LAST_NUMBERED) return (page - 1) * limit;
  throw invalidParameter("page", `page × limit may be at most ${LAST_NUMBERED}${advice}`);
}

export interface PageQuery {
  limit: number;
  page?: number | undefined;
  cursor?: string | undefined;
}

function withPage(list: Omit<ListSpec, "page">, query: PageQuery): ListSpec {
  const { limit, page, cursor } = query;
  if (cursor === undefined)
    return { ...list, page: { limit, offset: pageOffset(query, "; use cursor to go further") } };
  if (page !== undefined) throw invalidParameter("page", "cannot be given together with cursor");
  return { ...list, page: { limit, after: decodeCursor(listKey(list), cursor) } };
}

function sortOf({ q = "", sort }: ListQuery): Sort | typeof DEFAULT_SORT {
  if (sort === "relevance" && q === "") {
    const allowed = SORTS.filter((name) => name !== "relevance");
    throw invalidParameter("sort", `relevance needs q; without it, one of ${allowed.join(", ")}`, {
      allowed,
    });
  }
  return sort ?? (q === "" ? DEFAULT_SORT : "relevance");
}

/** The filters of a query, without its sort, window and page. */
export type ListFilters = Pick<ListQuery, FilterName | "q" | "verbatim">;

/** The filters as canonical parameters: no defaults, one case, one order. So equal lists have equal addresses. */
export function filterParameters({ q, verbatim, ...filters }: ListFilters): URLSearchParams {
  const given = eachFilter(filters, ({ text }, value, name) =>
    [text(value)].flat().map((one) => [name, one]),
  );
  return new URLSearchParams([
    ...(q ? [["q", q]] : []),
    ...given.flat(),
    ...(verbatim === "true" ? [["verbatim", verbatim]] : []),
  ]);
}

/** The filters in English, such as `language rust or go, at least 100 stars`; empty without filters. */
export function filterWords({ q, ...filters }: ListFilters): string {
  const words = eachFilter(filters, (filter, value) => filter.words(value));
  return [...(q ? [`matching “${q}”`] : []), ...words].join(", ");
}
