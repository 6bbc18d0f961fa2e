import { sql } from "kysely";
import type { Database, Tx } from "../database/database.js";
import type { Facet } from "./facets.js";
import { keepPrepared, readPrepared } from "./prepared.js";
import type { Ranking } from "./standings.js";
import { WINDOW_HOURS } from "./windows.js";

/** Rows of each list on the first page. */
const ROWS = 10;

/** The first of a ranking. */
export interface RankedList {
  window: "24h" | "7d";
  /** Whether 7 days stand in for 24 hours, of which too little is known. */
  isFallback: boolean;
  ids: number[];
}

export interface Home {
  trending: RankedList;
  rising: RankedList;
  newHot: RankedList;
  forkGrowth: RankedList;
  languages: Facet[];
  topics: Facet[];
  generatedAt: number;
}

async function firstOf(tx: Tx, ranking: Ranking, window: "24h" | "7d"): Promise<number[]> {
  const rows = await tx
    .selectFrom("positions")
    .select("repository_id")
    .where("ranking", "=", ranking)
    .where("window_hours", "=", WINDOW_HOURS[window])
    .where("scope", "=", "overall")
    .where("scope_name", "=", "")
    .orderBy("position")
    .limit(ROWS)
    .execute();
  return rows.map((row) => row.repository_id);
}

/** 24 hours, unless they show fewer rows than a list has and 7 days show more. */
async function rankedList(tx: Tx, ranking: Ranking): Promise<RankedList> {
  const day = await firstOf(tx, ranking, "24h");
  if (day.length >= ROWS) return { window: "24h", isFallback: false, ids: day };
  const week = await firstOf(tx, ranking, "7d");
  return week.length > day.length
    ? { window: "7d", isFallback: true, ids: week }
    : { window: "24h", isFallback: false, ids: day };
}

async function topFacets(tx: Tx, kind: "language" | "topic"): Promise<Facet[]> {
  const rows =
    await sql<Facet>`select name, repositories, stars, stars_gained_24h as "starsGained" from facets
    where kind = ${kind} and provider = '' order by repositories desc, name limit ${ROWS}`.execute(tx);
  return rows.rows.map((row) => ({ ...row, starsGained: Number(row.starsGained) }));
}

/** Prepares the first page and stores it beside the summary. */
export async function rebuildHome(tx: Tx, now: number): Promise<void> {
  const home: Home = {
    trending: await rankedList(tx, "trending"),
    rising: await rankedList(tx, "rising"),
    newHot: await rankedList(tx, "new_hot"),
    forkGrowth: await rankedList(tx, "forks_gained"),
    languages: await topFacets(tx, "language"),
    topics: await topFacets(tx, "topic"),
    generatedAt: now,
  };
  await keepPrepared(tx, "home", home);
}

/** The prepared first page; an empty one before there is any. */
export async function readHome(database: Database, now: number): Promise<Home> {
  const kept = await readPrepared<Home>(database, "home");
  if (kept !== undefined) return kept;
  const none: RankedList = { window: "24h", isFallback: false, ids: [] };
  return {
    trending: none,
    rising: none,
    newHot: none,
    forkGrowth: none,
    languages: [],
    topics: [],
    generatedAt: now,
  };
}
