import { type RawBuilder, sql } from "kysely";
import { newestSnapshots } from "../catalog/catalog.js";
import { DAY_MS } from "../clock.js";
import type { Database, Tx } from "../database/database.js";
import { WINDOW_HOURS, WINDOWS, type Window } from "./windows.js";

export const RANKINGS = ["trending", "rising", "new_hot", "forks_gained", "stars_gained", "stars"] as const;
export type Ranking = (typeof RANKINGS)[number];

export const RANK_SCOPES = ["overall", "provider", "language", "topic"] as const;
export type RankScope = (typeof RANK_SCOPES)[number];

/** How many places of each scope are kept. A repository further down has no place there. */
const PLACES: Readonly<Record<RankScope, number>> = {
  overall: 1_000,
  provider: 1_000,
  language: 200,
  topic: 50,
};
/** Scopes whose places are also kept day by day. */
const KEPT_SCOPES: readonly RankScope[] = ["overall", "language"];

/** Days for which places are kept. */
const KEPT_DAYS = 400;

/** A repository's place in one ranking. */
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

/** A place on a day. */
export interface PastRank extends Omit<Rank, "name"> {
  /** Begin of the day (UTC), in ms since 1970. */
  day: number;
}

const COLUMNS: Readonly<Record<Exclude<Ranking, "stars">, string>> = {
  trending: "trending",
  rising: "rising",
  new_hot: "new_hot",
  forks_gained: "forks_delta",
  stars_gained: "stars_delta",
};

/** Listed repositories with the key of a ranking; growth leaves archived ones and forks out, as the lists do. */
function ranked(
  ranking: Ranking,
  window: Window | null,
  scope: RankScope,
): { from: RawBuilder<unknown>; key: RawBuilder<unknown> } {
  const topics = scope === "topic" ? sql`join repository_topics t on t.repository_id = r.id` : sql``;
  if (ranking === "stars" || window === null) {
    const key = sql`r.stars`;
    return {
      key,
      from: sql`repositories r ${topics} where r.availability = 'AVAILABLE' and r.stars is not null`,
    };
  }
  const key = sql.ref(`g.${COLUMNS[ranking as Exclude<Ranking, "stars">]}`);
  return {
    key,
    from: sql`rollups g join repositories r on r.id = g.repository_id ${topics}
      where g.window_hours = ${sql.lit(WINDOW_HOURS[window])} and ${key} > 0 and r.availability = 'AVAILABLE'
        and coalesce(r.archived, 0) = 0 and coalesce(r.fork, 0) = 0`,
  };
}

const SCOPE_NAMES: Readonly<Record<RankScope, RawBuilder<unknown>>> = {
  overall: sql`''`,
  provider: sql`r.provider`,
  language: sql`r.language`,
  topic: sql`t.topic`,
};

/**
 * Makes the places of one ranking anew in one transaction, so that a reader sees all the old ones or all the new. Ties
 * go by the greater id first, as in lists.
 */
export async function rebuildPositions(tx: Tx, ranking: Ranking): Promise<void> {
  await tx.deleteFrom("positions").where("ranking", "=", ranking).execute();
  for (const window of ranking === "stars" ? [null] : WINDOWS) {
    for (const scope of RANK_SCOPES) await insertPositions(tx, ranking, window, scope);
  }
}

async function insertPositions(
  tx: Tx,
  ranking: Ranking,
  window: Window | null,
  scope: RankScope,
): Promise<void> {
  const { from, key } = ranked(ranking, window, scope);
  const name = SCOPE_NAMES[scope];
  const order = sql`order by ${key} desc, r.id desc`;
  const place =
    scope === "overall"
      ? sql`row_number() over (${order})`
      : sql`row_number() over (partition by ${name} ${order})`;
  const first = scope === "overall" ? sql`${order} limit ${PLACES.overall}` : sql``;
  await sql`insert into positions (ranking, window_hours, scope, scope_name, position, repository_id)
    select ${sql.lit(ranking)}, ${sql.lit(window === null ? 0 : WINDOW_HOURS[window])}, ${sql.lit(scope)}, scope_name, position, id
    from (select ${name} as scope_name, ${place} as position, r.id as id from ${from} and ${name} is not null ${first}) as p
    where position <= ${PLACES[scope]}`.execute(tx);
}

/** Keeps the places of the day; the last time of a day stands. */
export async function keepToday(tx: Tx): Promise<void> {
  const newest = [...(await newestSnapshots(tx)).values()];
  if (newest.length === 0) return;
  const day = Math.floor(Math.max(...newest) / DAY_MS);
  await tx.deleteFrom("rank_history").where("day", "=", day).execute();
  await tx
    .deleteFrom("rank_history")
    .where("day", "<=", day - KEPT_DAYS)
    .execute();
  await sql`insert into rank_history (repository_id, ranking, window_hours, scope, day, position)
    select repository_id, ranking, window_hours, scope, ${day}, position from positions
    where scope in (${sql.join(KEPT_SCOPES)})`.execute(tx);
}

const windowOf = (hours: number): Window | null =>
  WINDOWS.find((window) => WINDOW_HOURS[window] === hours) ?? null;

/** All present places of a repository, by ranking, window and scope. */
export async function readRanks(database: Database, repositoryId: number): Promise<Rank[]> {
  const rows = await database.read
    .selectFrom("positions")
    .selectAll()
    .where("repository_id", "=", repositoryId)
    .orderBy("ranking")
    .orderBy("window_hours")
    .orderBy("scope")
    .orderBy("scope_name")
    .execute();
  return rows.map((row) => ({
    ranking: row.ranking as Ranking,
    window: windowOf(row.window_hours),
    scope: row.scope as RankScope,
    name: row.scope_name === "" ? null : row.scope_name,
    position: row.position,
  }));
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
    window: windowOf(row.window_hours),
    scope: row.scope as RankScope,
    day: row.day * DAY_MS,
    position: row.position,
  }));
}
