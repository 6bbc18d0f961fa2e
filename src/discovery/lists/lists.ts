/**
 * Lists of repositories, for the API, feeds and pages. A query is parsed into a ListSpec, which is plain data; `Lists` reads a
 * page of it with its growth. This module owns the names and rules of list parameters, cursors, and the SQL of lists, for
 * which it knows the tables of the catalogue, the rankings and the watchlists. It knows nothing of HTTP.
 */

import type { Database } from "../../database/database.js";
import type { Window } from "../../growth/growth.js";
import { ageInDays, type Clock } from "../../lib/clock.js";
import type { Catalog } from "../../repositories/repositories.js";
import type { Summary } from "../home/summary.js";
import type { Rankings } from "../rankings.js";
import type { Search } from "../search/search.js";
import { findRows, type Plan, readFound, searchFor } from "./find-rows.js";
import type { CountRequest, FacetCounts } from "./index/counters.js";
import type { ListIndex } from "./index/list-index.js";
import { countIndexed } from "./indexed.js";
import {
  findRenamed,
  type KnownList,
  ListMemory,
  licenseNames,
  type RenamedName,
  type UnmatchedValue,
  unmatchedValues,
} from "./known.js";
import { type ListQuery, listSpec, type PageQuery, type WatchlistQuery, watchlistSpec } from "./query.js";
import { type ListRow, RowReader, type RowRequest } from "./rows.js";
import { beginOf, EXACT_TOTAL, encodeCursor, type ListSpec, listKey, type Scope } from "./spec.js";

export type { Plan } from "./find-rows.js";
export { followIndex, startIndexBuilder } from "./index/builder.js";
export type {
  BoundCounts,
  CountRequest,
  FacetCounts,
  Precision,
  ValueCount,
  ValueCounts,
} from "./index/counters.js";
export { ListIndex } from "./index/list-index.js";
export type { RenamedName, UnmatchedValue } from "./known.js";
export * from "./parameters.js";
export {
  filterParameters,
  filterWords,
  type ListFilters,
  type ListQuery,
  listQuery,
  listSpec,
  pageOffset,
  type WatchlistQuery,
  watchlistQuery,
} from "./query.js";
export { isRemembered, type ListRow } from "./rows.js";
export type { Filters, ListSpec, Scope, Sort } from "./spec.js";
export { decodeCursor, EXACT_TOTAL, isGrowthSort, isSort, listKey, SORTS, WATCHLIST_SORTS } from "./spec.js";

/** Some consecutive rows of a list. */
export interface ListRows {
  rows: ListRow[];
  /** At most EXACT_TOTAL. */
  total: number;
  /** false: there are more than `total`. */
  totalIsExact: boolean;
  hasMore: boolean;
  /** Cursor of the next page; null at the end. */
  nextCursor: string | null;
  /** End of the windows: the time of the newest snapshot, of the provider if the list has one. Null without any. */
  asOf: number | null;
  /** Days in UTC from `asOf` to now; null without any. */
  ageDays: number | null;
  /** How the rows were read. */
  plan: Plan;
  /** The text whose matches these are, if it is not the one searched for but one without its typing errors. */
  corrected: string | null;
  /** A name that was searched for and continues as another; absent without one, and after the first page. */
  renamed?: RenamedName;
  /** Values of filters that nothing in the catalogue has; only of an empty list, and absent without any. */
  unmatched?: UnmatchedValue[];
  /** The counts that were requested; absent without the list index, and where a search has no match. */
  counts?: FacetCounts;
}

/** The page of a list that a query requests. */
export interface ListPage extends ListRows {
  sort: ListSpec["sort"];
  /** Number of the page; null if it was requested by cursor. */
  page: number | null;
}

/** The module that list pages are read from. */
export interface ListModules {
  lists: Lists;
}

/** How a list is read. */
export interface ReadOptions {
  /** Also counts how many repositories other values of its filters would list. */
  counted?: CountRequest | undefined;
}

/** Reads a page of a list. Throws VALIDATION_FAILED and INVALID_REQUEST for parameters that contradict each other. */
export async function listPage(
  { lists }: ListModules,
  query: ListQuery,
  options?: ReadOptions,
): Promise<ListPage> {
  const spec = listSpec(query);
  return pageOf(spec, query, await lists.read(spec, options));
}

/** Reads a page of a watchlist; repositories that are gone stay in it. Throws as `listPage` does. */
export async function watchlistPage(
  { lists }: ListModules,
  scope: Scope,
  query: WatchlistQuery,
): Promise<ListPage> {
  const spec = watchlistSpec(scope, query);
  return pageOf(spec, query, await lists.read(spec));
}

function pageOf({ sort }: ListSpec, { page = 1, cursor }: PageQuery, rows: ListRows): ListPage {
  return { ...rows, sort, page: cursor === undefined ? page : null };
}

export interface ListParts {
  database: Database;
  catalog: Catalog;
  rankings: Rankings;
  search: Search;
  clock: Pick<Clock, "now">;
  /** Absent: all lists are found with SQL alone. */
  index?: ListIndex;
  /** Size of the catalogue from which lists use `Database.scan`; default 20,000. */
  scansFrom?: number;
}

/** Reads lists. It remembers totals as long as the revision of the catalogue stays the same. */
export class Lists {
  readonly #parts: ListParts & { rows: RowReader };
  readonly #memory = new ListMemory();

  constructor(parts: ListParts) {
    this.#parts = { ...parts, rows: new RowReader(parts.database, parts.catalog) };
  }

  /** The repositories with these ids and their growth in the window, in the same order. Unknown ids are skipped. */
  rows(ids: readonly number[], window: Window): Promise<ListRow[]> {
    return this.#parts.rows.read(ids, window);
  }

  /** The same for several lists, by one statement per window. */
  rowsOfEach(requests: readonly RowRequest[]): Promise<ListRow[][]> {
    return this.#parts.rows.readEach(requests);
  }

  /**
   * Reads the rows of a page with their growth. Costs one statement to read them, and without the index one to find them;
   * then the first page of a list after a change costs up to three more. The revision is read once a second.
   * Counting takes one more with rare topics, and none otherwise.
   */
  async read(spec: ListSpec, { counted }: ReadOptions = {}): Promise<ListRows> {
    const { catalog, rankings, search, clock } = this.#parts;
    // Read the revision first, so that data cached for it is at least as new.
    const revision = await catalog.recentRevision();
    const key = listKey(spec);
    const known = this.#memory.of(revision, key);
    const summary = known.catalogue.summary ?? (await rankings.summary());
    known.catalogue.summary ??= summary;
    const asOf = newestOf(summary, spec.filters.provider);
    // Not that of the summary, which is remembered.
    const ageDays = ageInDays(asOf, clock.now());
    const found = await searchFor(search, spec, counted !== undefined);
    const renamed = await this.#renamed(spec, summary);
    if (found?.ids.length === 0)
      return { ...EMPTY, asOf, ageDays, ...renamed, ...(await this.#unmatched(spec, known)) };
    const list: ListSpec = found === undefined ? spec : { ...spec, scope: { kind: "found", ids: found.ids } };
    const { rows, total, scoped, last, plan } =
      (found && (await readFound(this.#parts.rows, spec, found))) ??
      (await findRows(this.#parts, list, { known, revision }));
    return {
      rows,
      total: Math.min(total, EXACT_TOTAL),
      totalIsExact: total <= EXACT_TOTAL && scoped <= EXACT_TOTAL,
      hasMore: last !== undefined,
      nextCursor: last === undefined ? null : encodeCursor(key, last),
      asOf,
      ageDays,
      plan,
      corrected: found?.corrected ?? null,
      ...renamed,
      ...(total === 0 ? await this.#unmatched(spec, known) : {}),
      ...(counted && (await this.#counts(list, { request: counted, revision }))),
    };
  }

  async #counts(
    list: ListSpec,
    { request, revision }: { request: CountRequest; revision: number },
  ): Promise<Pick<ListRows, "counts">> {
    const { database, index } = this.#parts;
    if (index === undefined) return {};
    const counts = await countIndexed({ database, index }, list, { request, revision });
    return counts === undefined ? {} : { counts };
  }

  async #unmatched({ filters }: ListSpec, known: KnownList): Promise<Pick<ListRows, "unmatched">> {
    const { database, rankings } = this.#parts;
    const summary = known.catalogue.summary ?? (await rankings.summary());
    const licenses = () => licenseNames(database, known);
    const unmatched = await unmatchedValues(filters, { rankings, summary, licenses });
    return unmatched.length === 0 ? {} : { unmatched };
  }

  async #renamed(spec: ListSpec, { providers }: Summary): Promise<Pick<ListRows, "renamed">> {
    if (spec.scope.kind !== "search" || beginOf(spec.page) > 0) return {};
    const names = providers.map(({ provider }) => provider);
    const renamed = await findRenamed(this.#parts.catalog, spec, names);
    return renamed === undefined ? {} : { renamed };
  }
}

/** The time of the newest snapshot: of this provider, or of all. null without any. */
export function newestOf({ asOf, providers }: Summary, provider: string | undefined): number | null {
  if (provider === undefined) return asOf;
  return providers.find((one) => one.provider === provider)?.asOf ?? null;
}

const EMPTY: Omit<ListRows, "asOf" | "ageDays"> = {
  rows: [],
  total: 0,
  totalIsExact: true,
  hasMore: false,
  nextCursor: null,
  plan: { plan: "gather", reason: "the search has no match" },
  corrected: null,
};
