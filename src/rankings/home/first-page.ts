import { sql } from "kysely";
import type { Tx } from "../../database/database.js";
import type { Ranking } from "../definitions.js";
import type { Facet } from "../facets/facets.js";
import { WINDOW_HOURS } from "../windows.js";
import { type DocumentReader, type Prepared, storePrepared } from "./prepared.js";

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

/** Prepares the first page. Returns whether it has changed. */
export async function updateHome(tx: Tx, now: number): Promise<boolean> {
  const home: Home = {
    trending: await rankedList(tx, "trending"),
    rising: await rankedList(tx, "rising"),
    newHot: await rankedList(tx, "new_hot"),
    forkGrowth: await rankedList(tx, "forks_gained"),
    languages: await topFacets(tx, "language"),
    topics: await topFacets(tx, "topic"),
    generatedAt: now,
  };
  return storePrepared(tx, "home", home);
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
async function rankedList(tx: Tx, ranking: Ranking): Promise<RankedList> {
  const day = await topOf(tx, ranking, "24h");
  if (day.length >= ROWS) return { window: "24h", isFallback: false, ids: day };
  const week = await topOf(tx, ranking, "7d");
  return week.length > day.length
    ? { window: "7d", isFallback: true, ids: week }
    : { window: "24h", isFallback: false, ids: day };
}

async function topOf(tx: Tx, ranking: Ranking, window: "24h" | "7d"): Promise<number[]> {
  const rows = await tx
    .selectFrom("ranks")
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

async function topFacets(tx: Tx, kind: "language" | "topic"): Promise<Facet[]> {
  const rows =
    await sql<Facet>`select name, repositories, stars, stars_gained_24h as "starsGained" from facets
    where kind = ${kind} and provider = '' order by repositories desc, name limit ${ROWS}`.execute(tx);
  return rows.rows.map((row) => ({ ...row, starsGained: Number(row.starsGained) }));
}
