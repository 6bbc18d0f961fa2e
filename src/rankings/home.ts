import { sql } from "kysely";
import type { Database, Tx } from "../database/database.js";
import type { Facet } from "./facets.js";
import { keepPrepared, readPrepared } from "./prepared.js";
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

const COLUMNS = {
  trending: "trending",
  rising: "rising",
  newHot: "new_hot",
  forkGrowth: "forks_delta",
} as const;

async function firstOf(tx: Tx, column: string, window: "24h" | "7d"): Promise<number[]> {
  const key = sql.ref(`g.${column}`);
  const rows = await sql<{ id: number }>`
    select g.repository_id as id from rollups g cross join repositories r
    where r.id = g.repository_id and g.window_hours = ${WINDOW_HOURS[window]} and ${key} > 0
      and r.availability = 'AVAILABLE' and coalesce(r.archived, 0) = 0 and coalesce(r.fork, 0) = 0
    order by ${key} desc, g.repository_id desc limit ${ROWS}`.execute(tx);
  return rows.rows.map((row) => row.id);
}

/** 24 hours, unless they show fewer rows than a list has and 7 days show more. */
async function rankedList(tx: Tx, column: string): Promise<RankedList> {
  const day = await firstOf(tx, column, "24h");
  if (day.length >= ROWS) return { window: "24h", isFallback: false, ids: day };
  const week = await firstOf(tx, column, "7d");
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
    trending: await rankedList(tx, COLUMNS.trending),
    rising: await rankedList(tx, COLUMNS.rising),
    newHot: await rankedList(tx, COLUMNS.newHot),
    forkGrowth: await rankedList(tx, COLUMNS.forkGrowth),
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
