import { sql } from "kysely";
import {
  type Catalog,
  isStale,
  REPOSITORY_READ_COLUMNS,
  type Repository,
  type RepositoryValues,
  takeRepository,
} from "../catalog/catalog.js";
import { columnsOf, type Database, type Prepared } from "../database/database.js";
import {
  TREND_COLUMNS,
  type TrendValues,
  trendsOfRollups,
  WINDOW_HOURS,
  type Window,
} from "../rankings/rankings.js";
import type { ListRow, RowRequest } from "./row.js";
import { RowMemory } from "./row-memory.js";

/** The columns of a rollup; all null without one. */
type Growth = TrendValues | [window_hours: null, ...others: null[]];
type RowValues = [...RepositoryValues, ...Growth];

/** Reads repositories with their growth, for lists that know the ids, and remembers them. */
export class RowReader {
  readonly #database: Database;
  readonly #catalog: Catalog;
  readonly #memory: RowMemory | undefined;
  readonly #read: Prepared<RowRequest, RowValues>;

  constructor(database: Database, catalog: Catalog, remembers = true) {
    const { dialect } = database;
    this.#memory = remembers ? new RowMemory() : undefined;
    this.#database = database;
    this.#catalog = catalog;
    this.#read = database.prepare((given) => {
      const window = given(({ window }) => WINDOW_HOURS[window]);
      const ids = given(({ ids }) => ids);
      return sql<RowValues>`select ${columnsOf("r", REPOSITORY_READ_COLUMNS)}, ${columnsOf("g", TREND_COLUMNS)}
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
    const revision = await this.#catalog.recentRevision();
    const rows: (ListRow | undefined)[] =
      this.#memory?.find(revision, { ids, window }) ?? ids.map(() => undefined);
    const missing = ids.filter((_, i) => rows[i] === undefined);
    if (missing.length > 0) {
      const read = await this.#readMissing(missing, window);
      this.#memory?.keep(revision, window, read.values());
      for (const [i, id] of ids.entries()) rows[i] ??= read.get(id);
    }
    return rows.filter((row) => row !== undefined);
  }

  async #readMissing(ids: readonly number[], window: Window): Promise<Map<number, ListRow>> {
    const found: { repository: Repository; growth: number | undefined }[] = [];
    const rollups: TrendValues[] = [];
    const [values, recency] = await Promise.all([this.#read({ ids, window }), this.#catalog.recency()]);
    for (const row of values) {
      const { repository, rest } = takeRepository<Growth>(row);
      if (rest[0] === null) found.push({ repository, growth: undefined });
      else found.push({ repository, growth: rollups.push(rest) - 1 });
    }
    const trends = await trendsOfRollups(this.#database, rollups);
    const renamed = found.filter(({ repository }) => repository.availability === "RENAMED");
    const moved = await this.#catalog.continuations(renamed.map(({ repository }) => repository.id));
    return new Map(
      found.map(({ repository, growth }) => {
        const trend = growth === undefined ? undefined : trends[growth];
        return [
          repository.id,
          { repository, trend, isStale: isStale(repository, recency), movedTo: moved.get(repository.id) },
        ];
      }),
    );
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
