/**
 * Rankings: how repositories have grown. Rollups compare two snapshots of one repository over a window; facets and the
 * summary add them up. All are prepared when something was recorded; a request reads them.
 * It does not decide which repositories exist, and it takes no snapshot.
 */
import { sql } from "kysely";
import { bumpRevision, type Order } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";
import type { Database, RollupTable } from "../database/database.js";
import { type FacetPage, type FacetRequest, listFacets, rebuildFacets } from "./facets.js";
import { updateRollups } from "./rollups.js";
import { readSummary, rebuildSummary, type Summary } from "./summary.js";
import { WINDOW_HOURS, WINDOWS, type Window } from "./windows.js";

export * from "./facets.js";
export type * from "./summary.js";
export * from "./windows.js";

/** Growth between two snapshots that were really taken. Deltas are plain differences. */
export interface Trend {
  window: Window;
  /** The capture times compared. */
  from: number;
  to: number;
  starsDelta: number;
  /** null where either snapshot lacks the count. */
  forksDelta: number | null;
  openIssuesDelta: number | null;
  /** starsDelta as a part of the stars at `from` (0.02 is 2 %); null where those were 0. */
  starsGrowth: number | null;
}

export class Rankings {
  readonly #database: Database;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Derives all anew that has become outdated. Returns how many repositories had. */
  async update(onProgress?: (done: number) => void): Promise<number> {
    const { dialect, write } = this.#database;
    const done = await updateRollups(this.#database, onProgress);
    await dialect.exclusively(write, "catalogue", async (tx) => {
      await rebuildFacets(tx);
      await rebuildSummary(tx, this.#clock.now());
      await bumpRevision(tx);
    });
    return done;
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
    return new Map(rows.map((row) => [row.repository_id, fromRollup(row, window)]));
  }

  /** The trends of one repository in all windows; null where there are not two snapshots to compare. */
  async trendsOf(id: number): Promise<Record<Window, Trend | null>> {
    const rows = await this.#database.read
      .selectFrom("rollups")
      .selectAll()
      .where("repository_id", "=", id)
      .execute();
    const trendOf = (window: Window): Trend | null => {
      const row = rows.find((candidate) => candidate.window_hours === WINDOW_HOURS[window]);
      return row === undefined ? null : fromRollup(row, window);
    };
    return Object.fromEntries(WINDOWS.map((window) => [window, trendOf(window)])) as Record<
      Window,
      Trend | null
    >;
  }

  /** The order by what was gained in a window; holds only repositories that have a trend in it. */
  gainOrder(name: "stars_gained" | "forks_gained", window: Window, direction: "asc" | "desc"): Order {
    const column = name === "stars_gained" ? "stars_delta" : "forks_delta";
    return {
      name: `${name}-${window}-${direction}`,
      tables: [sql`rollups g`, sql`repositories r`],
      where: sql`r.id = g.repository_id and g.window_hours = ${WINDOW_HOURS[window]}
        and ${sql.ref(`g.${column}`)} is not null`,
      key: sql.ref(`g.${column}`),
      id: sql`g.repository_id`,
      direction,
      signed: true,
    };
  }

  facets(request: FacetRequest): Promise<FacetPage> {
    return listFacets(this.#database, request);
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
    const known = new Map(rows.map((row) => [row.name_key, row.name]));
    return names.map((name, i) => known.get(keys[i] ?? "") ?? name);
  }

  summary(): Promise<Summary> {
    return readSummary(this.#database, this.#clock.now());
  }
}

function fromRollup(row: RollupTable, window: Window): Trend {
  return {
    window,
    from: row.from_at,
    to: row.to_at,
    starsDelta: row.stars_delta,
    forksDelta: row.forks_delta,
    openIssuesDelta: row.open_issues_delta,
    starsGrowth: row.stars_growth,
  };
}
