import { sql } from "kysely";
import type { Db, Dialect } from "../database/database.js";
import { MEASURES, perWindow, type Ranking, WINDOW_HOURS, type Window } from "./definitions.js";

/** The values that a listed repository is ranked by, and adds to the facets. */
export interface Contribution {
  repositoryId: number;
  provider: string;
  language: string | null;
  topics: readonly string[];
  stars: number;
  /** Stars gained in each window, as far as they count; 0 where that is unknown. */
  gained: Readonly<Record<Window, number>>;
  /** In the order of MEASURES; null: not ranked by that measure. */
  values: readonly (number | null)[];
}

/** In marks of kind `ranks`, the id that means all repositories. No repository has it. */
export const ALL_REPOSITORIES = 0;

/** Repositories to bring up to date, with the present contributions of those that are listed. */
export interface ChangedRepositories {
  ids: readonly number[];
  contributions: readonly Contribution[];
}

interface RepositoryRow {
  id: number;
  provider: string;
  language: string | null;
  topics: string;
  stars: number | null;
  archived: number | null;
  fork: number | null;
}

interface GrowthRow {
  repository_id: number;
  window_hours: number;
  stars_counted: number;
  forks_counted: number | null;
  trending: number | null;
  rising: number | null;
  new_hot: number | null;
  fork_momentum: number | null;
}

/** The contributions of the given repositories, by ascending id; those that are not listed have none. */
export async function readContributions(
  db: Db,
  dialect: Dialect,
  ids: readonly number[],
): Promise<Contribution[]> {
  const repositories = await sql<RepositoryRow>`select id, provider, language, topics, stars, archived, fork
    from repositories where ${dialect.among(sql.ref("id"), ids)} and availability = 'AVAILABLE' order by id`.execute(
    db,
  );
  // A repository that has not moved in a window is not ranked in it and adds nothing to the facets.
  const moved = await sql<GrowthRow>`select repository_id, window_hours, stars_counted, forks_counted,
      trending, rising, new_hot, fork_momentum
    from rollups where ${dialect.among(sql.ref("repository_id"), ids)}
      and (stars_counted <> 0 or forks_counted > 0 or trending > 0 or rising > 0 or new_hot > 0
        or fork_momentum > 0)`.execute(db);
  const growth = Map.groupBy(moved.rows, (row) => row.repository_id);
  return repositories.rows.map((row) => contributionOf(row, growth.get(row.id) ?? []));
}

function contributionOf(repository: RepositoryRow, growth: readonly GrowthRow[]): Contribution {
  const { id, provider, language, topics, stars, archived, fork } = repository;
  const growthIn = (window: Window) => growth.find((row) => row.window_hours === WINDOW_HOURS[window]);
  // As in lists, growth rankings leave out archived repositories and forks.
  const ranksByGrowth = archived !== 1 && fork !== 1;
  return {
    repositoryId: id,
    provider,
    language,
    topics: JSON.parse(topics),
    stars: stars ?? 0,
    gained: perWindow((window) => growthIn(window)?.stars_counted ?? 0),
    values: MEASURES.map(({ ranking, window }) => {
      if (ranking === "stars" || window === null) return stars;
      const row = ranksByGrowth ? growthIn(window) : undefined;
      const value = row === undefined ? null : row[COLUMNS[ranking]];
      return value !== null && value > 0 ? value : null;
    }),
  };
}

const COLUMNS = {
  trending: "trending",
  rising: "rising",
  "new-hot": "new_hot",
  "fork-growth": "fork_momentum",
  "forks-gained": "forks_counted",
  "stars-gained": "stars_counted",
} as const satisfies Readonly<Record<Exclude<Ranking, "stars">, keyof GrowthRow>>;
