/**
 * Rankings: how repositories have grown. Rollups compare two snapshots of one repository over a window; facets and the
 * summary add them up. All are prepared when something was recorded; a request reads them.
 * It does not decide which repositories exist, and it takes no snapshot.
 */
import { sql } from "kysely";
import { bumpRevision } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";
import type { Database, RollupTable } from "../database/database.js";
import {
  type FacetKind,
  type FacetPage,
  type FacetRequest,
  type FacetTotals,
  findFacet,
  listFacets,
} from "./facets.js";
import { type Home, readHome, rebuildHome } from "./home.js";
import { updatePlaces } from "./places.js";
import { type Rank, readRanks } from "./positions.js";
import { type PastRank, readRankHistory } from "./rank-history.js";
import { type RefreshOptions, refreshGrowth } from "./refresh.js";
import { readScored, scoreInput } from "./rollups.js";
import { readScales } from "./scales.js";
import { type Explanation, explain } from "./scores.js";
import { readSummary, rebuildSummary, type Summary } from "./summary.js";
import { type Trend, trendsOfRollups } from "./trend.js";
import { WINDOW_HOURS, type Window } from "./windows.js";

export { ANOMALY_KINDS, type Anomaly } from "./anomalies.js";
export * from "./facets.js";
export type { Home, RankedList } from "./home.js";
export { PLACES, RANK_SCOPES, type Rank } from "./positions.js";
export type { PastRank } from "./rank-history.js";
export { type Explanation, SCORE_NAMES, SCORE_VERSION, type ScoreName, type Scores } from "./scores.js";
export { RANKINGS } from "./standings.js";
export type * from "./summary.js";
export { TREND_COLUMNS, type Trend, type TrendRow, trendsOfRollups } from "./trend.js";
export * from "./windows.js";

/** An order by growth or by a score; the names as the API has them. */
export const GROWTH_ORDERS = [
  "trending",
  "rising",
  "new_hot",
  "activity",
  "stars_gained",
  "forks_gained",
] as const;
export type GrowthOrder = (typeof GROWTH_ORDERS)[number];

/** Where a growth order is stored, for the module that turns lists into SQL. */
export interface GrowthOrderColumn {
  /** Column of `rollups` that holds the sort key. One row per repository and window (`window_hours`). */
  column: "stars_delta" | "forks_delta" | "trending" | "rising" | "new_hot" | "activity";
  /**
   * Whether the list holds rows with a value above 0 only (scores; a partial index covers exactly these rows) or every row
   * with a known value (deltas, which may be negative).
   */
  positiveOnly: boolean;
}

export const GROWTH_ORDER_COLUMNS: Readonly<Record<GrowthOrder, GrowthOrderColumn>> = {
  stars_gained: { column: "stars_delta", positiveOnly: false },
  forks_gained: { column: "forks_delta", positiveOnly: false },
  trending: { column: "trending", positiveOnly: true },
  rising: { column: "rising", positiveOnly: true },
  new_hot: { column: "new_hot", positiveOnly: true },
  activity: { column: "activity", positiveOnly: true },
};

export class Rankings {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Brings growth and scores up to date; see refreshGrowth. Returns how many repositories were looked at. */
  update(options: RefreshOptions = {}): Promise<number> {
    return refreshGrowth(this.#database, this.#clock, options);
  }

  /** Brings up to date what sums up the catalogue: places in the rankings, facets, counters, the first page. */
  async summarize(): Promise<void> {
    await updatePlaces(this.#database, this.#clock);
    const { dialect, write } = this.#database;
    await dialect.exclusively(write, "catalogue", async (tx) => {
      await rebuildSummary(tx, this.#clock.now());
      await rebuildHome(tx, this.#clock.now());
      await bumpRevision(tx);
    });
  }

  /** The trends of the repositories in one window, by id. Those without one are absent. */
  async trends(ids: readonly number[], window: Window): Promise<Map<number, Trend>> {
    if (ids.length === 0) return new Map();
    const { read, dialect } = this.#database;
    const rows = await read
      .selectFrom("rollups")
      .selectAll()
      .where(dialect.among(sql.ref("repository_id"), ids))
      .where("window_hours", "=", WINDOW_HOURS[window])
      .execute();
    const trends = await trendsOfRollups(read, rows);
    return new Map(trends.map((trend, i) => [rows[i]?.repository_id ?? 0, trend]));
  }

  /** The trends of one repository in all windows; null where there are not two snapshots to compare. */
  async trendsOf(id: number): Promise<Record<Window, Trend | null>> {
    const rows = await this.#database.read
      .selectFrom("rollups")
      .selectAll()
      .where("repository_id", "=", id)
      .execute();
    const trends = await trendsOfRollups(this.#database.read, rows);
    const of = (window: Window) => trends.find((trend) => trend.window === window) ?? null;
    return { "24h": of("24h"), "7d": of("7d"), "30d": of("30d") };
  }

  /** How the scores of a repository come about, by window; null where it has no trend. */
  async explain(id: number): Promise<Record<Window, Explanation | null>> {
    const rows = await readScored(this.#database.read, id);
    const scales = await readScales(this.#database.read);
    return byWindow(rows, (row) => explain(scoreInput(row, scales)));
  }

  facets(request: FacetRequest): Promise<FacetPage> {
    return listFacets(this.#database, request);
  }

  /** The language or topic of that name, whatever its case; undefined where no listed repository carries it. */
  findFacet(kind: FacetKind, name: string): Promise<FacetTotals | undefined> {
    return findFacet(this.#database, kind, name);
  }

  /** The languages as they are written in the catalogue, whatever the case of the names given; unknown ones stay. */
  async languageNames(names: readonly string[]): Promise<string[]> {
    const keys = names.map((name) => name.toLowerCase());
    const rows = await this.#database.read
      .selectFrom("facets")
      .select(["name", "name_key"])
      .where("kind", "=", "language")
      .where("provider", "=", "")
      .where("name_key", "in", keys)
      .execute();
    const known = Map.groupBy(rows, (row) => row.name_key);
    return names.flatMap((name, i) => known.get(keys[i] ?? "")?.map((row) => row.name) ?? name);
  }

  /** The present places of a repository in the rankings; it has none further down than they are kept. */
  ranks(id: number): Promise<Rank[]> {
    return readRanks(this.#database, id);
  }

  /** Its places day by day, overall and in its language, oldest first. */
  rankHistory(id: number, since: number, limit: number): Promise<PastRank[]> {
    return readRankHistory(this.#database, id, since, limit);
  }

  /** The first page, as it was prepared. */
  home(): Promise<Home> {
    return readHome(this.#database, this.#clock.now());
  }

  summary(): Promise<Summary> {
    return readSummary(this.#database, this.#clock.now());
  }
}

/** A value for the row of each window; null where there is none. */
function byWindow<Row extends RollupTable, T>(
  rows: readonly Row[],
  value: (row: Row, window: Window) => T,
): Record<Window, T | null> {
  const of = (window: Window): T | null => {
    const row = rows.find((candidate) => candidate.window_hours === WINDOW_HOURS[window]);
    return row === undefined ? null : value(row, window);
  };
  return { "24h": of("24h"), "7d": of("7d"), "30d": of("30d") };
}
