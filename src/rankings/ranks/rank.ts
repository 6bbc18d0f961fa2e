import { sql } from "kysely";
import { columnsOf, type Database } from "../../database/database.js";
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

/** The columns of `ranks` that make a rank. */
export const RANK_COLUMNS = ["ranking", "window_hours", "scope", "scope_name", "position"] as const;
export type RankValues = [ranking: string, hours: number, scope: string, name: string, position: number];

/** Reads all present ranks of a repository, ordered by ranking, window and scope. */
export function rankReader({ prepare }: Database): (repositoryId: number) => Promise<Rank[]> {
  const read = prepare<number, RankValues>(
    (given) => sql`select ${columnsOf("r", RANK_COLUMNS)} from ranks r
      where r.repository_id = ${given((id) => id)} order by ranking, window_hours, scope, scope_name`,
  );
  return async (repositoryId) => ranksOf(await read(repositoryId));
}

/** The ranks in rows of `ranks`, in the same order, without those further down than RANK_LIMITS. */
export function ranksOf(rows: readonly RankValues[]): Rank[] {
  return rows.flatMap(([ranking, hours, text, name, position]): Rank[] => {
    const scope = text as RankScope;
    if (position > RANK_LIMITS[scope]) return [];
    return [
      {
        ranking: ranking as Ranking,
        window: windowOfHours(hours) ?? null,
        scope,
        name: name === "" ? null : name,
        position,
      },
    ];
  });
}
