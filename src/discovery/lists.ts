/**
 * Lists of repositories, for the API, feeds and pages. `Lists` finds the page of a `ListSpec` in memory, and reads its rows with their
 * growth in one statement, or remembers them from other lists. It knows nothing of HTTP.
 */
import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import type { Database, Prepared } from "../database/database.js";
import {
  endOfGrowth,
  TREND,
  type Trend,
  type TrendValues,
  trendOfRollup,
  WINDOW_HOURS,
  WINDOWS,
  type Window,
} from "../growth/growth.js";
import { ageInDays, type Clock } from "../lib/clock.js";
import {
  type Catalog,
  isStale,
  REPOSITORY,
  type RenamedRepository,
  type Repository,
  type RepositoryValues,
  repositoryOf,
} from "../repositories/repositories.js";
import {
  type CountRequest,
  countFacets,
  type FacetCounts,
  type KnownFacts,
  knownFacts,
  type Selection,
  selectAmong,
  selectByColumn,
  selectByRelevance,
} from "./evaluate.js";
import type { LiveModel, LoadedModel } from "./live.js";
import type { Evaluation } from "./model.js";
import {
  DEFAULT_SORT,
  encodeCursor,
  type ListQuery,
  type ListSpec,
  listKey,
  listSpec,
  type PageQuery,
  type Scope,
  type WatchlistQuery,
  watchlistSpec,
} from "./query.js";
import { allOf, searchIn, type Vocabulary } from "./search.js";
import { catalogueFreshness, type Freshness, freshnessOf, SummaryReader } from "./summary.js";
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
          left join repositories f on f.id = i.from_id and f.availability <> 'HIDDEN' where i.watchlist_id = ${given((id) => id)}`,
    );
  }

  /** The repositories with these ids and their growth in the window, in the same order. Unknown and hidden ids are skipped. */
  async rows(ids: readonly number[], window: Window): Promise<ListRow[]> {
    return (await this.#rows.read(ids, window)).filter(isShown);
  }

  /** The same for several lists, by one statement per window. */
  async rowsOfEach(requests: readonly RowRequest[]): Promise<ListRow[][]> {
    return (await this.#rows.readEach(requests)).map((rows) => rows.filter(isShown));
  }

  /** The facts that any repository has. Throws UNAVAILABLE while a large catalogue is loaded for the first time. */
  async knownFacts(): Promise<KnownFacts> {
    return knownFacts((await this.#parts.live.current()).model);
  }

  /** Reads the rows of a page with their growth, by one statement for those that are not remembered. */
  async read(spec: ListSpec, { counted }: ReadOptions = {}): Promise<ListRows> {
    const { catalog, live, clock } = this.#parts;
    const loaded = await live.current();
    const { scope } = spec;
    // Only a text with a slash may be a full name.
    const isName = scope.kind === "search" && scope.text.includes("/");
    const renamed = isName ? await findRenamed(catalog, spec, loaded) : undefined;
    const { ids, total, last, corrected, counts, renamedFrom } =
      spec.scope.kind === "watchlist"
        ? await this.#findItems(loaded, spec, spec.scope.id)
        : await find(loaded, renamed === undefined ? spec : present(spec, renamed), counted);
    const read = await this.#rows.read(ids, spec.window);
    const names = renamedFrom ?? new Map(renamed && [[renamed.to.id, renamed.fullName]]);
    const rows =
      names.size === 0 ? read : read.map((row) => ({ ...row, renamedFrom: names.get(row.repository.id) }));
    // Without rows, that of the searched repositories.
    const freshness =
      rows.length > 0
        ? freshnessOf(rows.map(measuredAt))
        : catalogueFreshness(await this.#summary.read(clock.now()), spec.filters.provider);
    const unmatched = total === 0 ? await unmatchedValues(spec.filters, loaded) : [];
    return {
      // One that has gone since, or is hidden, stays in a watchlist alone.
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

/** Whether an operator has not hidden it. */
const isShown = ({ repository }: ListRow): boolean => repository.availability !== "HIDDEN";

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

/** A repository in a list. All lists share it while the catalogue stays as it is. */
export interface ListRow {
  readonly repository: Readonly<Repository>;
  /** Growth in the window of the list; undefined without one. */
  readonly trend: Trend | undefined;
  /** Whether its counts are no longer recent; see the catalogue's `isStale`. */
  readonly isStale: boolean;
  /** The repository that a RENAMED one was joined to. */
  readonly movedTo?: RenamedRepository | undefined;
  /** The earlier full name by which it was requested. */
  readonly renamedFrom?: string | undefined;
}

/** The time of the values in a row: the end of its growth, else of its counts; null without either. */
export function measuredAt({ trend, repository }: Pick<ListRow, "trend" | "repository">): number | null {
  return endOfGrowth([trend], repository.countedAt);
}

/** Repositories to read, in order. */
export interface RowRequest {
  ids: readonly number[];
  window: Window;
}

/** The columns of a rollup; all null without one. */
type Growth = TrendValues | [window_hours: null, ...others: null[]];
export type RowValues = [...RepositoryValues, ...Growth];

/** Reads repositories with their growth, for lists that know the ids, and remembers them. */
export class RowReader {
  readonly #catalog: Catalog;
  readonly #memory = new RowMemory();
  readonly #read: Prepared<RowRequest, RowValues>;

  constructor({ dialect, prepare }: Database, catalog: Catalog) {
    this.#catalog = catalog;
    this.#read = prepare((given) => {
      const window = given(({ window }) => WINDOW_HOURS[window]);
      const ids = given(({ ids }) => ids);
      return sql<RowValues>`select ${REPOSITORY.sql}, ${TREND.sql}
        from repositories r left join rollups g on g.repository_id = r.id and g.window_hours = ${window}
        where ${dialect.among(sql`r.id`, ids)}`;
    });
  }

  /**
   * The repositories with these ids and their growth in the window, in the same order. Unknown ids are skipped. They are as
   * recent as `Catalog.recentRevision`; one statement reads those that are not remembered, and
   * one more the later names of renamed ones among them.
   */
  async read(ids: readonly number[], window: Window): Promise<ListRow[]> {
    if (ids.length === 0) return [];
    // Read before the rows, so that these are at least as new.
    const { sequence: revision } = await this.#catalog.recentRevision();
    const rows = this.#memory.find(revision, { ids, window });
    const missing = ids.filter((_, i) => rows[i] === undefined);
    if (missing.length > 0) {
      const read = await this.#readMissing(missing, window);
      this.#memory.keep(revision, window, read.values());
      for (const [i, id] of ids.entries()) rows[i] ??= read.get(id);
    }
    return rows.filter((row) => row !== undefined);
  }

  async #readMissing(ids: readonly number[], window: Window): Promise<Map<number, ListRow>> {
    const rows = await this.rowsOf(await this.#read({ ids, window }));
    return new Map(rows.map((row) => [row.repository.id, row]));
  }

  /** The rows of repositories that a statement has read with their growth. Whether they are stale is as of `recentRevision`. */
  async rowsOf(values: readonly RowValues[]): Promise<ListRow[]> {
    if (values.length === 0) return [];
    const found: { repository: Repository; trend: Trend | undefined }[] = [];
    const recency = await this.#catalog.recency();
    for (const row of values) {
      const growth = row.slice(REPOSITORY.count) as Growth;
      const repository = repositoryOf(row);
      found.push({
        repository,
        trend: growth[0] === null || repository.availability === "HIDDEN" ? undefined : trendOfRollup(growth),
      });
    }
    const renamed = found.filter(({ repository }) => repository.availability === "RENAMED");
    const moved = await this.#catalog.renamedTo(renamed.map(({ repository }) => repository.id));
    return found.map(({ repository, trend }) => ({
      ...{ repository, trend, isStale: isStale(repository, recency), movedTo: moved.get(repository.id) },
    }));
  }

  /** The rows of several lists, by one statement per window. */
  async readEach(requests: readonly RowRequest[]): Promise<ListRow[][]> {
    const windows = [...new Set(requests.map(({ window }) => window))];
    const read = windows.map(async (window) => {
      const ids = requests.flatMap((request) => (request.window === window ? request.ids : []));
      const rows = await this.read([...new Set(ids)], window);
      return [window, new Map(rows.map((row) => [row.repository.id, row]))] as const;
    });
    const found = new Map(await Promise.all(read));
    return requests.map(({ ids, window }) => ids.flatMap((id) => found.get(window)?.get(id) ?? []));
  }
}

/** Bounds of the rows remembered; the bytes are estimated. */
const MAX_ROWS = 4_096;
const MAX_BYTES = 16 * 2 ** 20;
/** Rows whose last reading is noted, 8 bytes each. */
const NOTED = 16_384;
/** Rough size of a row, apart from its strings. */
const ROW_BYTES = 2_000;

/**
 * Remembers rows while the catalogue's revision stays the same: popular repositories are in most lists, and their rows, with everything that
 * is derived from them, cost more than everything else about a page. A row is kept from its second reading on: most rows of a
 * large catalogue are read once, and would only give the garbage collector work. Evicts the least recently used row.
 */
export class RowMemory {
  #revision = -1;
  readonly #rows = new LRUCache<number, ListRow>({
    max: MAX_ROWS,
    maxSize: MAX_BYTES,
    sizeCalculation: bytesOf,
  });
  /** Keys of rows that were read lately, at any revision, each at one index: a later one replaces it. */
  readonly #noted = new Float64Array(NOTED);

  /** The rows of a request as far as they are known, undefined for all others. `revision` must have been read before. */
  find(revision: number, { ids, window }: RowRequest): (ListRow | undefined)[] {
    if (revision > this.#revision) {
      this.#revision = revision;
      this.#rows.clear();
    }
    // These rows may be newer than the revision that the request has seen.
    if (revision < this.#revision) return ids.map(() => undefined);
    return ids.map((id) => this.#rows.get(keyOf(id, window)));
  }

  /**
   * Keeps those of the rows that were read before, too. They were read after the revision; if it has grown since, they may be older, and
   * are not kept.
   */
  keep(revision: number, window: Window, rows: Iterable<ListRow>): void {
    if (revision !== this.#revision) return;
    for (const row of rows) {
      const key = keyOf(row.repository.id, window);
      if (this.#noted[key % NOTED] === key) this.#rows.set(key, row);
      else this.#noted[key % NOTED] = key;
    }
  }
}

function keyOf(id: number, window: Window): number {
  return id * WINDOWS.length + WINDOWS.indexOf(window);
}

function bytesOf({ repository }: ListRow): number {
  const { description, homepage, url, topics } = repository;
  const characters = url.length + (description?.length ?? 0) + (homepage?.length ?? 0) + topics.join().length;
  // Two bytes each in the row and three in the JSON, at most.
  return ROW_BYTES + 5 * characters;
}
