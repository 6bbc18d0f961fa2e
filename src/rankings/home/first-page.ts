import { sql } from "kysely";
import type { Database, Db } from "../../database/database.js";
import { MEASURES, type Ranking } from "../definitions.js";
import type { Facet } from "../facets/facets.js";
import { type Leaderboard, readOverall } from "../ranks/ranks.js";
import type { DocumentReader, Prepared } from "./prepared.js";

/** Rows of each list on the first page. */
const ROWS = 10;

/** The top of a ranking. */
export interface RankedList {
  window: "24h" | "7d";
  /** Whether 7 days replace 24 hours, for which too little is known. */
  isFallback: boolean;
  ids: number[];
}

/** The content of the first page. */
export interface Home extends Prepared {
  trending: RankedList;
  rising: RankedList;
  newHot: RankedList;
  forkGrowth: RankedList;
  languages: Facet[];
  topics: Facet[];
  /** When the content last changed. */
  generatedAt: number;
}

/** Computes the first page. */
export async function computeHome(database: Database, now: number): Promise<Home> {
  const boards = await readOverall(database);
  return {
    trending: rankedList(boards, "trending"),
    rising: rankedList(boards, "rising"),
    newHot: rankedList(boards, "new-hot"),
    forkGrowth: rankedList(boards, "fork-growth"),
    languages: await topFacets(database.write, "language"),
    topics: await topFacets(database.write, "topic"),
    generatedAt: now,
  };
}

/** The prepared first page; an empty one before the first update. */
export async function readHome(read: DocumentReader, now: number): Promise<Home> {
  const prepared = await read<Home>("home");
  if (prepared !== undefined) return prepared;
  const empty: RankedList = { window: "24h", isFallback: false, ids: [] };
  return {
    trending: empty,
    rising: empty,
    newHot: empty,
    forkGrowth: empty,
    languages: [],
    topics: [],
    generatedAt: now,
  };
}

/** The list of 24 hours, or that of 7 days if the first is not full and the second is longer. */
function rankedList(boards: readonly Leaderboard[], ranking: Ranking): RankedList {
  const day = topOf(boards, ranking, "24h");
  if (day.length >= ROWS) return { window: "24h", isFallback: false, ids: day };
  const week = topOf(boards, ranking, "7d");
  return week.length > day.length
    ? { window: "7d", isFallback: true, ids: week }
    : { window: "24h", isFallback: false, ids: day };
}

function topOf(boards: readonly Leaderboard[], ranking: Ranking, window: "24h" | "7d"): number[] {
  const index = MEASURES.findIndex((measure) => measure.ranking === ranking && measure.window === window);
  return boards[index]?.entries.slice(0, ROWS).map(({ id }) => id) ?? [];
}

async function topFacets(db: Db, kind: "language" | "topic"): Promise<Facet[]> {
  const rows =
    await sql<Facet>`select name, repositories, stars, stars_gained_24h as "starsGained" from facets
    where kind = ${kind} and provider = '' order by repositories desc, name limit ${ROWS}`.execute(db);
  return rows.rows.map((row) => ({ ...row, starsGained: Number(row.starsGained) }));
}
