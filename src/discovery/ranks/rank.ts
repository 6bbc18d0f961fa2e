/** The present ranks of a repository, and the text that ranks are stored as. */
import { sql } from "kysely";
import { columnsOf, type Database } from "../../database/database.js";
import {
  MEASURES,
  type Measure,
  RANKING_DEFINITIONS,
  RANKINGS,
  type Ranking,
  WINDOW_HOURS,
  type Window,
  windowOfHours,
} from "../../growth/growth.js";
import { RANK_SCOPES, type RankScope } from "./leaderboard.js";

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

/**
 * A rank in the text that ranks are stored as, such as `t24o12,s0l3`: the code of its ranking, its hours, the first letter of
 * its scope, and its position.
 */
export interface CodedRank {
  code: string;
  /** 0 for the ranking by stars. */
  hours: number;
  letter: string;
  position: number;
}

/** The letter and the hours of a measure. */
export function codeOf({ ranking, window }: Measure): { letter: string; hours: number } {
  return { letter: RANKING_DEFINITIONS[ranking].code, hours: window === null ? 0 : WINDOW_HOURS[window] };
}

/** The codes of MEASURES, such as `t24`. */
export const MEASURE_CODES: readonly string[] = MEASURES.map((measure) => {
  const { letter, hours } = codeOf(measure);
  return `${letter}${hours}`;
});

/** A rank as text. `measure`: an index of MEASURES. */
export function rankText(measure: number, scope: RankScope, position: number): string {
  return `${MEASURE_CODES[measure]}${scope.charAt(0)}${position}`;
}

/** The ranks in a text. */
export function codedRanks(text: string): CodedRank[] {
  return Array.from(
    text.matchAll(/([a-z])(\d+)([a-z])(\d+)/g),
    ([, code = "", hours, letter = "", position]) => ({
      code,
      hours: Number(hours),
      letter,
      position: Number(position),
    }),
  );
}

/** The rankings that exist, by their codes. */
export const RANKING_OF_CODE: ReadonlyMap<string, Ranking> = new Map(
  RANKINGS.map((ranking) => [RANKING_DEFINITIONS[ranking].code, ranking]),
);

/** The scopes by their letters. */
export const SCOPE_OF_LETTER: ReadonlyMap<string, RankScope> = new Map(
  RANK_SCOPES.map((scope) => [scope.charAt(0), scope]),
);
