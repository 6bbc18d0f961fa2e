import { sql } from "kysely";
import {
  REPOSITORY_READ_COLUMNS,
  type Repository,
  type RepositoryValues,
  takeRepository,
} from "../catalog/catalog.js";
import { columnsOf, type Database, type Prepared } from "../database/database.js";
import {
  TREND_COLUMNS,
  type Trend,
  type TrendValues,
  trendsOfRollups,
  WINDOW_HOURS,
  type Window,
} from "../rankings/rankings.js";

/** A repository in a list. */
export interface ListRow {
  repository: Repository;
  /** Growth in the window of the list; undefined without one. */
  trend: Trend | undefined;
}

/** Repositories to read, in order. */
export interface RowRequest {
  ids: readonly number[];
  window: Window;
}

/** The columns of a rollup; all null without one. */
type Growth = TrendValues | [window_hours: null, ...others: null[]];
type RowValues = [...RepositoryValues, ...Growth];

/** Reads repositories with their growth, for lists that know the ids. */
export class RowReader {
  readonly #database: Database;
  readonly #read: Prepared<RowRequest, RowValues>;

  constructor(database: Database) {
    const { dialect } = database;
    this.#database = database;
    this.#read = database.prepare((given) => {
      const window = given(({ window }) => WINDOW_HOURS[window]);
      const ids = given(({ ids }) => ids);
      return sql<RowValues>`select ${columnsOf("r", REPOSITORY_READ_COLUMNS)}, ${columnsOf("g", TREND_COLUMNS)}
        from repositories r left join rollups g on g.repository_id = r.id and g.window_hours = ${window}
        where ${dialect.among(sql`r.id`, ids)}`;
    });
  }

  /** The repositories with these ids and their growth in the window, in the same order, by one statement. Unknown ids are skipped. */
  async read(ids: readonly number[], window: Window): Promise<ListRow[]> {
    if (ids.length === 0) return [];
    const found = new Map<number, ListRow>();
    const grown: ListRow[] = [];
    const rollups: TrendValues[] = [];
    for (const values of await this.#read({ ids, window })) {
      const { repository, rest } = takeRepository<Growth>(values);
      const row: ListRow = { repository, trend: undefined };
      found.set(repository.id, row);
      if (rest[0] === null) continue;
      grown.push(row);
      rollups.push(rest);
    }
    const trends = await trendsOfRollups(this.#database, rollups);
    for (const [i, row] of grown.entries()) row.trend = trends[i];
    return ids.flatMap((id) => found.get(id) ?? []);
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
