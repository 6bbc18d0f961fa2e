import { sql } from "kysely";
import { rangeColumn, rangeOf, type SnapshotRange } from "../catalog/catalog.js";
import { columnsOf, type Database } from "../database/database.js";
import { byWindow, TREND_COLUMNS, type Trend, type TrendValues, trendsOfRollups } from "./growth/growth.js";
import { RANK_COLUMNS, type Rank, type RankValues, ranksOf } from "./ranks/ranks.js";
import type { Window } from "./windows.js";

/** The growth of a repository, its present ranks, and which snapshots are stored. */
export interface Standing {
  /** null for a window without two snapshots to compare. */
  trends: Record<Window, Trend | null>;
  /** Ordered by ranking, window and scope. */
  ranks: Rank[];
  stored: SnapshotRange;
}

/** Reads the standing of a repository by one statement. */
export function standingReader(database: Database): (repositoryId: number) => Promise<Standing> {
  const { dialect, prepare } = database;
  type Values = [ranks: string, range: string, ...(TrendValues | [window_hours: null, ...others: null[]])];
  const read = prepare<number, Values>((given) => {
    const id = sql`${given((repositoryId) => repositoryId)}`;
    const rank = dialect.jsonRow(RANK_COLUMNS.map((name) => sql.ref(name)));
    // A repository without growth still gives a row with the rest.
    return sql`select (select ${dialect.jsonArray(rank)} from (
          select ${columnsOf("r", RANK_COLUMNS)} from repository_ranks r where r.repository_id = ${id}) as own),
        ${rangeColumn(dialect, id)},
        ${columnsOf("g", TREND_COLUMNS)}
      from (select 1 as one) as o left join rollups g on g.repository_id = ${id}`;
  });
  return async (repositoryId) => {
    const rows = await read(repositoryId);
    const rollups: TrendValues[] = [];
    for (const row of rows) if (row[2] !== null) rollups.push(row.slice(2) as TrendValues);
    const [ranksText = "[]", rangeText = "[]"] = rows[0] ?? [];
    const ranks: RankValues[] = JSON.parse(ranksText);
    return {
      trends: byWindow(await trendsOfRollups(database, rollups)),
      ranks: ranksOf(ranks),
      stored: rangeOf(rangeText),
    };
  };
}
