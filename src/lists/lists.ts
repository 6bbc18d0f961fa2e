/**
 * Lists of repositories as they are asked for in addresses: of the API, of feeds and of pages alike. It owns the names and
 * rules of the parameters, and turns them into a page of the catalogue with its growth. It knows nothing of HTTP.
 */
import type { RawBuilder } from "kysely";
import {
  type Catalog,
  checkDepth,
  type Filters,
  type ListRequest,
  type Order,
  plainOrder,
  type Repository,
  type RepositoryPage,
} from "../catalog/catalog.js";
import { invalidParameter } from "../errors.js";
import type { Rankings, Trend } from "../rankings/rankings.js";
import type { Search } from "../search/search.js";
import type { Watchlists } from "../watchlists/watchlists.js";
import { decodeCursor, encodeCursor } from "./cursor.js";
import { isGrowthOrder, type ListQuery, SORTS, type Sort, type WatchlistQuery } from "./query.js";

export { filterParameters, filterWords, type ListFilters } from "./canonical.js";
export * from "./parameters.js";
export {
  type ListQuery,
  listQuery,
  SORTS,
  type Sort,
  WATCHLIST_SORTS,
  type WatchlistQuery,
  watchlistQuery,
} from "./query.js";

/** What lists are answered from. */
export interface ListModules {
  catalog: Catalog;
  rankings: Rankings;
  search: Search;
  watchlists: Watchlists;
}

/** A page of a list. */
export interface ListPage {
  /** In order, each with its growth in the window; undefined where it has none. */
  rows: { repository: Repository; trend: Trend | undefined }[];
  /** By what the list is sorted in the end. */
  sort: string;
  /** Number of the page; null where it was asked for by cursor. */
  page: number | null;
  total: number;
  totalIsExact: boolean;
  hasMore: boolean;
  /** What asks for the next page; null at the end. */
  nextCursor: string | null;
  /** When the windows end: the newest snapshot. Milliseconds; null where there is none. */
  asOf: number | null;
}

/** Answers a list. Throws VALIDATION_FAILED and INVALID_REQUEST for what does not fit together. */
export async function listPage(modules: ListModules, query: ListQuery): Promise<ListPage> {
  const { catalog, search, rankings } = modules;
  const { window } = query;
  const sort = sortOf(query);
  const q = query.q === undefined || query.q === "" ? undefined : query.q;
  const within = q === undefined ? undefined : search.matches(q);
  const asOf = await newest(rankings, query.provider);
  const filters = await filtersOf(rankings, query, sort);
  const order = orderOf(modules, sort, query, q ?? "");
  const through = rankings.trusted({
    window,
    reliableOnly: query.reliableOnly === "true",
    excludeAnomalous: query.excludeAnomalous === "true",
  });
  const trusted = through === undefined ? "" : `${window} ${query.reliableOnly} ${query.excludeAnomalous}`;
  const identity = { filters, order: order.name, q, trusted };
  const place = placeOf(query, identity);
  if (q !== undefined && within === undefined) {
    const page = pageNumber(query);
    return { rows: [], sort, page, total: 0, totalIsExact: true, hasMore: false, nextCursor: null, asOf };
  }
  const found = await catalog.list({
    filters,
    order,
    ...(within === undefined ? { name: JSON.stringify(identity) } : { within, isWithinBounded: true }),
    ...(through === undefined ? {} : { through }),
    ...place,
  });
  return pageOf(rankings, found, query, { sort, asOf, identity });
}

/** A watchlist: a select of its repositories, and what names it in cursors. */
export interface ListedWatchlist {
  watchlist: number | string;
  within: RawBuilder<unknown>;
}

/** A page of the repositories of a watchlist; those that are gone stay in it. */
export async function watchlistPage(
  { catalog, rankings, watchlists }: ListModules,
  { watchlist, within }: ListedWatchlist,
  query: WatchlistQuery,
): Promise<ListPage> {
  const { sort } = query;
  const direction = query.order ?? (sort === "added" ? "asc" : "desc");
  const order =
    sort === "added"
      ? watchlists.addedOrder(direction)
      : isGrowthOrder(sort)
        ? rankings.growthOrderOfAll(sort, query.window, direction)
        : plainOrder(sort, direction);
  const identity = { watchlist, order: order.name };
  const place = placeOf(query, identity);
  const found = await catalog.list({ filters: {}, order, within, withUnavailable: true, ...place });
  return pageOf(rankings, found, query, { sort, asOf: await newest(rankings, undefined), identity });
}

async function newest(rankings: Rankings, provider: string | undefined): Promise<number | null> {
  const summary = await rankings.summary();
  if (provider === undefined) return summary.asOf;
  return summary.providers.find((one) => one.provider === provider)?.asOf ?? null;
}

async function pageOf(
  rankings: Rankings,
  found: RepositoryPage,
  query: PlaceQuery & { window: ListQuery["window"] },
  { sort, asOf, identity }: { sort: string; asOf: number | null; identity: unknown },
): Promise<ListPage> {
  const { repositories, total, totalIsExact, hasMore } = found;
  const trends = await rankings.trends(
    repositories.map((repository) => repository.id),
    query.window,
  );
  return {
    rows: repositories.map((repository) => ({ repository, trend: trends.get(repository.id) })),
    sort,
    page: pageNumber(query),
    total,
    totalIsExact,
    hasMore,
    nextCursor: nextCursorOf(found, identity),
    asOf,
  };
}

function sortOf({ q, sort }: ListQuery): Sort {
  const hasQuery = q !== undefined && q !== "";
  if (sort === "relevance" && !hasQuery) {
    const allowed = SORTS.filter((name) => name !== "relevance");
    throw invalidParameter("sort", `relevance needs q; without it, one of ${allowed.join(", ")}`, {
      allowed,
    });
  }
  return sort ?? (hasQuery ? "relevance" : "trending");
}

async function filtersOf(rankings: Rankings, query: ListQuery, sort: Sort): Promise<Filters> {
  const isGrowth = isGrowthOrder(sort);
  const truth = (value: ListQuery["archived"]): boolean | undefined =>
    value === "any" || (value === undefined && !isGrowth) ? undefined : value === "true";
  const { provider, license, minStars, maxStars, createdAfter, createdBefore, pushedAfter } = query;
  const given = {
    provider,
    languages: query.language && (await rankings.languageNames(query.language)),
    topics: query.topic?.map((topic) => topic.toLowerCase()),
    license,
    minStars,
    maxStars,
    createdAfter,
    createdBefore,
    pushedAfter,
    archived: truth(query.archived),
    fork: truth(query.fork),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function orderOf(
  { rankings, search }: ListModules,
  sort: Sort,
  { window, order }: ListQuery,
  q: string,
): Order {
  switch (sort) {
    case "relevance":
      return search.relevanceOrder(q);
    default:
      return isGrowthOrder(sort) ? rankings.growthOrder(sort, window, order) : plainOrder(sort, order);
  }
}

interface PlaceQuery {
  limit: number;
  page?: number | undefined;
  cursor?: string | undefined;
}

const pageNumber = ({ page, cursor }: PlaceQuery): number | null =>
  cursor === undefined ? (page ?? 1) : null;

/** Where the page is: after a cursor's place, or so many rows in. */
function placeOf(query: PlaceQuery, identity: unknown): Pick<ListRequest, "limit" | "offset" | "after"> {
  const { limit, page, cursor } = query;
  if (cursor === undefined) {
    checkDepth(page ?? 1, limit);
    return { limit, offset: ((page ?? 1) - 1) * limit };
  }
  if (page !== undefined) throw invalidParameter("page", "cannot be given together with cursor");
  return { limit, offset: 0, after: decodeCursor(identity, cursor) };
}

function nextCursorOf({ repositories, keys, hasMore }: RepositoryPage, identity: unknown): string | null {
  const id = repositories.at(-1)?.id;
  const key = keys.at(-1);
  return hasMore && id !== undefined && key !== undefined ? encodeCursor(identity, { key, id }) : null;
}
