/** Queries of lists: their parameters, the list that they request, and one canonical way to write their filters. */
import { isoTime } from "../../lib/clock.js";
import { invalidParameter } from "../../lib/errors.js";
import { oneOf, z } from "../../lib/schema.js";
import {
  count,
  cursorParameter,
  exactText,
  limitParameter,
  pageParameter,
  providerParameter,
  repeatable,
  searchText,
  timeParameter,
  windowParameter,
} from "./parameters.js";
import {
  DEFAULT_SORT,
  decodeCursor,
  type Filters,
  isGrowthSort,
  LAST_NUMBERED,
  type ListSpec,
  listKey,
  SORTS,
  type Sort,
  WATCHLIST_SORTS,
} from "./spec.js";

const flag = z.enum(["true", "false", "any"]);
const choice = z.enum(["true", "false"]).default("false");
const MAX_STARS = 1e12;

/** Parameters of every list of repositories. */
export const listQuery = z.object({
  q: searchText(200).optional().openapi({
    description:
      "Search text: a name, owner/name, the address of a repository, or words that must all occur. The last word may be a prefix.",
  }),
  verbatim: choice.openapi({
    description: "true: do not correct typing errors in q when little is found.",
  }),
  provider: providerParameter.optional(),
  language: repeatable("Any of these languages. Case is ignored."),
  topic: repeatable("Any of these topics. Case is ignored."),
  license: exactText.optional().openapi({ description: "SPDX expression. Case is ignored." }),
  minStars: count(0, MAX_STARS).optional(),
  maxStars: count(0, MAX_STARS).optional(),
  createdAfter: timeParameter.optional().openapi({ description: "Created at this time or later." }),
  createdBefore: timeParameter.optional().openapi({ description: "Created before this time." }),
  pushedAfter: timeParameter.optional().openapi({ description: "Last push at this time or later." }),
  archived: flag
    .optional()
    .openapi({ description: "Default: any for plain sorts, false for sorts by growth." }),
  fork: flag.optional().openapi({ description: "Default: any for plain sorts, false for sorts by growth." }),
  sort: oneOf(SORTS).optional().openapi({
    description:
      "Default: relevance with q, otherwise all repositories, by trending and then by stars. relevance requires q. stars-gained and forks-gained are by the gain that counts, stars-delta and forks-delta by the plain difference.",
  }),
  reliableOnly: choice.openapi({ description: "Only repositories whose trend in the window is reliable." }),
  excludeAnomalous: choice.openapi({
    description:
      "Only repositories without an open anomaly in the window, and without an unusual gain that forks do not support yet.",
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
  const sort = sortOf(query);
  const text = query.q ?? "";
  return withPage(
    {
      scope: text === "" ? { kind: "all" } : searchScope(text, query.verbatim === "true"),
      filters: filtersOf(query, sort),
      sort,
      direction: sort === "relevance" ? "desc" : query.order,
      window: query.window,
    },
    query,
  );
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

function filtersOf(query: ListQuery, sort: string): Filters {
  const { provider, license, minStars, maxStars, createdAfter, createdBefore, pushedAfter } = query;
  const flagOf = (value: ListQuery["archived"]): boolean | undefined => {
    if (value === undefined) return isGrowthSort(sort) ? false : undefined;
    return value === "any" ? undefined : value === "true";
  };
  return withoutUndefined({
    provider,
    languages: query.language && folded(query.language),
    topics: query.topic && folded(query.topic),
    license,
    minStars,
    maxStars,
    createdAfter,
    createdBefore,
    pushedAfter,
    archived: flagOf(query.archived),
    fork: flagOf(query.fork),
    reliableOnly: query.reliableOnly === "true" ? true : undefined,
    excludeAnomalous: query.excludeAnomalous === "true" ? true : undefined,
  });
}

/** In lower case, each once, sorted: neither the order nor the case of a repeated parameter matters. */
function folded(values: readonly string[] = []): string[] {
  return [...new Set(values.map((value) => value.toLowerCase()))].sort();
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

function withoutUndefined<T extends object>(value: T): Defined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as Defined<T>;
}

/** The filters of a query, without its sort, window and page. */
export type ListFilters = Omit<ListQuery, "sort" | "order" | "window" | "limit" | "page" | "cursor">;

/** Filters with a single value, in the order in which they are written. */
const SINGLE = ["license", "minStars", "maxStars", "archived", "fork"] as const;
const TIMES = ["createdAfter", "createdBefore", "pushedAfter"] as const;

/** The filters as canonical parameters: no defaults, one case, one order. So equal lists have equal addresses. */
export function filterParameters(filters: ListFilters): URLSearchParams {
  const parameters = new URLSearchParams();
  if (filters.q) parameters.set("q", filters.q);
  if (filters.provider !== undefined) parameters.set("provider", filters.provider.toLowerCase());
  for (const name of ["language", "topic"] as const)
    for (const value of folded(filters[name])) parameters.append(name, value);
  for (const name of SINGLE) if (filters[name] !== undefined) parameters.set(name, String(filters[name]));
  for (const name of TIMES) if (filters[name] !== undefined) parameters.set(name, timeText(filters[name]));
  for (const name of ["verbatim", "reliableOnly", "excludeAnomalous"] as const)
    if (filters[name] === "true") parameters.set(name, "true");
  return parameters;
}

/** The filters in English, such as `language rust or go, at least 100 stars`; empty without filters. */
export function filterWords(filters: ListFilters): string {
  const { q, provider, license, minStars, maxStars, archived, fork } = filters;
  const words = {
    matching: q && `matching “${q}”`,
    provider: provider && `on ${provider.toLowerCase()}`,
    language: filters.language && `language ${folded(filters.language).join(" or ")}`,
    topic: filters.topic && `topic ${folded(filters.topic).join(" or ")}`,
    license: license && `license ${license}`,
    minStars: minStars !== undefined && `at least ${format.format(minStars)} stars`,
    maxStars: maxStars !== undefined && `at most ${format.format(maxStars)} stars`,
    createdAfter: filters.createdAfter !== undefined && `created since ${timeText(filters.createdAfter)}`,
    createdBefore: filters.createdBefore !== undefined && `created before ${timeText(filters.createdBefore)}`,
    pushedAfter: filters.pushedAfter !== undefined && `pushed since ${timeText(filters.pushedAfter)}`,
    archived: archived && { true: "archived", false: "not archived", any: "archived or not" }[archived],
    fork: fork && { true: "forks", false: "no forks", any: "forks or not" }[fork],
    reliableOnly: filters.reliableOnly === "true" && "reliable growth only",
    excludeAnomalous: filters.excludeAnomalous === "true" && "without unusual growth",
  };
  return Object.values(words)
    .filter((part) => typeof part === "string" && part !== "")
    .join(", ");
}

const format = new Intl.NumberFormat("en-US");

/** A time as text; midnight in UTC as the day alone. */
function timeText(ms: number): string {
  return isoTime(ms).replace("T00:00:00.000Z", "");
}
