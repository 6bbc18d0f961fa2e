import { sql } from "kysely";
import { columnsOf, type Database } from "../database/database.js";
import { byWindow, TREND_COLUMNS, type Trend, type TrendValues, trendsOfRollups } from "./growth/growth.js";
import { RANK_COLUMNS, type Rank, type RankValues, ranksOf } from "./ranks/ranks.js";
import type { Window } from "./windows.js";

/** The growth of a repository and its present ranks. */
export interface Standing {
  /** null for a window without two snapshots to compare. */
  trends: Record<Window, Trend | null>;
  /** Ordered by ranking, window and scope. */
  ranks: Rank[];
}

/** Reads the standing of a repository by one statement. */
export function standingReader(database: Database): (repositoryId: number) => Promise<Standing> {
  const { dialect, prepare } = database;
  type Values = [ranks: string, ...(TrendValues | [window_hours: null, ...others: null[]])];
  const read = prepare<number, Values>((given) => {
    const id = given((repositoryId) => repositoryId);
    const rank = dialect.jsonRow(RANK_COLUMNS.map((name) => sql.ref(name)));
    // A repository without growth still gives a row with its ranks.
    return sql`select (select ${dialect.jsonArray(rank)} from (
          select ${columnsOf("r", RANK_COLUMNS)} from repository_ranks r where r.repository_id = ${id}) as own),
        ${columnsOf("g", TREND_COLUMNS)}
      from (select 1 as one) as o left join rollups g on g.repository_id = ${id}`;
  });
  return async (repositoryId) => {
    const rows = await read(repositoryId);
    const rollups: TrendValues[] = [];
    for (const [_, ...growth] of rows) if (growth[0] !== null) rollups.push(growth);
    const ranks: RankValues[] = JSON.parse(rows[0]?.[0] ?? "[]");
    return { trends: byWindow(await trendsOfRollups(database, rollups)), ranks: ranksOf(ranks) };
  };
}
