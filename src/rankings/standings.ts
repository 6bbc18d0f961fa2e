import { sql } from "kysely";
import type { Db, Dialect } from "../database/database.js";
import { WINDOW_HOURS, WINDOWS, type Window } from "./windows.js";

export const RANKINGS = ["trending", "rising", "new_hot", "forks_gained", "stars_gained", "stars"] as const;
export type Ranking = (typeof RANKINGS)[number];

/** A ranking in a window; the one by stars has none. */
export interface Table {
  ranking: Ranking;
  window: Window | null;
}

/** All of them, in a fixed order. */
export const TABLES: readonly Table[] = RANKINGS.flatMap((ranking): Table[] =>
  ranking === "stars" ? [{ ranking, window: null }] : WINDOWS.map((window) => ({ ranking, window })),
);

/** What a repository is ranked by and adds to the facets. */
export interface Standing {
  repositoryId: number;
  provider: string;
  language: string | null;
  topics: readonly string[];
  stars: number;
  /** Stars gained in each window, as far as there is nothing doubtful in it. */
  gained: Readonly<Record<Window, number>>;
  /** In the order of TABLES; null: not ranked there. */
  values: readonly (number | null)[];
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
  stars_delta: number;
  forks_delta: number | null;
  counted: number;
  trending: number | null;
  rising: number | null;
  new_hot: number | null;
}

/** The standings of those of the repositories that are listed. */
export async function readStandings(db: Db, dialect: Dialect, ids: readonly number[]): Promise<Standing[]> {
  const repositories = await sql<RepositoryRow>`select id, provider, language, topics, stars, archived, fork
    from repositories where ${dialect.among(sql.ref("id"), ids)} and availability = 'AVAILABLE'`.execute(db);
  // What has not moved has no place, and adds nothing.
  const moved = await sql<GrowthRow>`select repository_id, window_hours, stars_delta, forks_delta, counted,
      trending, rising, new_hot
    from rollups where ${dialect.among(sql.ref("repository_id"), ids)}
      and (stars_delta <> 0 or forks_delta > 0 or trending > 0 or rising > 0 or new_hot > 0)`.execute(db);
  const growth = new Map<number, GrowthRow[]>();
  for (const row of moved.rows) {
    const own = growth.get(row.repository_id);
    if (own === undefined) growth.set(row.repository_id, [row]);
    else own.push(row);
  }
  return repositories.rows.map((row) => standingOf(row, growth.get(row.id) ?? []));
}

function standingOf(repository: RepositoryRow, growth: readonly GrowthRow[]): Standing {
  const { id, provider, language, topics, stars, archived, fork } = repository;
  const of = (window: Window) => growth.find((row) => row.window_hours === WINDOW_HOURS[window]);
  const gainedIn = (window: Window) => {
    const row = of(window);
    return row === undefined || row.counted <= 0 ? 0 : row.stars_delta;
  };
  // As in the lists: growth rankings leave archived repositories and forks out.
  const grows = archived !== 1 && fork !== 1;
  return {
    repositoryId: id,
    provider,
    language,
    topics: JSON.parse(topics),
    stars: stars ?? 0,
    gained: { "24h": gainedIn("24h"), "7d": gainedIn("7d"), "30d": gainedIn("30d") },
    values: TABLES.map(({ ranking, window }) => {
      if (ranking === "stars" || window === null) return stars;
      const row = grows ? of(window) : undefined;
      const value = row === undefined ? null : row[COLUMNS[ranking]];
      return value !== null && value > 0 ? value : null;
    }),
  };
}

const COLUMNS = {
  trending: "trending",
  rising: "rising",
  new_hot: "new_hot",
  forks_gained: "forks_delta",
  stars_gained: "stars_delta",
} as const;
