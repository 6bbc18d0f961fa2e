import { sql } from "kysely";
import { newestSnapshots } from "../catalog/catalog.js";
import { DAY_MS } from "../clock.js";
import type { Database, Tx } from "../database/database.js";
import { PLACES, type Rank, type RankScope } from "./positions.js";
import type { Ranking } from "./standings.js";
import { windowOfHours } from "./windows.js";

/** Scopes whose places are kept day by day. */
const KEPT_SCOPES = ["overall", "language"] as const satisfies readonly RankScope[];

/** Days for which places are kept. */
const KEPT_DAYS = 400;

/** A place on a day. */
export interface PastRank extends Omit<Rank, "name"> {
  /** Begin of the day (UTC), in ms since 1970. */
  day: number;
}

/** Keeps the places of the day; the last time of a day stands. */
export async function keepToday(tx: Tx): Promise<void> {
  const newest = [...(await newestSnapshots(tx)).values()];
  if (newest.length === 0) return;
  const day = Math.floor(Math.max(...newest) / DAY_MS);
  await tx
    .deleteFrom("rank_history")
    .where("day", "<=", day - KEPT_DAYS)
    .execute();
  const shown = sql.join(
    KEPT_SCOPES.map((scope) => sql`(p.scope = ${scope} and p.position <= ${PLACES[scope]})`),
    sql` or `,
  );
  // Only what has changed since the last time of the day is written.
  await sql`delete from rank_history where day = ${day} and not exists (select 1 from positions p
    where p.repository_id = rank_history.repository_id and p.ranking = rank_history.ranking
      and p.window_hours = rank_history.window_hours and p.scope = rank_history.scope and (${shown}))`.execute(
    tx,
  );
  await sql`insert into rank_history (repository_id, ranking, window_hours, scope, day, position)
    select p.repository_id, p.ranking, p.window_hours, p.scope, ${day}, p.position from positions p where (${shown})
    on conflict (repository_id, ranking, window_hours, scope, day) do update set position = excluded.position
    where rank_history.position <> excluded.position`.execute(tx);
}

/** Past places of a repository since a time, oldest first; at most `limit` of the latest. */
export async function readRankHistory(
  database: Database,
  repositoryId: number,
  since: number,
  limit: number,
): Promise<PastRank[]> {
  const rows = await database.read
    .selectFrom("rank_history")
    .selectAll()
    .where("repository_id", "=", repositoryId)
    .where("day", ">=", Math.floor(since / DAY_MS))
    .orderBy("day", "desc")
    .orderBy("ranking")
    .orderBy("window_hours")
    .orderBy("scope")
    .limit(limit)
    .execute();
  return rows.reverse().map((row) => ({
    ranking: row.ranking as Ranking,
    window: windowOfHours(row.window_hours) ?? null,
    scope: row.scope as RankScope,
    day: row.day * DAY_MS,
    position: row.position,
  }));
}
