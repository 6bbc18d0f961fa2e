/**
 * Lists of repositories, for the API, feeds and pages. A query is parsed into a ListSpec, which is plain data; `Lists` reads a
 * page of it with its growth. It knows nothing of HTTP.
 */
import { sql } from "kysely";
import type { Database, Prepared } from "../../database/database.js";
import type { Window } from "../../growth/growth.js";
import { ageInDays, type Clock } from "../../lib/clock.js";
import type { Catalog } from "../../repositories/repositories.js";
import { type Freshness, freshnessOf } from "../freshness.js";
import {
  type CountRequest,
  countFacets,
  type FacetCounts,
  type KnownFacts,
  knownFacts,
} from "../memory/counts.js";
import type { LiveModel, LoadedModel } from "../memory/live-model.js";
import type { Evaluation } from "../memory/read-model.js";
import { type Selection, selectAmong, selectByColumn, selectByRelevance } from "../memory/select.js";
import { allOf } from "../search/relevance.js";
import { searchIn } from "../search/search.js";
import type { Vocabulary } from "../search/typos.js";
import { catalogueFreshness, SummaryReader } from "../summary.js";
import { type ListQuery, listSpec, type PageQuery, type WatchlistQuery, watchlistSpec } from "./query.js";
import { type ListRow, measuredAt, RowReader, type RowRequest } from "./rows.js";
import { DEFAULT_SORT } from "./sorts.js";
import { encodeCursor, type ListSpec, listKey, type Scope } from "./spec.js";
import { findRenamed, type RenamedName, type UnmatchedValue, unmatchedValues } from "./unmatched.js";

/** Some consecutive rows of a list. The windows of each row end with its own counts; see `Freshness`. */
export interface ListRows extends Freshness {
  rows: ListRow[];
  total: number;
  hasMore: boolean;
  /** Cursor of the next page; null at the end. */
  nextCursor: string | null;
  /** Days in UTC from `asOf` to now; null without any. */
  ageDays: number | null;
  /** The text whose matches these are, if it is not the one searched for but one without its typing errors. */
  corrected: string | null;
  /** A name that was searched for and continues as another; absent without one, and after the first page. */
  renamed?: RenamedName;
  /** Values of filters that nothing in the catalogue has; only of an empty list, and absent without any. */
  unmatched?: UnmatchedValue[];
  /** The counts that were requested; absent if a search has no match. */
  counts?: FacetCounts;
}

/** The page of a list that a query requests. */
export interface ListPage extends ListRows {
  sort: Exclude<ListSpec["sort"], typeof DEFAULT_SORT>;
  /** Number of the page; null if it was requested by cursor. */
  page: number | null;
}

/** The module that list pages are read from. */
export interface ListModules {
  lists: Lists;
}

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
  return {
    ...rows,
    sort: sort === DEFAULT_SORT ? "trending" : sort,
    page: cursor === undefined ? page : null,
  };
}

export interface ListParts {
  database: Database;
  catalog: Catalog;
  live: LiveModel;
  clock: Pick<Clock, "now">;
}

interface Found extends Selection {
  corrected: string | null;
  counts?: FacetCounts;
  /** Earlier full names by which repositories were added or searched for, by id. */
  renamedFrom?: ReadonlyMap<number, string>;
}

const NOTHING: Found = { ids: [], total: 0, last: undefined, corrected: null };

type ItemValues = [id: number, position: number, renamedFrom: string | null];

/** Reads lists: finds their repositories in memory, and reads the rows of a page. */
export class Lists {
  readonly #parts: ListParts;
  readonly #rows: RowReader;
  readonly #summary: SummaryReader;
  readonly #readItems: Prepared<number, ItemValues>;

  constructor(parts: ListParts) {
    this.#parts = parts;
    this.#rows = new RowReader(parts.database, parts.catalog);
    this.#summary = new SummaryReader(parts.database);
    this.#readItems = parts.database.prepare(
      (given) =>
        sql`select i.repository_id, i.sort_order, f.owner || '/' || f.name from watchlist_items i
          left join repositories f on f.id = i.from_id where i.watchlist_id = ${given((id) => id)}`,
    );
  }

  /** The repositories with these ids and their growth in the window, in the same order. Unknown ids are skipped. */
  rows(ids: readonly number[], window: Window): Promise<ListRow[]> {
    return this.#rows.read(ids, window);
  }

  /** The same for several lists, by one statement per window. */
  rowsOfEach(requests: readonly RowRequest[]): Promise<ListRow[][]> {
    return this.#rows.readEach(requests);
  }

  /** The facts that any repository has. Throws UNAVAILABLE while a large catalogue is loaded for the first time. */
  async knownFacts(): Promise<KnownFacts> {
    return knownFacts((await this.#parts.live.current()).model);
  }

  /** Reads the rows of a page with their growth, by one statement for those that are not remembered. */
  async read(spec: ListSpec, { counted }: ReadOptions = {}): Promise<ListRows> {
    const { catalog, live, clock } = this.#parts;
    const loaded = await live.current();
    const renamed = await findRenamed(catalog, spec, loaded);
    const { ids, total, last, corrected, counts, renamedFrom } =
      spec.scope.kind === "watchlist"
        ? await this.#findItems(loaded, spec, spec.scope.id)
        : await find(loaded, renamed === undefined ? spec : present(spec, renamed), counted);
    const read = await this.#rows.read(ids, spec.window);
    const names = renamedFrom ?? new Map(renamed && [[renamed.to.id, renamed.fullName]]);
    const rows =
      names.size === 0 ? read : read.map((row) => ({ ...row, renamedFrom: names.get(row.repository.id) }));
    // Without rows, that of what was searched.
    const freshness =
      rows.length > 0
        ? freshnessOf(rows.map(measuredAt))
        : catalogueFreshness(await this.#summary.read(clock.now()), spec.filters.provider);
    const unmatched = total === 0 ? await unmatchedValues(spec.filters, loaded) : [];
    return {
      // One that has gone since stays in a watchlist alone.
      rows:
        spec.scope.kind === "watchlist"
          ? rows
          : rows.filter(({ repository }) => repository.availability === "AVAILABLE"),
      total,
      hasMore: last !== undefined,
      nextCursor: last === undefined ? null : encodeCursor(listKey(spec), last),
      ...freshness,
      ageDays: ageInDays(freshness.asOf, clock.now()),
      corrected,
      ...(renamed === undefined ? {} : { renamed }),
      ...(unmatched.length === 0 ? {} : { unmatched }),
      ...(counts === undefined ? {} : { counts }),
    };
  }

  /** The repositories of a watchlist, also those that are gone. */
  async #findItems({ model }: LoadedModel, spec: ListSpec, watchlistId: number): Promise<Found> {
    const items = await this.#readItems(watchlistId);
    const { sort, page, direction } = spec;
    if (sort === "relevance") throw new Error("a watchlist has no relevance");
    const renamedFrom = new Map(items.flatMap(([id, , from]) => (from === null ? [] : [[id, from]])));
    if (sort !== "added") {
      const ids = items.map(([id]) => id);
      const selected = model.evaluate((evaluation) => selectAmong(evaluation, sort, { ...spec, ids }));
      return { ...selected, corrected: null, renamedFrom };
    }
    const sign = direction === "asc" ? 1 : -1;
    const sorted = items.toSorted(([a, x], [b, y]) => sign * (x - y || a - b));
    const begin =
      "after" in page
        ? sorted.findIndex(
            ([id, position]) => sign * (position - page.after.sortKey || id - page.after.id) > 0,
          )
        : page.offset;
    const from = begin < 0 ? sorted.length : begin;
    const shown = sorted.slice(from, from + page.limit);
    const end = from + page.limit < sorted.length ? shown.at(-1) : undefined;
    return {
      ids: shown.map(([id]) => id),
      total: sorted.length,
      last: end && { id: end[0], sortKey: end[1] },
      corrected: null,
      renamedFrom,
    };
  }
}

/** The list for the present name of a repository, if its previous one was searched for. */
const present = (spec: ListSpec, { to }: RenamedName): ListSpec => ({
  ...spec,
  scope: { kind: "search", text: to.fullName },
});

/** Finds a page of a list that is no watchlist, and counts it if that is wanted. */
async function find(
  { model, vocabulary }: LoadedModel,
  spec: ListSpec,
  counted: CountRequest | undefined,
): Promise<Found> {
  const isCorrected = spec.scope.kind === "search" && spec.scope.verbatim !== true;
  const words = isCorrected ? await vocabulary.get() : undefined;
  return model.evaluate((evaluation) => findIn(evaluation, spec, { counted, vocabulary: words }));
}

function findIn(
  evaluation: Evaluation,
  spec: ListSpec,
  { counted, vocabulary }: { counted: CountRequest | undefined; vocabulary: Vocabulary | undefined },
): Found {
  const { scope, sort } = spec;
  const search =
    scope.kind === "search" ? searchIn(evaluation, scope.text, { scope: "all", vocabulary }) : undefined;
  if (scope.kind === "search" && (search === undefined || search.matches.total === 0)) return NOTHING;
  const among =
    search && (sort !== "relevance" || counted !== undefined) ? allOf(evaluation, search.matches) : undefined;
  const selection =
    sort === "relevance" || sort === "added"
      ? search && selectByRelevance(evaluation, search.matches, spec)
      : selectByColumn(evaluation, sort, { ...spec, among });
  return {
    ...(selection ?? NOTHING),
    corrected: search?.corrected ?? null,
    ...(counted === undefined
      ? {}
      : { counts: countFacets(evaluation, { ...spec, request: counted, among }) }),
  };
}
