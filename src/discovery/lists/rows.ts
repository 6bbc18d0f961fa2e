/** Rows of lists: repositories with their growth, read by id in one statement and remembered for other lists. */
import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import type { Database, Prepared } from "../../database/database.js";
import {
  endOfGrowth,
  TREND,
  type Trend,
  type TrendValues,
  trendOfRollup,
  WINDOW_HOURS,
  WINDOWS,
  type Window,
} from "../../growth/growth.js";
import {
  type Catalog,
  isStale,
  REPOSITORY,
  type RenamedRepository,
  type Repository,
  type RepositoryValues,
  repositoryOf,
} from "../../repositories/repositories.js";

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
      found.push({
        repository: repositoryOf(row),
        trend: growth[0] === null ? undefined : trendOfRollup(growth),
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
