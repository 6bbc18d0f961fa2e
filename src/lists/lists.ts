/**
 * Lists of repositories, for the API, feeds and pages. A query is parsed into a ListSpec, which is plain data; `Lists` reads a
 * page of it with its growth. This module owns the names and rules of list parameters, cursors, and the SQL of lists, for
 * which it knows the tables of the catalogue, the rankings and the watchlists. It knows nothing of HTTP.
 */
import type { Catalog } from "../catalog/catalog.js";
import type { Database } from "../database/database.js";
import type { Rankings, Summary, Window } from "../rankings/rankings.js";
import { queryWords } from "../search/search.js";
import {
  AFTER_HEAD,
  choosePlan,
  EXACT_TOTAL,
  type ListFacts,
  ListMemory,
  mustCount,
  type Plan,
  WALK,
} from "./plan.js";
import { type ListQuery, listSpec, type PageQuery, type WatchlistQuery, watchlistSpec } from "./query.js";
import { type ListRow, RowReader } from "./rows.js";
import { encodeCursor, type ListSpec, listKey, type Scope } from "./spec.js";
import { countMatches, findPage, type PageFound } from "./sql/page.js";

export { filterParameters, filterWords, type ListFilters } from "./canonical.js";
export * from "./parameters.js";
export { EXACT_TOTAL, type Plan } from "./plan.js";
export {
  type ListQuery,
  listQuery,
  listSpec,
  pageOffset,
  type WatchlistQuery,
  watchlistQuery,
} from "./query.js";
export type { ListRow } from "./rows.js";
export * from "./spec.js";

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
  /** How the rows were read. */
  plan: Plan;
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

/** Reads a page of a list. Throws VALIDATION_FAILED and INVALID_REQUEST for parameters that contradict each other. */
export async function listPage({ lists }: ListModules, query: ListQuery): Promise<ListPage> {
  return readPage(lists, listSpec(query), query);
}

/** Reads a page of a watchlist; repositories that are gone stay in it. Throws as `listPage` does. */
export async function watchlistPage(
  { lists }: ListModules,
  scope: Scope,
  query: WatchlistQuery,
): Promise<ListPage> {
  return readPage(lists, watchlistSpec(scope, query), query);
}

async function readPage(lists: Lists, spec: ListSpec, { page = 1, cursor }: PageQuery): Promise<ListPage> {
  return { ...(await lists.read(spec)), sort: spec.sort, page: cursor === undefined ? page : null };
}

/** Reads lists. It remembers totals as long as the revision of the catalogue stays the same. */
export class Lists {
  readonly #database: Database;
  readonly #catalog: Catalog;
  readonly #rankings: Rankings;
  readonly #memory = new ListMemory();
  readonly #rows: RowReader;

  constructor(database: Database, catalog: Catalog, rankings: Rankings) {
    this.#database = database;
    this.#catalog = catalog;
    this.#rankings = rankings;
    this.#rows = new RowReader(database);
  }

  /** The repositories with these ids and their growth in the window, in the same order. Unknown ids are skipped. */
  rows(ids: readonly number[], window: Window): Promise<ListRow[]> {
    return this.#rows.read(ids, window);
  }

  /**
   * Reads the rows of a page with their growth. Costs one statement to find them and one to read them; the first page of a
   * list after a change costs up to three more, and the revision is read once a second.
   */
  async read(spec: ListSpec): Promise<ListRows> {
    // Read the revision first, so that data cached for it is at least as new.
    const revision = await this.#catalog.recentRevision();
    const facts = this.#memory.of(revision, listKey(spec));
    facts.catalogue.summary ??= await this.#rankings.summary();
    const asOf = newest(facts.catalogue.summary, spec.filters.provider);
    if (spec.scope.kind === "search" && queryWords(spec.scope.text).length === 0) return { ...EMPTY, asOf };
    const { found, plan } = await this.#find(await this.#spelled(spec, facts), facts);
    const total = found.total ?? facts.total ?? 0;
    const { limit } = spec.page;
    const keys = found.keys.slice(0, limit);
    const last = keys.at(-1);
    const hasMore = found.keys.length > limit;
    const ids = keys.map(({ id }) => id);
    return {
      rows: await this.rows(ids, spec.window),
      total: Math.min(total, EXACT_TOTAL),
      totalIsExact: total <= EXACT_TOTAL && found.scoped <= EXACT_TOTAL,
      hasMore,
      nextCursor: hasMore && last !== undefined ? encodeCursor(listKey(spec), last) : null,
      asOf,
      plan,
    };
  }

  /** Finds the page by the plan chosen, and by another one where that did not suffice. */
  async #find(spec: ListSpec, facts: ListFacts): Promise<{ found: PageFound; plan: Plan }> {
    const read = async (plan: Plan) => ({ found: await findPage(this.#database, spec, plan.plan), plan });
    if (mustCount(spec, facts)) facts.total = await countMatches(this.#database, spec);
    const first = await read(choosePlan(spec, facts));
    const { found, plan } = first;
    if (plan.plan === "head" && found.keys.length <= spec.page.limit) {
      if (!("after" in spec.page)) facts.headEnd = spec.page.offset + spec.page.limit;
      return read(AFTER_HEAD);
    }
    if (plan.plan !== "gather" || spec.scope.kind !== "all") return first;
    if (found.total !== undefined) facts.total = found.total;
    return (found.total ?? 0) > EXACT_TOTAL ? read(WALK) : first;
  }

  /** The list with its languages as the catalogue spells them, which is how they are indexed. */
  async #spelled(spec: ListSpec, facts: ListFacts): Promise<ListSpec> {
    const { languages } = spec.filters;
    if (languages === undefined) return spec;
    facts.languages ??= await this.#rankings.languageNames(languages);
    return { ...spec, filters: { ...spec.filters, languages: facts.languages } };
  }
}

function newest({ asOf, providers }: Summary, provider: string | undefined): number | null {
  if (provider === undefined) return asOf;
  return providers.find((one) => one.provider === provider)?.asOf ?? null;
}

const EMPTY: Omit<ListRows, "asOf"> = {
  rows: [],
  total: 0,
  totalIsExact: true,
  hasMore: false,
  nextCursor: null,
  plan: { plan: "gather", reason: "the search holds no word" },
};
