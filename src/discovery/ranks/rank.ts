/** The rank of a repository, and the text that past ranks are stored as. */
import {
  MEASURES,
  type Measure,
  RANKING_DEFINITIONS,
  RANKINGS,
  type Ranking,
  WINDOW_HOURS,
  type Window,
} from "../../growth/growth.js";

/** The repositories that a repository is ranked among. */
export const RANK_SCOPES = ["overall", "provider", "language", "topic"] as const;
export type RankScope = (typeof RANK_SCOPES)[number];

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
const MEASURE_CODES: readonly string[] = MEASURES.map((measure) => {
  const { letter, hours } = codeOf(measure);
  return `${letter}${hours}`;
});

/** A rank as text. `measure`: an index of MEASURES. */
export function rankText(measure: number, scope: RankScope, position: number): string {
  return `${MEASURE_CODES[measure]}${scope.charAt(0)}${position}`;
}

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
