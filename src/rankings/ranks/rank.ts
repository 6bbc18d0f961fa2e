import type { Db } from "../../database/database.js";
import type { Ranking } from "../definitions.js";
import { type Window, windowOfHours } from "../windows.js";
import { RANK_LIMITS, type RankScope } from "./leaderboard.js";

/** A repository's position in one ranking. */
export interface Rank {
  ranking: Ranking;
  /** null for the ranking by stars. */
  window: Window | null;
  scope: RankScope;
  /** Which provider, language or topic; null overall. */
  name: string | null;
  /** From 1. */
  position: number;
}

/** All present ranks of a repository, ordered by ranking, window and scope. */
export async function readRanks(db: Db, repositoryId: number): Promise<Rank[]> {
  const rows = await db
    .selectFrom("ranks")
    .selectAll()
    .where("repository_id", "=", repositoryId)
    .orderBy("ranking")
    .orderBy("window_hours")
    .orderBy("scope")
    .orderBy("scope_name")
    .execute();
  return rows.flatMap(({ ranking, window_hours, scope: text, scope_name, position }): Rank[] => {
    const scope = text as RankScope;
    if (position > RANK_LIMITS[scope]) return [];
    return [
      {
        ranking: ranking as Ranking,
        window: windowOfHours(window_hours) ?? null,
        scope,
        name: scope_name === "" ? null : scope_name,
        position,
      },
    ];
  });
}
