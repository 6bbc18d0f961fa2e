/** Reads leaderboards: the first repositories of each ranking. */
import { sql } from "kysely";
import type { Database } from "../../database/database.js";
import type { Window } from "../../growth/growth.js";
import { MEASURES, type Ranking } from "../../growth/growth.js";
import { decodeBoards, readBoards } from "./codec.js";
import { type Leaderboard, NO_BOARDS, RANK_SCOPES, type RankScope } from "./leaderboard.js";

/** The ids of the first repositories of a ranking in one scope, best first. The window does not matter for stars. */
export type Leaders = (ranking: Ranking, window: Window) => readonly number[];

/** The scope whose leaders are read, and how many of each ranking. */
export interface LeadersRequest {
  scope: RankScope;
  /** Which provider, language or topic as the catalogue spells it; empty overall. */
  name: string;
  limit: number;
}

/** Reads leaders, from one stored row. A scope without a row, or with a damaged one, has none. */
export function leaderReader({ prepare }: Database): (request: LeadersRequest) => Promise<Leaders> {
  const read = prepare<LeadersRequest, [data: Uint8Array]>(
    (given) => sql`select data from leaderboards
      where scope = ${given(({ scope }) => scope)} and scope_name = ${given(({ name }) => name)}`,
  );
  return async (request) => {
    const [row] = await read(request);
    const boards = boardsOf(row?.[0]);
    return (ranking, window) => {
      const index = MEASURES.findIndex(
        (measure) => measure.ranking === ranking && (measure.window === null || measure.window === window),
      );
      return boards[index]?.entries.ids(request.limit) ?? [];
    };
  };
}

/** How far down the leaderboards of a scope are read for `readAllLeaders`: about the rows that people look at. */
const DEPTHS: Readonly<Record<RankScope, number>> = { overall: 100, provider: 100, language: 40, topic: 20 };
/** Scopes per read. */
const READ_ROWS = 100;

/**
 * The repositories at the top of all leaderboards, at most `most`: those overall first, then by provider, language and topic, and
 * the first ranks of all rankings of a scope before the next. Reads every leaderboard if there is room, for a worker.
 */
export async function readAllLeaders({ read }: Database, most: number): Promise<number[]> {
  const ids = new Set<number>();
  for (const scope of RANK_SCOPES) {
    for (let after: string | undefined; ids.size < most; ) {
      const from = after;
      const rows = await read
        .selectFrom("leaderboards")
        .select(["scope_name", "data"])
        .where("scope", "=", scope)
        .$if(from !== undefined, (query) => query.where("scope_name", ">", from ?? ""))
        .orderBy("scope_name")
        .limit(READ_ROWS)
        .execute();
      for (const { data } of rows) addLeaders(ids, boardsOf(data), DEPTHS[scope]);
      after = rows.at(-1)?.scope_name;
      if (rows.length < READ_ROWS) break;
    }
  }
  return [...ids].slice(0, most);
}

function addLeaders(ids: Set<number>, boards: readonly Leaderboard[], depth: number): void {
  for (let i = 0; i < depth; i++)
    for (const { entries } of boards) {
      if (i < entries.length) ids.add(entries.id(i));
    }
}

/** The leaderboards of all repositories, in the order of MEASURES; none if they are damaged. */
export async function readOverall({ dialect, write }: Database): Promise<readonly Leaderboard[]> {
  const [data] = (await readBoards(write, dialect, [["overall", ""]])).values();
  return boardsOf(data);
}

/** The leaderboards of a scope; none if it has no row, or a damaged one. */
function boardsOf(data: Uint8Array | undefined): readonly Leaderboard[] {
  return (data && decodeBoards(data)) ?? NO_BOARDS;
}
