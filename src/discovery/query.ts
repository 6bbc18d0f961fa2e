/**
 * Queries of lists: their parameters, the list that they request as plain data, its canonical text and cursors, and the sorts, each
 * declared once. Sorts compare columns of the catalogue in memory: `GROWTH_ORDER_COLUMNS` declares those of growth, `PlainColumn` those
 * of facts. How pages offer and show a sort is in `web/components/listing.tsx`.
 */
import { createHash } from "node:crypto";
import {
  GROWTH_ORDER_COLUMNS,
  type GrowthOrder,
  RANKING_DEFINITIONS,
  RISING_WINDOWS,
  SCORE_LABELS,
  WINDOWS,
  type Window,
} from "../growth/growth.js";
import { AppError, invalidParameter } from "../lib/errors.js";
import { oneOf, z } from "../lib/schema.js";
import type { PlainColumn } from "./columns.js";
import {
  eachFilter,
  FILTER_PARAMETERS,
  type FilterName,
  type Filters,
  filtersOf,
  foldedLicense,
  isFiltered,
} from "./filters.js";
import { cursorParameter, limitParameter, pageParameter, searchText, windowParameter } from "./parameters.js";

/** Sorts of lists: all but `added`, which is the order of a watchlist. */
export type Sort = "relevance" | GrowthOrder | PlainColumn;

interface SortDefinition {
  label: string;
  /** Whether watchlists offer it. */
  isInWatchlists?: true;
  /** The windows that it has; absent: all. */
  windows?: readonly Window[];
  /** The title of its feed, at `/api/feeds/<name>.atom`; absent: it has none. */
  feed?: string;
}

/** Every sort, in the order in which they are offered. */
export const SORT_DEFINITIONS: Readonly<Record<Sort | "added", SortDefinition>> = {
  added: { label: "Added", isInWatchlists: true },
  relevance: { label: "Best match" },
  trending: {
    label: RANKING_DEFINITIONS.trending.label,
    isInWatchlists: true,
    feed: "trending repositories",
  },
  rising: { label: SCORE_LABELS.rising.label, windows: RISING_WINDOWS, feed: "rising repositories" },
  "new-hot": { label: RANKING_DEFINITIONS["new-hot"].label, feed: "new and hot repositories" },
  "stars-gained": { label: RANKING_DEFINITIONS["stars-gained"].label, isInWatchlists: true },
  "forks-gained": { label: RANKING_DEFINITIONS["forks-gained"].label },
  "stars-delta": { label: "Stars gained, raw" },
  stars: {
    label: RANKING_DEFINITIONS.stars.label,
    isInWatchlists: true,
    feed: "repositories with most stars",
  },
  forks: { label: "Forks", isInWatchlists: true },
  pushed: { label: "Last push", isInWatchlists: true },
  created: { label: "Newest", isInWatchlists: true },
  updated: { label: "Last read" },
};

const NAMES = Object.keys(SORT_DEFINITIONS) as (Sort | "added")[];

/** Every sort that a list of repositories offers. */
export const SORTS = NAMES.filter(isSort);

/** The rankings and rising, which has no ranks: the sorts of pages of a language or topic, and of published sites. */
export const MAIN_SORTS = ["trending", "rising", "new-hot", "stars-gained", "forks-gained", "stars"] as const;

/** The sorts that have a feed. */
export const FEEDS = SORTS.filter((sort) => SORT_DEFINITIONS[sort].feed !== undefined);

export const WATCHLIST_SORTS = NAMES.filter((name) => SORT_DEFINITIONS[name].isInWatchlists);

export function isSort(text: string): text is Sort {
  return text !== "added" && Object.hasOwn(SORT_DEFINITIONS, text);
}

/** The windows of lists in an order. */
export function windowsOf(sort: string): readonly Window[] {
  return (isSort(sort) && SORT_DEFINITIONS[sort].windows) || WINDOWS;
}

/** Whether a sort is by growth, or by a score of it, in a window. */
export function isGrowthSort(sort: string): sort is GrowthOrder {
  return Object.hasOwn(GROWTH_ORDER_COLUMNS, sort);
}

/** The default order of a list: by trending score, then all others by stars. */
export const DEFAULT_SORT = "trending-first";

/** Pages are reached by number up to this row, and by cursor beyond. */
export const LAST_NUMBERED = 10_000;

/** The repositories that a list chooses from. */
export type Scope =
  | { kind: "all" }
  /** The matches of this text. Typing errors are corrected unless `verbatim`. */
  | { kind: "search"; text: string; verbatim?: true }
  | { kind: "watchlist"; id: number };

/** Identifies a row within the order of a list; a cursor continues after it. */
export interface RowKey {
  sortKey: number;
  id: number;
}

/** A list of repositories, as plain data: two equal specs give equal lists while the catalogue does not change. */
export interface ListSpec {
  scope: Scope;
  filters: Filters;
  sort: Sort | "added" | typeof DEFAULT_SORT;
  /** Unknown values come last in both directions. */
  direction: "asc" | "desc";
  /** The window of the trends, and of a sort by growth. */
  window: Window;
  page: { limit: number; offset: number } | { limit: number; after: RowKey };
}

/** A canonical text of a list without its page; without the window if neither order nor filters depend on it. */
export function listKey({ scope, filters, sort, direction, window }: Omit<ListSpec, "page">): string {
  const dependsOnWindow = isGrowthSort(sort) || sort === DEFAULT_SORT || isFiltered(filters, "trend");
  const { license } = filters;
  const folded = license === undefined ? filters : { ...filters, license: foldedLicense(license) };
  const sorted = (value: object) => Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([sorted(scope), sorted(folded), sort, direction, dependsOnWindow ? window : null]);
}

const CURSOR = z.tuple([z.string(), z.int(), z.int().min(0)]);
const NOT_A_CURSOR = "not a cursor of this query; start again without one";

/** Ties a cursor to its list. */
function fingerprint(key: string): string {
  return createHash("sha256").update(key).digest("base64url").slice(0, 12);
}

/** An opaque text that continues the list with this key after a row. */
export function encodeCursor(listKey: string, { sortKey, id }: RowKey): string {
  return Buffer.from(JSON.stringify([fingerprint(listKey), sortKey, id])).toString("base64url");
}

/** The row in a cursor. Throws INVALID_REQUEST for a cursor that was not made for this list. */
export function decodeCursor(listKey: string, cursor: string): RowKey {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    value = undefined;
  }
  const parsed = CURSOR.safeParse(value);
  if (!parsed.success || parsed.data[0] !== fingerprint(listKey)) {
    throw new AppError("INVALID_REQUEST", `cursor: ${NOT_A_CURSOR}`, {
      details: [{ parameter: "cursor", message: NOT_A_CURSOR }],
    });
  }
  return { sortKey: parsed.data[1], id: parsed.data[2] };
}

/** The sort key of the match at an index of a search's order: as in other orders, a greater one comes first. */
export function relevanceAt(index: number): number {
  return LAST_NUMBERED + 1 - index;
}

/** The reverse. */
export function indexOfRelevance(sortKey: number): number {
  return LAST_NUMBERED + 1 - sortKey;
}

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
      "Default: relevance with q, otherwise all repositories, by trending and then by stars. relevance requires q. stars-gained is by the gain that counts, stars-delta by the plain difference.",
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
  const allowed = windowsOf(sort);
  if (!allowed.includes(query.window))
    throw invalidParameter("window", `sort=${sort} needs ${allowed.join(" or ")}`, { allowed });
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
