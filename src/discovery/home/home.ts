/**
 * The summary of the catalogue and the content of the first page, prepared when data changes, so that a request reads one row.
 * They are computed from ranks and facets, so `update` must come after those.
 */
import { sql } from "kysely";
import type { Database, Db } from "../../database/database.js";
import { MEASURES, perWindow, type Ranking, type Window } from "../../growth/growth.js";
import { bumpRevision } from "../../repositories/repositories.js";
import { type Facet, type FacetKind, type FacetTotals, LISTED } from "../facets/facets.js";
import { type Leaderboard, readOverall } from "../ranks/ranks.js";
import { type DocumentReader, type Prepared, readPrepared, storePrepared } from "./prepared.js";
import { computeSummary, type Summary } from "./summary.js";

export { type DocumentReader, documentReader } from "./prepared.js";
export { type CurrentSummary, readSummary, type Summary } from "./summary.js";

/**
 * Recomputes both documents. Responses become outdated, and the revision changes, only if the content did. They are computed before the
 * transaction that stores them, as counting all repositories takes long.
 */
export async function update(database: Database, now: number): Promise<void> {
  const { dialect, write } = database;
  const summary = await computeSummary(write, now, await readPrepared<Summary>(write, "summary"));
  const home = await computeHome(database, now);
  await dialect.exclusively(write, "catalogue", async (tx) => {
    const isSummaryNew = await storePrepared(tx, "summary", summary);
    const isHomeNew = await storePrepared(tx, "home", home);
    if (isSummaryNew || isHomeNew) await bumpRevision(tx);
  });
}

/** Rows of each list on the first page. */
const ROWS = 10;

/** The top of a ranking. */
export interface RankedList {
  window: "24h" | "7d";
  /** Whether 7 days replace 24 hours, for which too little is known. */
  isFallback: boolean;
  ids: number[];
}

/** The languages and topics that gained most stars in a window, the greatest gain first. */
export interface GainingFacets {
  languages: Facet[];
  topics: Facet[];
}

/** The content of the first page. */
export interface Home extends Prepared {
  trending: RankedList;
  rising: RankedList;
  newHot: RankedList;
  forkGrowth: RankedList;
  languages: Facet[];
  topics: Facet[];
  /** Those that gained most, by window; absent in documents of older versions. */
  gaining?: Readonly<Record<Window, GainingFacets>>;
  /** When the content last changed. */
  generatedAt: number;
}

/** Computes the first page. */
async function computeHome(database: Database, now: number): Promise<Home> {
  const boards = await readOverall(database);
  const languages = await frequentFacets(database.write, "language");
  const topics = await frequentFacets(database.write, "topic");
  return {
    trending: rankedList(boards, "trending"),
    rising: rankedList(boards, "rising"),
    newHot: rankedList(boards, "new-hot"),
    forkGrowth: rankedList(boards, "fork-growth"),
    languages: languages.slice(0, ROWS).map((facet) => inWindow(facet, "24h")),
    topics: topics.slice(0, ROWS).map((facet) => inWindow(facet, "24h")),
    gaining: perWindow((window) => ({
      languages: gainingMost(languages, window),
      topics: gainingMost(topics, window),
    })),
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
  return boards[index]?.entries.ids(ROWS) ?? [];
}

/** The most frequent languages or topics, with their gains. Only they are listed anywhere. */
async function frequentFacets(db: Db, kind: FacetKind): Promise<FacetTotals[]> {
  const { rows } = await sql<Record<Window, number> & Omit<FacetTotals, "gained">>`
    select name, repositories, stars, stars_gained_24h as "24h", stars_gained_7d as "7d", stars_gained_30d as "30d"
    from facets where kind = ${kind} and provider = '' order by repositories desc, name limit ${LISTED}`.execute(
    db,
  );
  return rows.map(({ name, repositories, stars, ...gained }) => ({
    name,
    repositories,
    stars,
    gained: perWindow((window) => Number(gained[window])),
  }));
}

function gainingMost(facets: readonly FacetTotals[], window: Window): Facet[] {
  return facets
    .filter(({ gained }) => gained[window] > 0)
    .sort((a, b) => b.gained[window] - a.gained[window])
    .slice(0, ROWS)
    .map((facet) => inWindow(facet, window));
}

function inWindow({ gained, ...facet }: FacetTotals, window: Window): Facet {
  return { ...facet, starsGained: gained[window] };
}
