import { sql } from "kysely";
import { columnsOf, type Database } from "../../database/database.js";
import type { Ranking } from "../definitions.js";
import { type Window, windowOfHours } from "../windows.js";
import { codedRanks, RANKING_OF_CODE } from "./coded-ranks.js";
import type { RankScope } from "./leaderboard.js";

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

/** The columns of `repository_ranks` that make ranks. */
export const RANK_COLUMNS = ["scope", "scope_name", "ranks"] as const;
export type RankValues = [scope: string, name: string, ranks: string];

/** Reads all present ranks of a repository, ordered by ranking, window, scope and name. */
export function rankReader({ prepare }: Database): (repositoryId: number) => Promise<Rank[]> {
  const read = prepare<number, RankValues>(
    (given) => sql`select ${columnsOf("r", RANK_COLUMNS)} from repository_ranks r
      where r.repository_id = ${given((id) => id)}`,
  );
  return async (repositoryId) => ranksOf(await read(repositoryId));
}

/** The ranks in rows of `repository_ranks`, in order, without those of rankings that no longer exist. */
export function ranksOf(rows: readonly RankValues[]): Rank[] {
  const ranks = rows.flatMap(([scope, name, text]) =>
    codedRanks(text).flatMap(({ code, hours, position }) => {
      const ranking = RANKING_OF_CODE.get(code);
      return ranking === undefined ? [] : [{ ranking, hours, scope: scope as RankScope, name, position }];
    }),
  );
  ranks.sort(
    (a, b) =>
      order(a.ranking, b.ranking) || a.hours - b.hours || order(a.scope, b.scope) || order(a.name, b.name),
  );
  return ranks.map(({ hours, name, ...rank }) => ({
    ...rank,
    window: windowOfHours(hours) ?? null,
    name: name === "" ? null : name,
  }));
}

function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
